"""Hints of ports that a graph does not have: an output that was of integers and is one of numbers.

They stand in an entry of the metadata of their own, with or without a genome.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from neat_onnx.errors import NeatOnnxError, NetworkError, warn
from neat_onnx.files import parse_json
from neat_onnx.model import Model
from neat_onnx.model.single_sample import single_rows
from neat_onnx.model.value import MAX_AXES
from neat_onnx.network.network import Network
from neat_onnx.network.port import Dtype, Port
from neat_onnx.parsing import Document, parse

PORTS = "neat_onnx.ports"


class PortHints(Document):
    """The hints of a port."""

    dtype: Dtype = ""
    batch_axis: Annotated[int, Field(ge=0, lt=MAX_AXES)] | None = 0
    time_axis: Annotated[int, Field(ge=0, lt=MAX_AXES)] | None = None


class _PortsDocument(Document):
    """The hints of ports, by name."""

    ports: dict[str, PortHints]


def hints_entry(net: Network, lifted: Network, *, with_genome: bool = False) -> dict[str, str]:
    """The entry of a network's hints that its graph, which is lifted, does not have.

    Without a genome float64 is that of the graph.
    """
    own, known = net.inputs + net.outputs, lifted.inputs + lifted.outputs
    if with_genome:
        known = without_options(known)
    else:
        own, known = _without_float64(own), _without_float64(known)
    found = {port.name: _hints(port) for port in known}
    ours = {port.name: _hints(port) for port in own}
    differ = {name: hints.model_dump() for name, hints in ours.items() if hints != found.get(name)}
    return {PORTS: json.dumps(differ, separators=(",", ":"))} if differ else {}


def without_options(ports: Sequence[Port]) -> tuple[Port, ...]:
    """The ports of a graph that has a genome: float64 and sequences are options of its export, and
    no hints.
    """
    return tuple(replace(port, time_axis=None) for port in _without_float64(ports))


def _without_float64(ports: Sequence[Port]) -> tuple[Port, ...]:
    return tuple(replace(port, dtype="") if port.dtype == "float64" else port for port in ports)


def with_hints(net: Network, model: Model) -> Network:
    """The network of a graph with the hints of its metadata; a warning tells of those that do not
    fit.
    """
    metadata = model.metadata
    if PORTS not in metadata:
        return net
    try:
        document = parse(_PortsDocument, {"ports": parse_json(metadata[PORTS])}, NetworkError)
        rows = single_rows(model.graph.inputs)
        inputs, outputs = (
            tuple(_hinted(port, document.ports, rows) for port in ports)
            for ports in (net.inputs, net.outputs)
        )
        return replace(net, inputs=inputs, outputs=outputs)
    except NeatOnnxError as error:
        warn(f"the metadata {PORTS} is left out of account: {error}")
        return net


def _hinted(port: Port, others: Mapping[str, PortHints], rows: Collection[str]) -> Port:
    """The port with its hints, of which a row has all of its axes if they tell of no batch."""
    hints, shape = others.get(port.name, _hints(port)), port.shape
    if port.name in rows and hints.batch_axis is None and port.batch_axis is not None:
        shape = (1, *shape)
    return replace(port, shape=shape, **hints.model_dump())


def _hints(port: Port) -> PortHints:
    return PortHints.model_construct(
        dtype=port.dtype, batch_axis=port.batch_axis, time_axis=port.time_axis
    )
