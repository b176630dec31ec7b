"""A layered network as a list of layers with dense weights, and the form each is written in."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.neataptic_ts.document import spelled
from neat_onnx.model import node_classes
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.genes import Bools, Connections, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

STANDARD = "The standard dialect, which is the default, writes every network"


@dataclass(frozen=True, eq=False)
class Layer:
    """A hidden or output layer of r neurons, which read the c neurons of the layer before it.

    Attributes:
        index: 1 for the first hidden layer.
        is_output: whether it is the last layer.
        before: positions of the neurons of the layer before it, shape (c,).
        neurons: positions of its own neurons, shape (r,).
        connected: whether there is a connection, enabled or not, shape (r, c).
        weights: weight of the first connection with these ends, 0 without one, shape (r, c).
        loops: whether each neuron has a self-connection, shape (r,).
        loop_weights: its weight, or 0, shape (r,).
        biases: shape (r,).
    """

    index: int
    is_output: bool
    before: Ints
    neurons: Ints
    connected: Bools
    weights: Floats
    loops: Bools
    loop_weights: Floats
    biases: Floats

    @property
    def size(self) -> int:
        """The number of its neurons."""
        return len(self.neurons)


def firsts(genes: Connections) -> Bools:
    """Return which connections are the first between their two ends, shape (m,)."""
    ends = genes.target * (1 + genes.source.max(initial=0)) + genes.source
    _, positions = np.unique(ends, return_index=True)
    first = np.zeros(len(genes), np.bool_)
    first[positions] = True
    return first


def layers_of(net: Network) -> list[Layer]:
    """Return the layers after the inputs; the last one holds the outputs.

    A hidden neuron stands in the layer after the one that all of its connections, enabled or not,
    come from. Within a layer, neurons keep the order of the network.
    """
    _check_ports(net)
    genes = net.connections.take(firsts(net.connections))
    if np.all(genes.source == genes.target):
        raise NetworkError("the network has no connections", hint=STANDARD)
    groups = [net.input_neurons, *_hidden_layers(net, genes), net.output_neurons]
    return [
        _layer(net, genes, index, before, neurons, is_output=index == len(groups) - 1)
        for index, (before, neurons) in enumerate(pairwise(groups), 1)
    ]


def _check_ports(net: Network) -> None:
    for what, ports in (("inputs", net.inputs), ("outputs", net.outputs)):
        if len(ports) != 1:
            raise NetworkError(
                f"the neataptic dialect has one port of {what}, the network has {len(ports)}",
                where=what,
                hint=STANDARD,
            )
    ends, counts = np.unique(
        np.concatenate([net.input_neurons, net.output_neurons]), return_counts=True
    )
    if np.any(counts > 1):
        raise NetworkError(
            "a neuron is an output and an input, or several outputs",
            where=net.label(int(ends[np.argmax(counts > 1)])),
            hint=STANDARD,
        )


def _hidden_layers(net: Network, genes: Connections) -> Iterator[Ints]:
    others = genes.take(genes.source != genes.target)
    previous = net.is_input
    waiting = ~previous
    waiting[net.output_neurons] = False
    while np.any(waiting):
        strangers = ~previous[others.source] & waiting[others.target]
        current = waiting.copy()
        current[others.target[strangers]] = False
        if not np.any(current):
            _refuse(net, others.take(strangers))
        yield np.flatnonzero(current)
        previous, waiting = current, waiting & ~current


def _refuse(net: Network, strangers: Connections) -> None:
    source, target = int(strangers.source[0]), int(strangers.target[0])
    raise NetworkError(
        f"the network is not layered: {net.label(target)} reads {net.label(source)}, which is "
        "not in the layer before it",
        where=net.label(target),
        hint=STANDARD,
    )


def _layer(
    net: Network, genes: Connections, index: int, before: Ints, neurons: Ints, *, is_output: bool
) -> Layer:
    row, column = np.full(len(net), -1), np.full(len(net), -1)
    row[neurons], column[before] = np.arange(len(neurons)), np.arange(len(before))
    inside = (row[genes.target] >= 0) & (column[genes.source] >= 0)
    ends = row[genes.target[inside]], column[genes.source[inside]]
    weights = np.zeros((len(neurons), len(before)))
    connected = np.zeros(weights.shape, np.bool_)
    weights[ends], connected[ends] = genes.weight[inside], True
    looping = (row[genes.target] >= 0) & (genes.source == genes.target)
    loops, loop_weights = np.zeros(len(neurons), np.bool_), np.zeros(len(neurons))
    at = row[genes.target[looping]]
    loops[at], loop_weights[at] = True, genes.weight[looping]
    biases = net.neurons.bias[neurons]
    return Layer(index, is_output, before, neurons, connected, weights, loops, loop_weights, biases)


_OPERATOR_BY_PART = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


def operator_of(activation: str) -> str:
    """Return the op_type that NeatapticTS writes: by part of the name, else Identity."""
    for part, op_type in _OPERATOR_BY_PART.items():
        if part in activation:
            return op_type
    return "Identity"


def is_exact(activation: str, op_type: str) -> bool:
    """Whether the operator computes the activation; it does if both have one name."""
    return activation == op_type.lower()


@dataclass(frozen=True, eq=False)
class LayerForm:
    """The form of a layer.

    Attributes:
        layer: the layer.
        operators: the op_type of each neuron's activation.
        conv: the mapping of a layer that is a Conv; None for a dense one.
        pool: the mapping of a pool after the layer, if any.
        keeps_state: its states of the previous step are an input of the graph.
        is_mixed: each neuron has a Gemm and an activation of its own.
    """

    layer: Layer
    operators: list[str]
    conv: Conv2DMapping | None
    pool: Pool2DMapping | None
    keeps_state: bool
    is_mixed: bool

    @property
    def is_recurrent(self) -> bool:
        """Whether its self-connections are written."""
        return self.keeps_state and self.conv is None


def forms_of(net: Network, layers: list[Layer], options: ExportOptions) -> list[LayerForm]:
    """Return the form of each layer."""
    for layer in layers:
        _check_layer(net, layer, options)
    forms = [_form(net, layer, options) for layer in layers]
    _warn_unused(forms, options)
    return forms


def fits(mapping: Conv2DMapping, layer: Layer) -> bool:
    """Whether the mapping has the widths of the layer and of the one before it."""
    found = len(layer.before), layer.size
    return found == (_width(mapping, "in"), _width(mapping, "out"))


def _form(net: Network, layer: Layer, options: ExportOptions) -> LayerForm:
    names = net.activation_names[layer.neurons]
    squashes = _squashes(net, layer)
    conv = next((m for m in options.conv2d_mappings if m.layer_index == layer.index), None)
    if conv is not None and not fits(conv, layer):
        conv = None
    single_step = options.allow_recurrent and options.recurrent_single_step
    keeps_state = single_step and not layer.is_output and bool(np.any(layer.loops))
    recurrent, mixed = keeps_state and conv is None, len(set(squashes)) > 1
    if recurrent and mixed:
        raise OptionError(
            f"layer {layer.index} has memory and several activations",
            where="recurrent_single_step",
            hint="The standard dialect can write both",
        )
    operators = [operator_of(name) for name in names]
    if conv is not None and conv.activation:
        _check_operator(conv.activation, f"conv2d_mappings, layer {layer.index}")
    if conv is not None:
        operators = [conv.activation or operators[0]] * layer.size
    pools = (p for p in options.pool2d_mappings if p.after_layer_index == layer.index)
    pool = None if recurrent else next(pools, None)
    return LayerForm(layer, operators, conv, pool, keeps_state, mixed)


def _squashes(net: Network, layer: Layer) -> list[str]:
    """NeatapticTS's names, by which it tells activations apart; two are of one formula."""
    return [
        spelled(net.activation_names[neuron], net.spellings[neuron])
        for neuron in layer.neurons.tolist()
    ]


def _check_operator(op_type: str, where: str) -> None:
    known = [name for name in node_classes() if name.lower() in ACTIVATIONS]
    if op_type not in known:
        raise OptionError(
            f"'{op_type}' is no activation's operator",
            where=where,
            hint=f"Known: {', '.join(known)}",
        )


def _check_layer(net: Network, layer: Layer, options: ExportOptions) -> None:
    names = sorted(set(_squashes(net, layer)))
    if len(names) > 1 and not options.allow_mixed_activations:
        raise OptionError(
            f"layer {layer.index} has several activations: {', '.join(names)}",
            where="allow_mixed_activations",
            hint="Allow mixed activations: each neuron becomes a Gemm of its own",
        )
    if not options.allow_partial_connectivity and not np.all(layer.connected):
        row, column = (int(at[0]) for at in np.nonzero(~layer.connected))
        raise OptionError(
            f"{net.label(int(layer.neurons[row]))} is not connected to "
            f"{net.label(int(layer.before[column]))} of the layer before it",
            where="allow_partial_connectivity",
            hint="Allow partial connectivity: missing connections become zero weights",
        )


def _warn_unused(forms: list[LayerForm], options: ExportOptions) -> None:
    """Warn of mappings in no form; NeatapticTS leaves them out as well."""
    used = {id(mapping) for form in forms for mapping in (form.conv, form.pool)}
    for option, end in (
        ("conv2d_mappings", "layer_index"),
        ("pool2d_mappings", "after_layer_index"),
    ):
        for position, mapping in enumerate(getattr(options, option)):
            if id(mapping) not in used:
                why = _why_unused(forms, mapping, getattr(mapping, end))
                warn(f"{option}[{position}] is left out: {why}")


def _why_unused(forms: list[LayerForm], mapping: Conv2DMapping | Pool2DMapping, index: int) -> str:
    if not 1 <= index <= len(forms):
        return f"there is no layer {index}, the last one is {len(forms)}"
    form = forms[index - 1]
    if isinstance(mapping, Conv2DMapping) and not fits(mapping, form.layer):
        return (
            f"it maps {_width(mapping, 'in')} neurons to {_width(mapping, 'out')}, "
            f"layer {index} {len(form.layer.before)} to {form.layer.size}"
        )
    if isinstance(mapping, Pool2DMapping) and form.is_recurrent:
        return f"layer {index} has memory"
    return f"layer {index} has one already"


def _width(mapping: Conv2DMapping, end: str) -> int:
    height, width, channels = (
        getattr(mapping, f"{end}_{what}") for what in ("height", "width", "channels")
    )
    return int(height * width * channels)
