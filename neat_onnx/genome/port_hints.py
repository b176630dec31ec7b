"""Hints of ports: the types and axes that another tool's graph gave them."""

import json
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
_PLAIN = {"dtype": "", "batch_axis": 0, "time_axis": None}


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
    hints = {
        port.name: {name: getattr(port, name) for name in _PLAIN}
        for port in net.inputs + net.outputs
    }
    given = {name: each for name, each in hints.items() if each != _PLAIN}
    return {PORTS: json.dumps(given, separators=(",", ":"))} if given else {}


def with_hints(net: Network, model: Model) -> Network:
    """The network of a graph with the hints of its metadata; a warning tells of those that do not
    fit. A port of one row, of which they tell of no batch, has all of its axes.
    """
    if PORTS not in model.metadata:
        return net
    rows = single_rows(model.graph.inputs)

    def hinted(port: Port) -> Port:
        if (hints := document.ports.get(port.name)) is None:
            return port
        is_row = port.name in rows and hints.batch_axis is None and port.batch_axis is not None
        shape = (1, *port.shape) if is_row else port.shape
        return replace(port, shape=shape, **hints.model_dump())

    try:
        given = {"ports": parse_json(model.metadata[PORTS])}
        document = parse(_PortsDocument, given, NetworkError)
        inputs, outputs = (tuple(map(hinted, ports)) for ports in (net.inputs, net.outputs))
        return replace(net, inputs=inputs, outputs=outputs)
    except NeatOnnxError as error:
        warn(f"the metadata {PORTS} is left out of account: {error}")
        return net
