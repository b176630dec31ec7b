"""A layered network as a list of layers with dense weights, and the form each is written in."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.limits import firsts
from neat_onnx.libraries.neataptic_ts.document import spelled
from neat_onnx.model import node_classes
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.genes import Bools, Connections, Floats, Ints, place_among
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

STANDARD = "The standard dialect, which is the default, writes every network"


@dataclass(frozen=True, eq=False)
class Layer:
    """A hidden or output layer of r neurons, which read the c neurons of the layer before it.

    Attributes:
        index: 1 for the first hidden layer.
        before: positions of the neurons of the layer before it, shape (c,).
        neurons: positions of its own neurons, shape (r,).
        weights: weight of the first connection with these ends, 0 without one, shape (r, c).
        loops: whether each neuron has a self-connection, shape (r,).
        loop_weights: its weight, or 0, shape (r,).
        biases: shape (r,).
        operators: the op_type of each neuron's activation.
        conv: the mapping of a layer that is a Conv; None for a dense one.
        pool: the mapping of a pool after the layer, if any.
        keeps_state: its states of the previous step are an input of the graph.
        is_mixed: each neuron has a Gemm and an activation of its own.
    """

    index: int
    before: Ints
    neurons: Ints
    weights: Floats
    loops: Bools
    loop_weights: Floats
    biases: Floats
    operators: list[str]
    conv: Conv2DMapping | None
    pool: Pool2DMapping | None
    keeps_state: bool
    is_mixed: bool

    @property
    def size(self) -> int:
        """The number of its neurons."""
        return len(self.neurons)

    @property
    def is_recurrent(self) -> bool:
        """Whether its self-connections are written."""
        return self.keeps_state and self.conv is None


def layers_of(net: Network, options: ExportOptions) -> list[Layer]:
    """Return the layers after the inputs; the last one holds the outputs.

    A hidden neuron stands in the layer after the one that all of its connections, enabled or not,
    come from. Within a layer, neurons keep the order of the network.
    """
    _check_ports(net)
    genes = net.connections.take(firsts(net.connections.source, net.connections.target))
    if np.all(genes.source == genes.target):
        raise NetworkError("the network has no connections", hint=STANDARD)
    groups = [net.input_neurons, *_hidden_layers(net, genes), net.output_neurons]
    layers = [
        _layer(net, genes, options, index, before, neurons, index == len(groups) - 1)
        for index, (before, neurons) in enumerate(pairwise(groups), 1)
    ]
    _warn_unused(layers, options)
    return layers


def _check_ports(net: Network) -> None:
    for what, ports in (("inputs", net.inputs), ("outputs", net.outputs)):
        if len(ports) != 1:
            text = f"the neataptic dialect has one port of {what}, the network has {len(ports)}"
            raise NetworkError(text, where=what, hint=STANDARD)
    ends = np.concatenate([net.input_neurons, net.output_neurons])
    twice = np.flatnonzero(np.bincount(ends, minlength=len(net)) > 1)
    if twice.size:
        text = "a neuron is an output and an input, or several outputs"
        raise NetworkError(text, where=net.label(int(twice[0])), hint=STANDARD)


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
            at = int(np.argmax(strangers))
            source, target = (net.label(int(end[at])) for end in (others.source, others.target))
            raise NetworkError(
                f"the network is not layered: {target} reads {source}, which is not in the layer "
                "before it",
                where=target,
                hint=STANDARD,
            )
        yield np.flatnonzero(current)
        previous, waiting = current, waiting & ~current


def _layer(
    net: Network,
    genes: Connections,
    options: ExportOptions,
    index: int,
    before: Ints,
    neurons: Ints,
    is_output: bool,
) -> Layer:
    row, column = place_among(neurons, len(net)), place_among(before, len(net))
    inside = (row[genes.target] >= 0) & (column[genes.source] >= 0)
    ends = row[genes.target[inside]], column[genes.source[inside]]
    weights = np.zeros((len(neurons), len(before)))
    connected = np.zeros(weights.shape, np.bool_)
    weights[ends], connected[ends] = genes.weight[inside], True
    looping = (row[genes.target] >= 0) & (genes.source == genes.target)
    loops, loop_weights = np.zeros(len(neurons), np.bool_), np.zeros(len(neurons))
    at = row[genes.target[looping]]
    loops[at], loop_weights[at] = True, genes.weight[looping]
    # NeatapticTS tells activations apart by their names, of which two are of one formula
    squashes = {spelled(net.activation_names[j], net.spellings[j]) for j in neurons.tolist()}
    if len(squashes) > 1 and not options.allow_mixed_activations:
        raise OptionError(
            f"layer {index} has several activations: {', '.join(sorted(squashes))}",
            where="allow_mixed_activations",
            hint="Allow mixed activations: each neuron becomes a Gemm of its own",
        )
    if not options.allow_partial_connectivity and not np.all(connected):
        to, of = (int(at[0]) for at in np.nonzero(~connected))
        raise OptionError(
            f"{net.label(int(neurons[to]))} is not connected to {net.label(int(before[of]))} of "
            "the layer before it",
            where="allow_partial_connectivity",
            hint="Allow partial connectivity: missing connections become zero weights",
        )
    conv = next((m for m in options.conv2d_mappings if m.layer_index == index), None)
    if conv is not None and _widths(conv) != (len(before), len(neurons)):
        conv = None
    single_step = options.allow_recurrent and options.recurrent_single_step
    keeps_state = single_step and not is_output and bool(np.any(loops))
    is_recurrent = keeps_state and conv is None
    if is_recurrent and len(squashes) > 1:
        raise OptionError(
            f"layer {index} has memory and several activations",
            where="recurrent_single_step",
            hint="The standard dialect can write both",
        )
    pools = (m for m in options.pool2d_mappings if m.after_layer_index == index)
    return Layer(
        index,
        before,
        neurons,
        weights,
        loops,
        loop_weights,
        net.neurons.bias[neurons],
        _operators(net, neurons, conv),
        conv,
        None if is_recurrent else next(pools, None),
        keeps_state,
        len(squashes) > 1,
    )


_OPERATOR_BY_PART = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


def _operators(net: Network, neurons: Ints, conv: Conv2DMapping | None) -> list[str]:
    """The op_types that NeatapticTS writes: by part of the activation's name, else Identity."""
    found = [
        next((op for part, op in _OPERATOR_BY_PART.items() if part in name), "Identity")
        for name in net.activation_names[neurons]
    ]
    if conv is None:
        return found
    known = [name for name in node_classes() if name.lower() in ACTIVATIONS]
    if conv.activation and conv.activation not in known:
        raise OptionError(
            f"'{conv.activation}' is no activation's operator",
            where=f"conv2d_mappings, layer {conv.layer_index}",
            hint=f"Known: {', '.join(known)}",
        )
    return [conv.activation or found[0]] * len(found)


def _warn_unused(layers: list[Layer], options: ExportOptions) -> None:
    """Warn of mappings of no layer; NeatapticTS leaves them out as well."""
    used = {id(mapping) for layer in layers for mapping in (layer.conv, layer.pool)}
    for option in ("conv2d_mappings", "pool2d_mappings"):
        for position, mapping in enumerate(getattr(options, option)):
            if id(mapping) not in used:
                sizes = [f"{len(layer.before)} to {layer.size}" for layer in layers]
                warn(
                    f"{option}[{position}] is left out: no layer of its index and its sizes, "
                    f"or the layer has memory, or a mapping; the layers are {', '.join(sizes)}"
                )


def _widths(mapping: Conv2DMapping) -> tuple[int, int]:
    """How many neurons the layer before has, and how many the layer."""
    return (
        mapping.in_height * mapping.in_width * mapping.in_channels,
        mapping.out_height * mapping.out_width * mapping.out_channels,
    )
