"""Export in int8: weights alone, or the values of every Gemm as well.

The ranges of values are measured: the model that is exported in float32 plays inputs, in onnx's
reference evaluator. The written model computes something else than the network, so the genome stays
out of its metadata: an import gives the graph's own function.
"""

from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.genome.document import GENOME
from neat_onnx.lowering.core import export_network
from neat_onnx.lowering.profile import in_profile
from neat_onnx.lowering.quantization import (
    Range,
    quantize_values,
    quantize_weights,
    quantized_tensors,
)
from neat_onnx.model import Model
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.run import rows_of
from neat_onnx.options import ExportOptions
from neat_onnx.runtimes.player import Player, showing
from neat_onnx.runtimes.ports import as_read
from neat_onnx.verification.samples import short_sequences

_SAMPLES, _SEED = 256, 0
_OPSET = 19  # the first whose DequantizeLinear onnx's reference evaluator computes


def export_quantized(net: Network, options: ExportOptions, calibration: Any) -> Model:
    """Return the ONNX model of a network in int8. See `neat_onnx.export`.

    Args:
        calibration: the inputs that ranges are measured on; None for sampled ones.

    Raises:
        OptionError: an option that does not go with int8, or inputs of another shape.
    """
    full = options.quantize == "full"
    _check(options, calibration, full)
    changes: dict[str, Any] = {"sequence": options.sequence, **({"fold": True} if full else {})}
    if "opset" not in options.model_fields_set:
        changes["opset"] = _OPSET
    plain = options.model_copy(update=changes)
    model = _without_genome(export_network(net, plain))
    if full:
        x = as_read(net, model, _inputs(net, calibration))
        model = quantize_values(model, _ranges(net, model, x))
    return in_profile(quantize_weights(model), options)


def _check(options: ExportOptions, calibration: Any, full: bool) -> None:
    wrong = None
    if calibration is not None and not full:
        wrong = ("calibration is for values", "calibration", 'Take quantize="full"')
    elif options.dtype != "float32":
        wrong = ("int8 is for float32", "dtype", "Leave dtype out, or quantize")
    elif options.dialect != "standard":
        wrong = ("the neataptic dialect has no int8", "dialect", "Leave it out, or quantize")
    elif options.embed_network:
        wrong = ("an embedded network would not be what int8 computes", "embed_network",
                 "Leave it out, or quantize")  # fmt: skip
    elif full and options.sequence:
        wrong = ("values inside of a Scan or a recurrent operator are not quantized", "quantize",
                 'Take quantize="weights", or export a single step')  # fmt: skip
    if wrong:
        raise OptionError(wrong[0], where=wrong[1], hint=wrong[2])


def _without_genome(model: Model) -> Model:
    kept = [entry for entry in model.metadata_props if entry.key != GENOME]
    return model.model_copy(update={"metadata_props": kept})


def _inputs(net: Network, calibration: Any) -> Floats:
    """The inputs (T, N, I) to measure on."""
    if calibration is None:
        return short_sequences(net, _SAMPLES, _SEED)
    try:
        x = rows_of(net, calibration, (2, 3))
    except NetworkError as error:
        hint = error.hint or "Give an array of numbers"
        raise OptionError(f"as inputs: {error.message}", where="calibration", hint=hint) from error
    if not x.size or not np.all(np.isfinite(x)):
        raise OptionError("no inputs, or some that are not finite", where="calibration",
                          hint="Give finite numbers")  # fmt: skip
    if x.ndim == 3:
        return x
    return x[:, None] if net.has_memory else x[None]


def _ranges(net: Network, model: Model, x: Floats) -> dict[str, Range]:
    names = quantized_tensors(model)
    played = Player(showing(model, names), net, "reference").play(x, names)
    return {name: _range(values.ravel()) for name, values in played.items()}


def _range(values: Floats) -> Range:
    """The least and the largest finite value."""
    finite = values[np.isfinite(values)]
    return float(np.min(finite, initial=0.0)), float(np.max(finite, initial=0.0))
