"""Hints of ports that the graph of a genome does not have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from neat_onnx.network.network import Network
from neat_onnx.network.port import Dtype, Port
from neat_onnx.parsing import Document


class PortHints(Document):
    """The hints of a port."""

    dtype: Dtype = ""
    batch_axis: int = Field(0, ge=0)


def hints_apart(net: Network, lifted: Network) -> dict[str, PortHints]:
    """The hints of ports, by name, that `with_hints` does not give the ports of the graph."""
    known = with_hints(lifted.inputs + lifted.outputs, {})
    found = {port.name: _hints(port) for port in known}
    ours = {port.name: _hints(port) for port in net.inputs + net.outputs}
    return {name: hints for name, hints in ours.items() if hints != found.get(name)}


def with_hints(ports: Sequence[Port], others: Mapping[str, PortHints]) -> tuple[Port, ...]:
    """The ports of a graph with the hints of a genome.

    Args:
        ports: as the graph states them. The type of its numbers is an option of the export.
        others: by name, the hints that differ.
    """
    found = []
    for port in ports:
        dtype: Dtype = "" if port.dtype == "float64" else port.dtype
        hints = others.get(port.name, PortHints(dtype=dtype, batch_axis=port.batch_axis))
        found.append(replace(port, dtype=hints.dtype, batch_axis=hints.batch_axis))
    return tuple(found)


def _hints(port: Port) -> PortHints:
    return PortHints(dtype=port.dtype, batch_axis=port.batch_axis)
