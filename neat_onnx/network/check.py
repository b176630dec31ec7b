"""What must hold for every Network, checked once when it is made."""

import math
from collections.abc import Iterable

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import MAX_DELAY, NONE, Bools, Where, distinct, network_error
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import check_block


def check_network(net: Network) -> None:
    """Raise NetworkError at the first thing that makes `net` no network."""
    _check_names(net.activations, net.aggregations)
    _check_ports(net)
    _check_neurons(net)
    _check_connections(net)
    _check_blocks(net)


def _check_ports(net: Network) -> None:
    if not net.outputs or not len(net.output_neurons):
        raise NetworkError("the network has no outputs", where="outputs")
    names = [port.name for port in net.inputs + net.outputs]
    if len(set(names)) != len(names):
        raise NetworkError("two ports have the same name", where="inputs, outputs")
    sides: tuple[Where, Where] = ("inputs", "outputs")
    for what, ports in zip(sides, (net.inputs, net.outputs), strict=True):
        for position, port in enumerate(ports):
            if port.neurons.size != math.prod(port.shape) or min(port.shape, default=0) < 0:
                raise network_error(
                    what, position, f"shape {list(port.shape)} is not {port.neurons.size} neurons"
                )
            _refuse_first(
                (port.neurons < 0) | (port.neurons >= len(net)),
                what,
                "no such neuron {}",
                port.neurons,
            )
    if len(distinct(net.input_neurons)) != len(net.input_neurons):
        raise NetworkError("a neuron is an input twice", where="inputs")


def _check_neurons(net: Network) -> None:
    genes = net.neurons
    unique, counts = np.unique(genes.id, return_counts=True)
    if np.any(counts > 1):
        raise NetworkError(f"two neurons have the id {unique[counts > 1][0]}", where="neurons")
    for name in ("bias", "response", "initial"):
        values = getattr(genes, name)
        _refuse_first(
            ~np.isfinite(values), "neurons", f"{name} is not a finite number: {{}}", values
        )


def _check_connections(net: Network) -> None:
    genes = net.connections
    count = len(net)
    for name in ("source", "target"):
        ends = getattr(genes, name)
        _refuse_first((ends < 0) | (ends >= count), "connections", "no such neuron {}", ends)
    gater = genes.gater
    _refuse_first((gater < NONE) | (gater >= count), "connections", "no such gater {}", gater)
    for name in ("weight", "initial_gain"):
        values = getattr(genes, name)
        _refuse_first(
            ~np.isfinite(values), "connections", f"{name} is not a finite number: {{}}", values
        )
    for name in ("delay", "gate_delay"):
        values = getattr(genes, name)
        _refuse_first(values < 0, "connections", f"{name} is negative: {{}}", values)
        _refuse_first(
            values > MAX_DELAY,
            "connections",
            f"{name} is more than {MAX_DELAY} steps: {{}}",
            values,
        )
    into_input = net.is_input[genes.target] & genes.enabled
    _refuse_first(
        into_input, "connections", "it ends in neuron {}, an input", net.neurons.id[genes.target]
    )


def _refuse_first(wrong: Bools, what: Where, message: str, values: np.ndarray) -> None:
    if np.any(wrong):
        position = int(np.argmax(wrong))
        raise network_error(what, position, message.format(values[position]))


def _check_names(activations: Iterable[str], aggregations: Iterable[str]) -> None:
    """Raise NetworkError for a name that is not registered."""
    for name in activations:
        activation_named(name)
    for name in aggregations:
        aggregation_named(name)


def _check_blocks(net: Network) -> None:
    """Sizes and neurons only: whether a block holds is asked where it is used."""
    for position, block in enumerate(net.blocks):
        try:
            check_block(block)
        except NetworkError as error:
            raise network_error("blocks", position, error.message) from error
        for neurons in (block.sources.ravel(), block.neurons.ravel()):
            outside = (neurons < 0) | (neurons >= len(net))
            if np.any(outside):
                raise network_error("blocks", position, f"no such neuron {neurons[outside][0]}")
