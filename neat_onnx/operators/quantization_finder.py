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
from neat_onnx.operators.quantization import ROUNDED_STEPS, ZERO_POINT
from neat_onnx.passes.draft import make_node
from neat_onnx.passes.each_sample import for_each_sample


class _Steps(NamedTuple):
    """The neurons of the steps of a tensor.

    Attributes:
        elements: the neurons of the tensor; one that stands in several places is in each.
        read: the places of elements whose steps are read; None for all.
        factors: constants by which the scale is multiplied: a number, or one for each channel.
        is_read: whether the scale is read besides.
        times: how many products read the steps, each less the zero point on its own.
    """

    elements: Ints
    read: Ints | None
    factors: Sequence[Floats]
    is_read: bool
    times: int


@proposes
def propose_dynamic_quantization(net: Network) -> Iterator[Proposal]:
    """Propose a DynamicQuantizeLinear for each zero point that neurons compute."""
    for zero in np.flatnonzero(with_formula(net, ZERO_POINT.__eq__)).tolist():
        steps = _steps(net, zero)
        if steps is not None and (steps.times or steps.factors or steps.is_read):
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
    elements, places, least = live.source[read], None, live.source[edge[:1]]
    if net.fan_in[least[0]] > len(elements):
        whole = live.source[net.edges_into(least)[1]]
        elements, known = _repeated(net, zero, rounded, elements), elements
        if elements is known and np.all(np.isin(known, whole)):
            elements, places = whole, np.searchsorted(whole, known)
    return _Steps(
        elements,
        places,
        [
            *_numbers(net, scale),
            *([net.live.weight[net.edges_into(channels)[1]]] if len(channels) else []),
        ],
        len(readers) > len(channels) + 1 or bool(np.any(live.gater == scale)),
        int(np.count_nonzero((live.source == zero) & (live.weight < 0.0))) // max(1, len(rounded)),
    )


def _repeated(net: Network, zero: int, rounded: Ints, elements: Ints) -> Ints:
    """The elements in all places of the tensor, as a window over it has them, that is padded; as
    they are where there is no window.

    The window slides over the steps less the zero point; these and the steps read it.
    """
    element = np.full(len(net), NONE, np.int64)
    element[rounded] = elements
    live, reads_zero = net.live, np.zeros(len(net), np.bool_)
    reads_zero[net.live.target[net.live.source == zero]] = True
    for _ in ("steps", "less the zero point"):
        onwards = (element[live.source] != NONE) & reads_zero[live.target]
        element[live.target[onwards]] = element[live.source[onwards]]
    for block in net.blocks:
        if np.all(element[block.sources] != NONE):
            sources = block.sources.T if block.is_product else block.sources
            return element[sources]
    return elements


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
    constants = []
    if steps.read is not None:
        nodes += [
            make_node("Reshape", ["step_numbers", "flat"], ["all_numbers"]),
            make_node("Gather", ["all_numbers", "read"], ["read_numbers"]),
        ]
        constants = [
            Tensor.of("flat", np.array([-1]), DataType.INT64),
            Tensor.of("read", steps.read, DataType.INT64),
        ]
    numbers = "step_numbers" if steps.read is None else "read_numbers"
    nodes += [make_node("Sub", [numbers, "zero_number"], [name]) for name in results]
    results += ["scale"] * steps.is_read
    for at, factor in enumerate(steps.factors):
        constants.append(Tensor.of(f"factor_{at}", factor, DataType.FLOAT))
        nodes.insert(1 + at, make_node("Mul", ["scale", f"factor_{at}"], [f"scale_{at}"]))
        results.append(f"scale_{at}")
    gives = [f"{name}_of_samples" for name in results]
    scan = for_each_sample(nodes, {"x": "a"}, dict(zip(gives, results, strict=True)), constants)
    neurons, places = _as_they_stand(net, steps.elements)
    if places is None:
        return Proposal([scan], {"x": neurons}, gives)
    gather = make_node("Gather", ["neurons", "places"], ["x"], {"axis": 1})
    order = Tensor.of("places", places, DataType.INT64)
    return Proposal([gather, scan], {"neurons": neurons}, gives, [order])


def _as_they_stand(net: Network, elements: Ints) -> tuple[Ints, Ints | None]:
    """The neurons of elements, and the place among them of each element; None if that is its own.

    Elements are neurons of one layer in another order, as of a transposed one, or neurons that
    stand in several places; else in the shape of the input that they are, or in a list.
    """
    for port in net.inputs:
        if np.array_equal(port.neurons, elements.ravel()):
            return port.neurons.reshape(port.shape), None
    neurons, first, places = np.unique(elements, return_index=True, return_inverse=True)
    is_layer = len(neurons) > neurons[-1] - neurons[0] and not np.any(net.is_input[neurons])
    if (len(neurons) == elements.size and not is_layer) or np.array_equal(neurons, elements):
        return elements.ravel(), None
    if not is_layer:
        order = np.argsort(first)
        neurons, places = neurons[order], np.argsort(order)[places]
    return neurons, places.reshape(elements.shape)
