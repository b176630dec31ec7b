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

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neat_python.draft import ConnectionGene, Draft, NodeGene, draft_of
from neat_onnx.libraries.neat_python.ini import ini_text
from neat_onnx.libraries.neat_python.static import AGGREGATION_NAMES, connection_document
from neat_onnx.network.network import Network

_FIRST_INNOVATION = 1_000_000_000
"""Beyond the numbers that a fresh innovation tracker of neat-python gives to new genes."""


def _input(key: int) -> dict[str, Any]:
    return {
        "id": key,
        "type": "input",
        "activation": {"name": "identity", "custom": False},
        "aggregation": {"name": "none", "custom": False},
        "bias": 0.0,
        "response": 1.0,
    }


def document_of(net: Network) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network.

    Raises:
        NetworkError: neat-python cannot compute it; every reason, with its neurons.
    """
    draft = draft_of(net)
    topology = {
        "num_inputs": len(draft.inputs),
        "num_outputs": len(draft.outputs),
        "input_keys": draft.inputs,
        "output_keys": draft.outputs,
    }
    inputs = [_input(key) for key in draft.inputs]
    return {
        "format_version": "1.0",
        "network_type": "feedforward" if draft.feed_forward else "recurrent",
        "metadata": {"neat_python_version": "2.0.0"},
        "topology": topology,
        "nodes": [*inputs, *(_node(node, draft) for node in _documented(draft))],
        "connections": [
            connection_document(gene.source, gene.target, gene.weight, gene.enabled)
            for gene in draft.connections
        ],
    }


def _documented(draft: Draft) -> list[NodeGene]:
    """The nodes of a document; it has no silent ones where the network is recurrent."""
    fed = {gene.target for gene in draft.connections if gene.enabled}
    return [node for node in draft.nodes if draft.feed_forward or node.key in fed]


def _node(node: NodeGene, draft: Draft) -> dict[str, Any]:
    return {
        "id": node.key,
        "type": "output" if node.key in draft.outputs else "hidden",
        "activation": {"name": node.activation, "custom": node.custom},
        "aggregation": {
            "name": node.aggregation,
            "custom": node.aggregation not in AGGREGATION_NAMES,
        },
        "bias": node.bias,
        "response": node.response,
    }


def files_of(net: Network, name: str) -> dict[str, bytes]:
    """Return the files of a genome that evolves on: its pickle, and the configuration beside it.

    Args:
        net: the network.
        name: of the pickle, such as `winner.pkl`; the configuration is `winner.ini` then.

    Raises:
        NetworkError: neat-python cannot compute the network; every reason, with its neurons.
    """
    draft = draft_of(net)
    return {Path(name).stem + ".ini": ini_text(draft).encode(), name: _pickled(draft)}


def to_neat_python(net: Network) -> tuple[Any, Any]:
    """Return a network as a live genome of neat-python with its configuration, to evolve on.

    Args:
        net: the network.

    Returns:
        A `neat.DefaultGenome` with the key 1 and its `neat.Config`.

    Raises:
        NetworkError: neat-python cannot compute the network; every reason, with its neurons.
        OptionError: neat-python is not installed.
    """
    draft = draft_of(net)
    try:
        import neat  # noqa: PLC0415 - the user's, if there is one
    except ImportError as error:
        raise OptionError(
            "neat-python is not installed", hint="Install it: pip install neat-python"
        ) from error
    kinds = (neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")
        Path(path).write_text(ini_text(draft), encoding="utf-8")
        config = neat.Config(neat.DefaultGenome, *kinds, path)
    return pickle.loads(_pickled(draft)), config


def _pickled(draft: Draft) -> bytes:
    """The pickle of a DefaultGenome, protocol 2."""
    nodes = _dictionary((_atom(node.key), _node_object(node)) for node in draft.nodes)
    connections = _dictionary(
        (_atom((gene.source, gene.target)), _connection_object(gene, _FIRST_INNOVATION + at))
        for at, gene in enumerate(draft.connections)
    )
    genome = _object(
        "neat.genome.DefaultGenome",
        {"key": _atom(1), "connections": connections, "nodes": nodes, "fitness": _atom(None)},
    )
    return b"\x80\x02" + genome + b"."


def _node_object(node: NodeGene) -> bytes:
    state = {
        "key": node.key,
        "bias": node.bias,
        "response": node.response,
        "activation": node.activation,
        "aggregation": node.aggregation,
        "time_constant": 1.0,
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
