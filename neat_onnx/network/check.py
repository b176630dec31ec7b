"""The rules that ports, neurons, connections and blocks must keep to make a network.

Each function raises NetworkError at the first gene that breaks one.
"""

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import get_args

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import (
    MAX_DELAY,
    NONE,
    Bools,
    Connections,
    Ints,
    Neurons,
    Where,
    distinct,
    network_error,
    once,
)
from neat_onnx.network.port import Dtype, MemoryPort, Port
from neat_onnx.network.spatial import SpatialBlock, check_block


def check_names(activations: Iterable[str], aggregations: Iterable[str]) -> None:
    """Refuse a name that is not registered."""
    for name in activations:
        activation_named(name)
    for name in aggregations:
        aggregation_named(name)


def check_ports(inputs: tuple[Port, ...], outputs: tuple[Port, ...], count: int) -> None:
    """Refuse ports without outputs, of one name, or that do not fit `count` neurons."""
    if not any(port.neurons.size for port in outputs):
        raise NetworkError("the network has no outputs", where="outputs")
    names = [port.name for port in inputs + outputs]
    if len(set(names)) != len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise NetworkError(
            f"two ports have the same name '{name}'",
            where="inputs, outputs",
            hint="An output that hands on an input has a name of its own",
        )
    sides: tuple[Where, Where] = ("inputs", "outputs")
    for side, ports in zip(sides, (inputs, outputs), strict=True):
        for position, port in enumerate(ports):
            _check_port(side, position, port, count)
            if port.dtype not in get_args(Dtype):
                known = ", ".join(filter(None, get_args(Dtype)))
                raise network_error(
                    side, position, f"dtype is {port.dtype!r}, expected '' or one of {known}"
                )
    neurons = np.concatenate([np.empty(0, np.int64), *(port.neurons.ravel() for port in inputs)])
    if len(distinct(neurons)) != len(neurons):
        raise NetworkError("a neuron is an input twice", where="inputs")


def check_memory(memory: tuple[MemoryPort, ...], ports: tuple[Port, ...], count: int) -> None:
    """Refuse memory ports of a name that another port has, or that do not fit `count` neurons."""
    taken = {port.name for port in ports}
    for position, port in enumerate(memory):
        for name in (port.input, port.output):
            if name in taken:
                raise network_error("memory", position, f"another port has the name '{name}' too")
            taken.add(name)
        _check_port("memory", position, port, count)
    neurons = np.concatenate([np.empty(0, np.int64), *(port.neurons for port in memory)])
    if len(distinct(neurons)) != len(neurons):
        raise NetworkError("a neuron is remembered twice", where="memory")


def _check_port(side: Where, position: int, port: Port | MemoryPort, count: int) -> None:
    if port.neurons.size != math.prod(port.shape) or min(port.shape, default=0) < 0:
        raise network_error(
            side, position, f"shape {list(port.shape)} is not {port.neurons.size} neurons"
        )
    if port.batch_axis is not None and not 0 <= port.batch_axis <= len(port.shape):
        message = f"batch_axis is {port.batch_axis} of {len(port.shape)} axes and the batch"
        raise network_error(side, position, message)
    time = port.time_axis if isinstance(port, Port) else None
    if time is not None and not 0 <= time <= len(port.shape) + 1:
        message = f"time_axis is {time} of {len(port.shape)} axes, the batch and time"
        raise network_error(side, position, message)
    outside = (port.neurons < 0) | (port.neurons >= count)
    _refuse_first(outside, side, "no such neuron {}", port.neurons)


def check_neurons(genes: Neurons, activations: int, aggregations: int) -> None:
    """Refuse ids that occur twice, numbers that are not finite, and codes outside the tables."""
    for what, texts in (("names", genes.name), ("spellings", genes.spelling)):
        if texts and len(texts) != len(genes):
            raise NetworkError(f"{len(texts)} {what} of {len(genes)} neurons", where="neurons")
    unique, counts = np.unique(genes.id, return_counts=True)
    if np.any(counts > 1):
        raise NetworkError(f"two neurons have the id {unique[counts > 1][0]}", where="neurons")
    for name, size in (("activation", activations), ("aggregation", aggregations)):
        codes = getattr(genes, name)
        _refuse_first((codes < 0) | (codes >= size), "neurons", f"no such {name}: {{}}", codes)
    for name in ("bias", "response", "initial"):
        values = getattr(genes, name)
        _refuse_first(
            ~np.isfinite(values), "neurons", f"{name} is not a finite number: {{}}", values
        )


def check_connections(genes: Connections, neurons: Neurons, is_input: Bools) -> None:
    """Refuse ends that do not exist, numbers out of range, and connections into inputs."""
    count = len(neurons)
    for name in ("source", "target"):
        ends = getattr(genes, name)
        _refuse_first((ends < 0) | (ends >= count), "connections", "no such neuron {}", ends)
    gater = once(genes.gater)
    _refuse_first((gater < NONE) | (gater >= count), "connections", "no such gater {}", gater)
    for name in ("weight", "initial_gain"):
        values = once(getattr(genes, name))
        _refuse_first(
            ~np.isfinite(values), "connections", f"{name} is not a finite number: {{}}", values
        )
    for name in ("delay", "gate_delay"):
        values = once(getattr(genes, name))
        _refuse_first(values < 0, "connections", f"{name} is negative: {{}}", values)
        too_long = f"{name} is more than {MAX_DELAY} steps: {{}}"
        _refuse_first(values > MAX_DELAY, "connections", too_long, values)
    into_input = is_input[genes.target] & genes.enabled
    if np.any(into_input):
        ids = neurons.id[genes.target]
        _refuse_first(into_input, "connections", "it ends in neuron {}, an input", ids)


def check_lengths(genes: Neurons | Connections, where: Where) -> None:
    """Refuse columns that are not all of one length."""
    shapes = {
        field.name: np.shape(getattr(genes, field.name))
        for field in fields(genes)
        if field.name not in ("name", "spelling")
    }
    wanted = (len(genes),)
    for name, shape in shapes.items():
        if shape != wanted:
            found, expected = list(shape), list(wanted)
            raise NetworkError(f"{name} has the shape {found}, expected {expected}", where=where)


def _refuse_first(wrong: Bools, where: Where, message: str, values: np.ndarray) -> None:
    if np.any(wrong):
        position = int(np.argmax(wrong))
        raise network_error(where, position, message.format(values[position]))


def _check_inside(where: Where, position: int, neurons: Ints, count: int) -> None:
    outside = (neurons < 0) | (neurons >= count)
    if np.any(outside):
        raise network_error(where, position, f"no such neuron {neurons[outside][0]}")


def check_blocks(blocks: tuple[SpatialBlock, ...], count: int, connections: int) -> None:
    """Refuse blocks by sizes and neurons only: whether a block holds is asked where it is used.

    Args:
        blocks: of a network.
        count: the number of its neurons.
        connections: the number of its connections.
    """
    for position, block in enumerate(blocks):
        try:
            check_block(block, connections)
        except NetworkError as error:
            raise network_error("blocks", position, error.message) from error
        for neurons in (block.sources.ravel(), block.neurons.ravel()):
            _check_inside("blocks", position, neurons, count)
