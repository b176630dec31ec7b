"""Plan: which form each layer takes."""

from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import OptionError, warn
from neat_onnx.libraries.neataptic_ts.onnx.write.activations import check_operator, operator_of
from neat_onnx.libraries.neataptic_ts.onnx.write.layers import Layer
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping


@dataclass(frozen=True, eq=False)
class Form:
    """How a layer is written.

    Attributes:
        layer: the layer.
        operators: the op_type of each neuron's activation.
        conv: it is a Conv with this mapping; else it is dense.
        pool: a pool stands after it.
        keeps_state: it gets what its states were as an input.
        is_mixed: it is a Gemm and an activation for each neuron.
    """

    layer: Layer
    operators: list[str]
    conv: Conv2DMapping | None
    pool: Pool2DMapping | None
    keeps_state: bool
    is_mixed: bool

    @property
    def is_recurrent(self) -> bool:
        """Its self-connections are written."""
        return self.keeps_state and self.conv is None


def plan(net: Network, layers: list[Layer], options: ExportOptions) -> list[Form]:
    """The form of each layer.

    Raises:
        OptionError: an option forbids what a layer is, or cannot be met.
    """
    for layer in layers:
        _check_layer(net, layer, options)
    forms = [_form(net, layer, options) for layer in layers]
    _warn_unused(forms, options)
    return forms


def fits(mapping: Conv2DMapping, layer: Layer) -> bool:
    """Whether the mapping's sizes are those of the layer."""
    found = len(layer.before), layer.size
    return found == (_width(mapping, "in"), _width(mapping, "out"))


def _form(net: Network, layer: Layer, options: ExportOptions) -> Form:
    names = net.activation_names[layer.neurons]
    conv = next((m for m in options.conv2d_mappings if m.layer_index == layer.index), None)
    if conv is not None and not fits(conv, layer):
        conv = None
    single_step = options.allow_recurrent and options.recurrent_single_step
    keeps_state = single_step and not layer.is_output and bool(np.any(layer.loops))
    recurrent, mixed = keeps_state and conv is None, len(set(names)) > 1
    if recurrent and mixed:
        raise OptionError(
            f"layer {layer.index} has memory and several activations",
            where="recurrent_single_step",
            hint="The standard dialect can write both",
        )
    operators = [operator_of(name) for name in names]
    if conv is not None and conv.activation:
        check_operator(conv.activation, f"conv2d_mappings, layer {layer.index}")
    if conv is not None:
        operators = [conv.activation or operators[0]] * layer.size
    pools = (p for p in options.pool2d_mappings if p.after_layer_index == layer.index)
    pool = None if recurrent else next(pools, None)
    return Form(layer, operators, conv, pool, keeps_state, mixed)


def _check_layer(net: Network, layer: Layer, options: ExportOptions) -> None:
    names = sorted(set(net.activation_names[layer.neurons]))
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


def _warn_unused(forms: list[Form], options: ExportOptions) -> None:
    """Warn of mappings that are in no form: NeatapticTS leaves them out as well."""
    used = {id(mapping) for form in forms for mapping in (form.conv, form.pool)}
    for option, end in (
        ("conv2d_mappings", "layer_index"),
        ("pool2d_mappings", "after_layer_index"),
    ):
        for position, mapping in enumerate(getattr(options, option)):
            if id(mapping) not in used:
                why = _why_unused(forms, mapping, getattr(mapping, end))
                warn(f"{option}[{position}] is left out: {why}")


def _why_unused(forms: list[Form], mapping: Conv2DMapping | Pool2DMapping, index: int) -> str:
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
