"""The judges of networks that are written for a library: its own code, wherever a registry has it.

NeatapticTS runs from a folder of its repository, built there by `npm ci && npm run build`, if the
environment variable NEATAPTIC_TS names it; else its algorithm is written out.
"""

import json
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import neat
import numpy as np
from support.peers.judging import JAVASCRIPT, Task, computed
from written import Source

Tasks = list[tuple[Source, Any]]
OWN, WRITTEN_OUT = "its own code", "its algorithm, written out"
_KINDS = neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation


class Judge(NamedTuple):
    """A judge of written networks.

    Attributes:
        how: its kind, for the table.
        judge: makes outputs of sources and their documents: a text where the library fails, None
            where this version of it computes something else.
        version: of the library, with its name, for the document; "" if that names it already.
    """

    how: str
    judge: Callable[[Tasks], list[Any]]
    version: str = ""


def by_javascript(library: str) -> Callable[[Tasks], list[Any]]:
    """The judge of a library of JavaScript."""

    def judge(tasks: Tasks) -> list[Any]:
        return computed(library, [Task(doc, s.inputs, s.sequence) for s, doc in tasks])

    return judge


def by_neat_python(tasks: Tasks) -> list[Any]:
    """The outputs of networks written as winner.pkl with their configuration.

    A ctrnn of the versions before 2.1, which integrate it otherwise, is not run.
    """
    return [
        None if source.name.startswith("np-ctrnn-v20" if _is_new() else "np-ctrnn-v21")
        else _in_neat_python(source)
        for source, _ in tasks
    ]  # fmt: skip


def _is_new() -> bool:
    return tuple(map(int, neat.__version__.split(".")[:2])) >= (2, 1)


def _in_neat_python(source: Source) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "winner.pkl")
        source.net.save(path, library="neat-python")
        genome = pickle.loads(path.read_bytes())
        config = neat.Config(type(genome), *_KINDS, str(path.with_suffix(".ini")))
    rows, advance = np.asarray(source.inputs).tolist(), source.advance
    try:
        if advance is None:
            return np.array(_in_steps(genome, config, rows, source.sequence))
        if len(advance) == 1:
            network = neat.ctrnn.CTRNN.create(genome, config)
            return np.array([network.advance(row, *advance, 1.0) for row in rows])
        (count, step), outputs = advance, []
        network = neat.iznn.IZNN.create(genome, config)
        network.reset()
        for row in rows:
            network.set_inputs(row)
            outputs.append([network.advance(step) for _ in range(int(count))][-1])
        return np.array(outputs)
    except OverflowError as error:
        return f"OverflowError: {error}"


def _in_steps(genome: Any, config: Any, rows: list[list[float]], sequence: bool) -> list[Any]:
    """The outputs of a feed-forward or recurrent network."""
    static = config.genome_config.feed_forward
    kind = neat.nn.FeedForwardNetwork if static else neat.nn.RecurrentNetwork
    network, outputs = kind.create(genome, config), []
    for row in rows:
        if not (static or sequence):
            network.reset()
        outputs.append(list(network.activate(row)))
    return outputs


def judges() -> dict[str, Judge]:
    """The judge of each library that can be run here."""
    found = {name: Judge(OWN, by_javascript(name)) for name in JAVASCRIPT}
    found["neat-python"] = Judge(OWN, by_neat_python, f"neat-python {neat.__version__}")
    folder = os.environ.get("NEATAPTIC_TS")
    package = Path(folder, "package.json").read_text("utf-8") if folder else "{}"
    version = f"NeatapticTS {json.loads(package).get('version')}" if folder else ""
    how = OWN if folder else WRITTEN_OUT
    return found | {"neataptic-ts": Judge(how, by_javascript("neataptic-ts"), version)}
