"""Before anything is lowered: networks without an ONNX form are refused, or by options that say no;
options that are left open are as a network that was imported wants them.
"""

from typing import Any

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model.value import MAX_AXES
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import contributing
from neat_onnx.network.whole_numbers import are_whole, beyond_float32, rounded_integer
from neat_onnx.options import ExportOptions


def check_network(net: Network, options: ExportOptions) -> None:
    """Raise NetworkError or OptionError if `net` cannot be exported with these options."""
    _check_options(options)
    _check_ports(net)
    _check_memory(net, options)
    if options.dtype == "float32":
        if found := beyond_float32(net, contributing(net) & ~net.is_input):
            raise NetworkError(found, hint='Export with dtype="float64"')
        wide = any(port.dtype in WIDE_INTEGERS for port in net.inputs + net.outputs)
        if wide and (rounded := rounded_integer(net)):
            warn(f'{rounded} is rounded in float32: dtype="float64" keeps it')


def check_activations(ctx: LoweringContext) -> None:
    """Raise OptionError if a level has several activations, and the options forbid that."""
    if ctx.options.allow_mixed_activations:
        return
    for level, neurons in enumerate(ctx.schedule.levels[1:], 1):
        names = sorted(set(ctx.net.activation_names[neurons]))
        if len(names) > 1:
            raise OptionError(
                f"level {level} has several activations: {', '.join(names)}",
                where="allow_mixed_activations",
                hint="Allow mixed activations, or give the level's neurons one activation",
            )


_PORT_AXES = MAX_AXES - 2  # batch and time take two
WIDE_INTEGERS = frozenset({"int32", "int64", "uint32", "uint64"})
"""Types of ports some of whose integers float32 does not have."""


def _check_options(options: ExportOptions) -> None:
    if options.embed_network and not options.include_metadata:
        text = "a network can be embedded in the metadata only"
        raise OptionError(text, where="embed_network", hint="Leave include_metadata on")
    if options.sequence and options.state == "joined":
        raise OptionError(
            "the memory of a sequence is inside of it", where="state", hint="Leave it out"
        )
    if options.sequence and options.batch_dimension is None:
        raise OptionError(
            "sequences have a batch behind their time",
            where="batch_dimension",
            hint="Leave it out, or say False for a batch of one",
        )


def _check_ports(net: Network) -> None:
    if not net.input_neurons.size:
        raise NetworkError("a network without inputs has no ONNX form", where="inputs")
    for port in net.inputs + net.outputs:
        if not port.neurons.size:
            hint = "Take it out of the network"
            raise NetworkError(f"port '{port.name}' has no neurons, and so no ONNX form", hint=hint)
        if len(port.shape) > _PORT_AXES:
            raise NetworkError(
                f"port '{port.name}' has {len(port.shape)} axes, expected {_PORT_AXES} or fewer"
            )


def _check_memory(net: Network, options: ExportOptions) -> None:
    if net.has_memory and not options.allow_recurrent:
        raise OptionError("the network has memory", where="allow_recurrent", hint="Allow it")
    if net.has_memory and not (options.recurrent_single_step or options.sequence):
        hint = "Allow single steps, or export a sequence"
        raise OptionError("the network has memory", where="recurrent_single_step", hint=hint)


def open_options(net: Network, options: ExportOptions) -> dict[str, Any]:
    """The values of options that are left open and are not as by default.

    Ports have hints at the model that they come from: the type of numbers, and whether there was a
    batch and whole sequences.
    """
    found: dict[str, Any] = {}
    ports, plain = net.inputs + net.outputs, options.quantize == "none"
    if plain and _is_of_float64(net):
        found["dtype"] = "float64"
    if all(port.batch_axis is None for port in ports) and not options.sequence:
        found["batch_dimension"] = None
    timed = any(port.time_axis is not None for port in net.inputs)
    one_step = options.batch_dimension is None or options.state == "joined"
    if plain and timed and not one_step:
        found["sequence"] = True
    return {name: value for name, value in found.items() if name not in options.model_fields_set}


def _is_of_float64(net: Network) -> bool:
    """Whether ports have float64, or, as is exact in it, integers alone of more than 16 bits; and
    no layer has windows, which runtimes know in float32 alone.
    """
    if net.blocks:
        return False
    kinds = {port.dtype for port in net.inputs + net.outputs}
    floats = kinds & {"", "float16", "float64"}
    wide = not floats and not kinds.isdisjoint(WIDE_INTEGERS)
    genes = net.neurons.bias, net.neurons.response, net.connections.weight
    return floats == {"float64"} or (wide and all(map(are_whole, genes)))
