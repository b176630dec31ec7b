"""Bring a model of an older opset to opset 18, by onnx's version converter."""

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.model.draft import MODERN, copied
from neat_onnx.model.wiring import nodes_within

_OLDEST_IR = 8  # of opset 18
_RESHAPED = 11  # the opset from which Resize says how places are rounded
_CHANGED = ("Upsample", "Resize", "MeanVarianceNormalization")
"""Operators of older opsets whose defaults the converter leaves out."""


def modern_forms(model: Model) -> Model:
    """The model at opset 18, or as it is if its opset is 18 or later.

    Raises:
        ModelError: a node has a form that the converter cannot say at opset 18.
    """
    if model.opset >= MODERN:
        return model
    from onnx.shape_inference import infer_shapes  # noqa: PLC0415 - slow to import
    from onnx.version_converter import convert_version  # noqa: PLC0415

    for node in nodes_within(model.graph):
        if node.op_type in _CHANGED and model.opset < _RESHAPED and not node.domain:
            raise _refusal(model, f"node {node.label} has other defaults since opset {_RESHAPED}")
    try:
        converted = convert_version(model.to_proto(), MODERN)
        infer_shapes(converted, check_type=True)  # it makes numbers of float32 for any Clip
        found = Model.from_proto(converted)
    except Exception as error:  # noqa: BLE001 - of C++, of several classes
        raise _refusal(model, str(error).strip().partition("\n")[0]) from None
    return copied(found, ir_version=max(model.ir_version or _OLDEST_IR, _OLDEST_IR))


def _refusal(model: Model, why: str) -> ModelError:
    return ModelError(
        f"onnx does not convert it from opset {model.opset} to {MODERN}: {why}",
        hint=f"Export it anew with opset {MODERN} or later",
    )
