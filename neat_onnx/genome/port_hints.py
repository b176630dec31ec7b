"""Hints of ports: the types and axes that another tool's graph gave them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from neat_onnx.errors import NeatOnnxError, NetworkError, warn
from neat_onnx.files import parse_json
from neat_onnx.model import Model
from neat_onnx.model.ports import single_rows
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


def hints_entry(net: Network) -> dict[str, str]:
    """The entry of the hints of a network's ports, where some are not plain."""
    hints = {port.name: _hints(port) for port in net.inputs + net.outputs}
    given = {name: each.model_dump() for name, each in hints.items() if each != PortHints()}
    return {PORTS: json.dumps(given, separators=(",", ":"))} if given else {}


def plain_ports(ports: Sequence[Port]) -> tuple[Port, ...]:
    """The ports of a graph that has a genome: what its metadata does not say of them is an option
    of the export, and no hint.
    """
    return tuple(replace(port, **PortHints().model_dump()) for port in ports)


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
