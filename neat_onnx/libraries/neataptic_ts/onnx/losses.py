"""Losses of the neataptic dialect, found before a network is written: refused, or warned of."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, OptionError, warn
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import firsts
from neat_onnx.libraries.neataptic_ts.onnx.forms import LayerForm, is_exact
from neat_onnx.libraries.neataptic_ts.onnx.kernels import dense_equivalent, positions_of
from neat_onnx.libraries.neataptic_ts.onnx.shapes import is_identity, is_padded_before
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.window import times

_SINGLE_STEP = "allow_recurrent and recurrent_single_step write those of hidden layers"


class Loss(NamedTuple):
    """One kind of loss.

    Attributes:
        text: the loss, a sentence without its full stop.
        where: the first neuron concerned, or an option.
        error: the exception that refuses it.
        hint: a way to avoid it; "" if only another dialect does.
    """

    text: str
    where: str
    error: type[NeatOnnxError] = NetworkError
    hint: str = ""


def losses(net: Network, forms: list[LayerForm]) -> list[Loss]:
    """Return each kind of loss once."""
    found = [
        *_of_neurons(net, forms),
        *_of_connections(net, forms),
        *(loss for form in forms for loss in _of_window(net, form)),
    ]
    return list({loss.text: loss for loss in reversed(found)}.values())[::-1]


def refuse_or_warn(found: Iterable[Loss], lossy: bool) -> None:
    """Raise the first loss, or warn of all of them.

    Raises:
        NetworkError: the network would lose something, and `lossy` is false.
        OptionError: an option would have the document compute something else.
    """
    for loss in found:
        if not lossy:
            advice = f"{loss.hint}; " if loss.hint else ""
            raise loss.error(
                f"the neataptic dialect would lose something: {loss.text}",
                where=loss.where,
                hint=f"{advice}lossy=True writes it all the same, "
                "the standard dialect loses nothing",
            )
        warn(f"lost: {loss.text} ({loss.where})")


def _of_neurons(net: Network, forms: list[LayerForm]) -> Iterator[Loss]:
    for form in forms:
        neurons = form.layer.neurons
        names = net.activation_names[neurons]
        for neuron, name, op_type in zip(neurons.tolist(), names, form.operators, strict=True):
            if not is_exact(name, op_type):
                yield Loss(f"the activation {name} is written as {op_type}", net.label(neuron))
    computing = np.sort(np.concatenate([form.layer.neurons for form in forms]))
    yield from _first(
        net,
        computing[net.aggregation_names[computing] != "sum"],
        "aggregations other than the sum are written as sums",
    )
    yield from _first(
        net, computing[net.neurons.response[computing] != 1.0], "responses are left out"
    )


def _of_connections(net: Network, forms: list[LayerForm]) -> Iterator[Loss]:
    """Yield the losses of connections with a weight, into neurons that compute."""
    genes, level = net.connections, np.zeros(len(net), np.int64)
    recurrent = np.zeros(len(net), np.bool_)
    for form in forms:
        level[form.layer.neurons] = form.layer.index
        recurrent[form.layer.neurons] = form.is_recurrent
    loop, first = genes.source == genes.target, firsts(genes)
    near = level[genes.source] == level[genes.target] - 1
    counted = (level[genes.target] > 0) & (genes.weight != 0.0)
    written = counted & first & np.where(loop, recurrent[genes.target], near)
    live = counted & genes.enabled
    linear = net.activation_names[genes.source] == "identity"
    begun = net.neurons.initial[genes.source] != 0.0
    for which, text in (
        (written & ~live, "disabled connections are written as if they were enabled"),
        (live & (genes.gater != NONE), "gates are left out"),
        (live & ~loop & ~near, "connections that skip layers, or stay in one, are left out"),
        (live & ~first, "of connections with the same ends only the first is written"),
        (
            written & live & (genes.delay != loop),
            "delays are left out, but for one step of self-connections",
        ),
        (
            written & live & (genes.reads_state != loop) & ~linear,
            "a self-connection is taken to read the state, any other the activation",
        ),
        (written & live & loop & begun, "initial values are left out"),
    ):
        yield from _first(net, genes.target[which], text)
    lost = live & loop & ~recurrent[genes.target]
    yield from _first(net, genes.target[lost], "self-connections are left out", _SINGLE_STEP)


def _of_window(net: Network, form: LayerForm) -> Iterator[Loss]:
    """Yield the losses of a layer mapped to a Conv, and of a pool after it."""
    layer, conv, pool = form.layer, form.conv, form.pool
    if conv is not None:
        wanted, found = (conv.out_height, conv.out_width), positions_of(conv)
        if wanted != found:
            text = (
                f"the window of layer {layer.index} has {times(found)} positions, "
                f"not {times(wanted)}"
            )
            yield Loss(text, "conv2d_mappings", OptionError)
        else:
            weights, biases = dense_equivalent(layer, conv)
            wrong = np.any(weights != layer.weights, axis=1) | (biases != layer.biases)
            text = f"layer {layer.index} is written as a Conv that its weights do not bear out"
            if is_padded_before(conv.window):
                text += ": with padding at its top or left NeatapticTS reads the kernel wrongly"
            yield from _first(net, layer.neurons[wrong], text)
    if pool is not None and (conv is None or not is_identity(pool.window)):
        text = f"the {pool.type} after layer {layer.index} is not in the network"
        yield Loss(text, "pool2d_mappings", OptionError)


def _first(net: Network, neurons: Ints, text: str, hint: str = "") -> Iterator[Loss]:
    if neurons.size:
        yield Loss(text, net.label(int(neurons[0])), hint=hint)
