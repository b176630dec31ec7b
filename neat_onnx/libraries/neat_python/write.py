"""Networks for neat-python: the JSON that it exports, and genomes that evolve on.

A genome is a pickle of three classes; its opcodes are written here, so that neat-python need not be
installed to write one.
"""

import os
import pickle
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.neat_python.documents import document_of_draft
from neat_onnx.libraries.neat_python.draft import (
    ConnectionGene,
    Draft,
    NodeGene,
    draft_of,
    numbered,
)
from neat_onnx.libraries.neat_python.ini import ini_text
from neat_onnx.libraries.neat_python.timed import timed_draft
from neat_onnx.libraries.neat_python.versions import EXPONENTIAL, parsed_version
from neat_onnx.network.network import Network

_FIRST_INNOVATION = 1_000_000_000
"""Beyond the numbers that a fresh innovation tracker of neat-python gives to new genes."""


def document_of(net: Network) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network.

    Raises:
        NetworkError: neat-python cannot compute it; every reason, with its neurons.
    """
    return document_of_draft(_genes_of(net, None))


def _genes_of(net: Network, time_step: float | None) -> Draft:
    """The genes of a network of any kind.

    Raises:
        NetworkError: neat-python cannot compute it; every reason, with its neurons.
    """
    draft = timed_draft(net, time_step)
    if draft is None:
        return draft_of(net)
    how = "advance(inputs, {1!r}, {0!r})" if draft.timed == "ctrnn" else "advance({0!r})"
    warn(
        f"written as {draft.timed} of neat-python {draft.version}, a step of which is "
        + how.format(draft.time_step, draft.advance_time)
    )
    return draft


def files_of(net: Network, name: str) -> dict[str, bytes]:
    """Return the files of a genome that evolves on: its pickle, and the configuration beside it.

    Args:
        net: the network.
        name: of the pickle, such as `winner.pkl`; the configuration is `winner.ini` then.

    Raises:
        NetworkError: neat-python cannot compute the network; every reason, with its neurons.
    """
    draft = numbered(_genes_of(net, None))
    return {Path(name).stem + ".ini": ini_text(draft).encode(), name: _pickled(draft)}


def to_neat_python(net: Network, time_step: float | None = None) -> tuple[Any, Any]:
    """Return a network as a live genome of neat-python with its configuration, to evolve on.

    Args:
        net: the network.
        time_step: of the integration of a ctrnn; 1 if None.

    Returns:
        A `neat.DefaultGenome` with the key 1 and its `neat.Config`; a `neat.iznn.IZGenome` of an
        iznn.

    Raises:
        NetworkError: neat-python cannot compute the network; every reason, with its neurons.
        OptionError: neat-python is not installed.
    """
    draft = numbered(_genes_of(net, time_step))
    try:
        import neat  # noqa: PLC0415 - the user's, if there is one
    except ImportError as error:
        raise OptionError(
            "neat-python is not installed", hint="Install it: pip install neat-python"
        ) from error
    _check_version(draft, getattr(neat, "__version__", "0.92"))
    kinds = (neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")
        Path(path).write_text(ini_text(draft), encoding="utf-8")
        kind = neat.iznn.IZGenome if draft.timed == "iznn" else neat.DefaultGenome
        config = neat.Config(kind, *kinds, path)
    return pickle.loads(_pickled(draft)), config


def _check_version(draft: Draft, installed: str) -> None:
    """Refuse a ctrnn that the installed neat-python integrates in another way."""
    wanted, found = parsed_version(draft.version), parsed_version(installed)
    assert wanted is not None and found is not None
    if draft.timed == "ctrnn" and (wanted < EXPONENTIAL) != (found < EXPONENTIAL):
        raise NetworkError(
            f"the network is integrated as by neat-python {draft.version}; {installed} is "
            "installed, which integrates in another way",
            hint="Save it as JSON or .pkl for the other version",
        )


def _pickled(draft: Draft) -> bytes:
    """The pickle of a DefaultGenome or an IZGenome, protocol 2."""
    nodes = _dictionary(
        (_atom(node.key), _node_object(node, draft.timed == "iznn")) for node in draft.nodes
    )
    connections = _dictionary(
        (_atom((gene.source, gene.target)), _connection_object(gene, _FIRST_INNOVATION + at))
        for at, gene in enumerate(draft.connections)
    )
    genome = _object(
        "neat.iznn.IZGenome" if draft.timed == "iznn" else "neat.genome.DefaultGenome",
        {"key": _atom(1), "connections": connections, "nodes": nodes, "fitness": _atom(None)},
    )
    return b"\x80\x02" + genome + b"."


def _node_object(node: NodeGene, spiking: bool) -> bytes:
    state: dict[str, Any] = {"key": node.key, "bias": node.bias}
    if spiking:
        atoms = {name: _atom(value) for name, value in (state | dict(node.numbers)).items()}
        return _object("neat.iznn.IZNodeGene", atoms)
    state |= {
        "response": node.response,
        "activation": node.activation,
        "aggregation": node.aggregation,
        "time_constant": node.numbers.get("time_constant", 1.0),
    }
    atoms = {name: _atom(value) for name, value in state.items()}
    return _object("neat.genes.DefaultNodeGene", atoms)


def _connection_object(gene: ConnectionGene, innovation: int) -> bytes:
    state = {
        "key": (gene.source, gene.target),
        "innovation": innovation,
        "weight": gene.weight,
        "enabled": gene.enabled,
    }
    atoms = {name: _atom(value) for name, value in state.items()}
    return _object("neat.genes.DefaultConnectionGene", atoms)


def _object(kind: str, state: dict[str, bytes]) -> bytes:
    """GLOBAL, an empty tuple, NEWOBJ, the state, BUILD."""
    module, _, name = kind.rpartition(".")
    items = _dictionary((_atom(key), value) for key, value in state.items())
    return f"c{module}\n{name}\n".encode() + b")\x81" + items + b"b"


def _dictionary(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    """EMPTY_DICT, MARK, keys and values, SETITEMS."""
    return b"}(" + b"".join(key + value for key, value in items) + b"u"


def _atom(value: Any) -> bytes:
    """The opcodes of a number, text, tuple or None, without PROTO and STOP."""
    return pickle.dumps(value, protocol=2)[2:-1]
