"""Options that an export leaves open, as a network that was imported wants them.

Its ports have hints at the model that it comes from: the type of numbers, and whether there was a
batch and whole sequences.
"""

from typing import Any

from neat_onnx.lowering.checks import WIDE_INTEGERS
from neat_onnx.network.network import Network
from neat_onnx.network.whole_numbers import are_whole
from neat_onnx.options import ExportOptions


def open_options(net: Network, options: ExportOptions) -> dict[str, Any]:
    """The values of options that are left open and are not as by default."""
    if options.dialect != "standard":
        return {}
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
    return floats == {"float64"} or (wide and _has_whole_genes(net))


def _has_whole_genes(net: Network) -> bool:
    genes = net.neurons.bias, net.neurons.response, net.connections.weight
    return all(map(are_whole, genes))
