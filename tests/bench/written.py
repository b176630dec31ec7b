"""The networks that are written for every library: of the corpora, and recorded for the tests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import timed
from support.examples.cases import cases

import neat_onnx
from neat_onnx import Network

TESTS = Path(__file__).absolute().parents[1]


class Source(NamedTuple):
    """A network with rows to run it on.

    Attributes:
        origin: the library that wrote it.
        net: the network.
        inputs, sequence: rows, steps of a sequence or samples.
        sensitivity: what rounding does to the outputs of each row.
        advance: for a ctrnn the advances of a row in time steps, for an iznn their number and the
            time step; None for others.
    """

    name: str
    origin: str
    net: Network
    inputs: Any
    sequence: bool
    sensitivity: Any
    advance: tuple[float, ...] | None = None

    @property
    def outputs(self) -> Any:
        """The outputs of the network."""
        with np.errstate(all="ignore"):
            return self.net.run(self.inputs) if self.sequence else self.net.activate(self.inputs)


def sources() -> list[Source]:
    """Every network, once."""
    found = {json.dumps(net.net.to_json()): net for net in [*_corpora(), *_recorded()]}
    return list(found.values())


def _corpora() -> Iterator[Source]:
    for case in cases("nts", "nap", "np"):
        origin = {"nts": "NeatapticTS", "nap": "neataptic"}.get(case.name[:3], "neat-python")
        if case.kind == "network-json":
            call, rounding = case.document.get("advance"), 8.0 * case.sens64
            net = timed.read(case) if call else case.network()
            yield Source(
                case.name, origin, net, case.inputs, case.sequence, rounding, _advance(call)
            )
            continue
        net = timed.quietly(case.document["source_network"], None, None)
        inputs = np.random.default_rng(3).normal(size=(8, len(net.input_neurons)))
        yield Source(case.name, origin, net, inputs, True, 0.0)


def _advance(call: Any) -> tuple[float, ...] | None:
    if call and "time_step" in call:
        return (float(f"{call['advance_time'] / call['time_step']:.12g}"),)
    return (call.get("advances_per_row", 1), call["dt_msec"]) if call else None


def _recorded() -> Iterator[Source]:
    for path in sorted((TESTS / "libraries").glob("*/*.json")):
        document = json.loads(path.read_text("utf-8"))
        if path.parent.name in ("neat_python", "onnx"):
            continue
        options = document.get("options", {})
        source = document["source"]
        source = source.encode() if isinstance(source, str) else source
        net = neat_onnx.load_network(source, **options)
        inputs = np.array(document["inputs"], np.float64)
        origin = path.parent.name.replace("_", ".")
        yield Source(path.stem, origin, net, inputs, document["sequence"], 0.0)
