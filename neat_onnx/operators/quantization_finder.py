"""The finder of DynamicQuantizeLinear, whose steps and scale import writes as long formulas.

The operator takes the range of the whole tensor that it reads, of all samples. An export is for any
number of samples, and a network computes each for itself: so a Scan over the samples hands them to
the operator one by one.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.model import DataType, Tensor
from neat_onnx.network.activations import activation_named, with_formula
from neat_onnx.network.genes import NONE, Floats, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.operators.each_sample import for_each_sample
from neat_onnx.operators.quantization import ROUNDED_STEPS, ZERO_POINT
from neat_onnx.passes.draft import make_node


class _Steps(NamedTuple):
    """The neurons of the steps of a tensor.

    Attributes:
        elements: the neurons of the tensor.
        factors: constants by which the scale is multiplied: a number, or one for each channel.
        is_read: whether the scale is read besides.
        times: how many products read the steps, each less the zero point on its own.
    """

    elements: Ints
    factors: Sequence[Floats]
    is_read: bool
    times: int


@proposes
def propose_dynamic_quantization(net: Network) -> Iterator[Proposal]:
    """Propose a DynamicQuantizeLinear for each zero point that neurons compute."""
    for zero in np.flatnonzero(with_formula(net, ZERO_POINT.__eq__)).tolist():
        steps = _steps(net, zero)
        if steps is not None:
            yield _proposal(net, steps)


def _steps(net: Network, zero: int) -> _Steps | None:
    """The steps that have a zero point, which reads the least element, by one over the scale."""
    live = net.live
    _, edge = net.edges_into(np.array([zero]))
    if len(edge) != 1 or live.gater[edge[0]] == NONE:
        return None
    inverse = live.gater[edge[0]]
    rounded = np.intersect1d(
        live.target[live.gater == inverse], np.flatnonzero(with_formula(net, ROUNDED_STEPS.__eq__))
    )
    row, read = net.edges_into(rounded)
    scale = _source(net, int(inverse))
    if scale is None or not np.array_equal(row, np.arange(len(rounded))):
        return None
    readers = distinct(live.target[live.source == scale])
    channels = _channels(net, readers[readers != inverse])
    return _Steps(
        live.source[read],
        [
            *_numbers(net, scale),
            *([net.live.weight[net.edges_into(channels)[1]]] if len(channels) else []),
        ],
        len(readers) > len(channels) + 1 or bool(np.any(live.gater == scale)),
        int(np.count_nonzero((live.source == zero) & (live.weight < 0.0))) // max(1, len(rounded)),
    )


def _channels(net: Network, readers: Ints) -> Ints:
    """The neurons among readers of the scale that are products of it alone, one a channel."""
    genes = net.neurons
    alike = (net.activation_names[readers] == "identity") & (net.fan_in[readers] == 1)
    alike &= (genes.bias[readers] == 0.0) & (net.aggregation_names[readers] == "sum")
    _, edge = net.edges_into(readers[alike])
    found: Ints = readers[alike][net.live.gater[edge] == NONE]
    return found


def _source(net: Network, neuron: int) -> int | None:
    """The one neuron that a neuron reads."""
    _, edge = net.edges_into(np.array([neuron]))
    return int(net.live.source[edge[0]]) if len(edge) == 1 else None


def _numbers(net: Network, scale: int) -> Iterator[Floats]:
    """Yield the constants of neurons that are a number times the scale, in their order.

    They read the range, as the scale does.
    """
    spread = _source(net, scale)
    formula = activation_named(net.activation_names[scale]).expression
    if spread is None:
        return
    for reader in distinct(net.live.target[net.live.source == spread]).tolist():
        its = activation_named(net.activation_names[reader]).expression
        if its.op == "mul" and its.args[0].is_constant and its.args[1] == formula:
            yield np.array(its.args[0].value)


def _proposal(net: Network, steps: _Steps) -> Proposal:
    """The operator for each sample; its steps are given less the zero point."""
    number = {"to": int(DataType.FLOAT)}
    nodes = [
        make_node("DynamicQuantizeLinear", ["a"], ["steps", "scale", "zero"]),
        make_node("Cast", ["steps"], ["step_numbers"], number),
        make_node("Cast", ["zero"], ["zero_number"], number),
    ]
    results = [f"above_zero_{at}" for at in range(steps.times)]
    nodes += [make_node("Sub", ["step_numbers", "zero_number"], [name]) for name in results]
    results, constants = results + ["scale"] * steps.is_read, []
    for at, factor in enumerate(steps.factors):
        constants.append(Tensor.of(f"factor_{at}", factor, DataType.FLOAT))
        nodes.insert(1 + at, make_node("Mul", ["scale", f"factor_{at}"], [f"scale_{at}"]))
        results.append(f"scale_{at}")
    gives = [f"{name}_of_samples" for name in results]
    scan = for_each_sample(nodes, {"x": "a"}, dict(zip(gives, results, strict=True)), constants)
    return Proposal([scan], {"x": _in_shape(net, steps.elements)}, gives)


def _in_shape(net: Network, elements: Ints) -> Ints:
    """The elements in the shape of the input that they are, else in a list."""
    for port in net.inputs:
        if np.array_equal(port.neurons, elements):
            return elements.reshape(port.shape)
    return elements
