"""Graphs that take their batch apart, as a loop through the samples does: the network of one.

No axis of such a graph is the batch all the way. In a batch of a known size every element has
neurons of its own, and these tell: if in batches of one, two and three samples the neurons of each
sample read nothing of another one, and are the same, they are the network of a sample.
"""

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.lifting.ways_out import MAX_NODES_TRIED, shapes_of_samples
from neat_onnx.model import Model
from neat_onnx.model.budget import Budget, Limits, limits
from neat_onnx.model.value import is_fixed
from neat_onnx.network.genes import Bools, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import contributing
from neat_onnx.passes.input_shapes import with_input_shapes

_BATCHES = (1, 2, 3)
_MOST = {"elements": 1 << 20, "neurons": 1 << 16, "connections": 1 << 18}

_Places = Mapping[str, int]
"""The axis of the samples, of ports that have one."""


def of_separate_samples(model: Model, lift: Callable[[Model], Network]) -> Network | None:
    """The network of one sample; None if samples are not known to stay apart.

    Args:
        model: a model whose batch has no fixed size.
        lift: imports a model, of which every axis is features.
    """
    graph = model.graph
    shapes = [shapes_of_samples(graph.inputs, samples) for samples in _BATCHES]
    if not shapes[0] or len(graph.node) > MAX_NODES_TRIED:
        return None
    if not graph.tensors.keys().isdisjoint(shapes[0]):  # an input has a default value
        return None
    with warnings.catch_warnings(record=True) as remarks, _few_of_all():
        warnings.simplefilter("always", NeatOnnxWarning)
        try:
            nets = [lift(with_input_shapes(model, each)) for each in shapes]
        except NeatOnnxError:
            return None
    found = _of_each(nets, _places(model), _grown(nets))
    if found is not None:
        for text in dict.fromkeys(str(remark.message) for remark in remarks):
            warn(text)
        warn(
            "the model takes its batch apart: the network is the one of each sample in batches of "
            f"{', '.join(map(str, _BATCHES[:-1]))} and {_BATCHES[-1]}, and is taken for that of any"
        )
    return found


def _few_of_all() -> AbstractContextManager[Limits]:
    """Limits for models that are tried several times: most are refused all the same, and soon."""
    allowed = asdict(Budget().limits)
    return limits(**{kind: min(allowed[kind], most) for kind, most in _MOST.items()})


def _of_each(nets: list[Network], inputs: _Places, outputs: _Places | None) -> Network | None:
    """The network of every sample of these batches, where it is the same one."""
    if outputs is None or any(net.has_memory for net in nets):
        return None
    first: Network | None = None
    for net, samples in zip(nets, _BATCHES, strict=True):
        for sample in range(samples):
            part = _of_sample(net, sample, inputs, outputs)
            first = first or part
            if not part.has_same_genes(first):
                return None
    return first


def _places(model: Model) -> _Places:
    """The axis of the batch, of inputs where it has no fixed size."""
    axes = axes_of_inputs(model.graph.inputs)
    return {
        entry.name: axes[entry.name][-1]
        for entry in model.graph.inputs
        if axes[entry.name] and not is_fixed(entry.shape)
    }


def _grown(nets: list[Network]) -> _Places | None:
    """The axis of each output that is as long as the batch; None if one has none, or several."""
    found = {}
    if len({tuple(port.name for port in net.outputs) for net in nets}) > 1:
        return None
    for ports in zip(*(net.outputs for net in nets), strict=True):
        shapes = [port.shape for port in ports]
        if len({len(shape) for shape in shapes}) > 1:
            return None
        grown = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len({*sizes}) > 1]
        if len(grown) != 1 or any(
            shape[grown[0]] != samples for shape, samples in zip(shapes, _BATCHES, strict=True)
        ):
            return None
        found[ports[0].name] = grown[0]
    return found


def _of_sample(net: Network, sample: int, inputs: _Places, outputs: _Places) -> Network:
    """The neurons on which one sample's outputs depend, and its inputs.

    Inputs of another one that are among them belong to no port.
    """
    taken = [_taken(port, sample, inputs) for port in net.inputs]
    given = [_taken(port, sample, outputs) for port in net.outputs]
    kept = contributing(replace(net, outputs=tuple(given), blocks=()))
    own = np.zeros(len(net), np.bool_)
    own[np.concatenate([port.neurons for port in taken])] = True
    kept |= own
    number = np.cumsum(kept) - 1
    connections = net.connections.take(kept[net.connections.target])
    gated = connections.gater >= 0
    return replace(
        net,
        inputs=tuple(_numbered(port, number) for port in taken),
        outputs=tuple(_numbered(port, number) for port in given),
        neurons=_neurons(net, kept),
        connections=replace(
            connections,
            source=number[connections.source],
            target=number[connections.target],
            gater=np.where(gated, number[connections.gater], connections.gater),
        ),
        blocks=(),
    )


def _neurons(net: Network, kept: Bools) -> Neurons:
    columns = (net.neurons.bias, net.neurons.response, net.neurons.initial)
    bias, response, initial = (column[kept] for column in columns)
    return replace(
        net.neurons,
        id=np.arange(np.count_nonzero(kept)),
        activation=net.neurons.activation[kept],
        aggregation=net.neurons.aggregation[kept],
        bias=bias,
        response=response,
        initial=initial,
        name=(),
        spelling=(),
    )


def _taken(port: Port, sample: int, places: _Places) -> Port:
    """The port of one sample; as it is where all samples share it."""
    if port.name not in places:
        return port
    axis = places[port.name]
    neurons = port.neurons.reshape(port.shape).take(sample, axis)
    shape = port.shape[:axis] + port.shape[axis + 1 :]
    return Port(port.name, shape, neurons.ravel(), port.dtype, axis)


def _numbered(port: Port, number: Ints) -> Port:
    return replace(port, neurons=number[port.neurons])
