"""Export with weights in int8.

The written model computes something else than the network, so the genome stays out of its metadata:
an import gives the graph's own function.
"""

from typing import Any

from neat_onnx.errors import OptionError
from neat_onnx.genome.document import GENOME
from neat_onnx.lowering.core import export_network
from neat_onnx.lowering.profile import in_profile
from neat_onnx.lowering.quantization import quantize_weights
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_OPSET = 19  # the first whose DequantizeLinear onnx's reference evaluator computes


def export_quantized(net: Network, options: ExportOptions) -> Model:
    """Return the ONNX model of a network in int8. See `neat_onnx.export`.

    Raises:
        OptionError: an option that does not go with int8.
    """
    for wrong, message, where in (
        (options.dtype != "float32", "int8 is for float32", "dtype"),
        (options.dialect != "standard", "the neataptic dialect has no int8", "dialect"),
        (
            options.embed_network,
            "an embedded network would not be what int8 computes",
            "embed_network",
        ),
    ):
        if wrong:
            raise OptionError(message, where=where, hint=f"Leave {where} out, or quantize")
    changes: dict[str, Any] = {"sequence": options.sequence}
    if "opset" not in options.model_fields_set:
        changes["opset"] = _OPSET
    model = export_network(net, options.model_copy(update=changes))
    kept = [entry for entry in model.metadata_props if entry.key != GENOME]
    model = model.model_copy(update={"metadata_props": kept})
    return in_profile(quantize_weights(model), options)
