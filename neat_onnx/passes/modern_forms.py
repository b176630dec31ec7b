"""Bring a model of an older opset to opset 18, by onnx's version converter."""

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import Model, Node
from neat_onnx.model.draft import MODERN, Draft, copied, make_node
from neat_onnx.model.wiring import nodes_within

_OLDEST_IR = 8  # of opset 18
_SHIFTED = 11  # the opset from which Resize shifts by half a pixel, if nothing else is said


def modern_forms(model: Model) -> Model:
    """The model at opset 18, or as it is if its opset is 18 or later.

    Raises:
        ModelError: a node has a form that the converter cannot say at opset 18.
    """
    if model.opset >= MODERN:
        return model
    from onnx.version_converter import convert_version  # noqa: PLC0415 - slow to import

    draft = Draft(model)
    stated = {
        name: given
        for node in nodes_within(model.graph)
        if (given := _stated(node, draft))
        for name in node.output
    }
    try:
        found = Model.from_proto(convert_version(model.to_proto(), MODERN))
    except Exception as error:  # noqa: BLE001 - of C++, of several classes
        raise _refusal(model, str(error).strip().partition("\n")[0]) from None
    nodes = [_with(node, stated.get(node.output[0], {})) for node in found.graph.node]
    version = max(model.ir_version or _OLDEST_IR, _OLDEST_IR)
    return copied(Draft(found).finished(nodes), ir_version=version)


def _refusal(model: Model, why: str) -> ModelError:
    return ModelError(
        f"onnx does not convert it from opset {model.opset} to {MODERN}: {why}",
        hint=f"Export it anew with opset {MODERN} or later",
    )


def _stated(node: Node, draft: Draft) -> dict[str, object]:
    """Attributes that say in words what a node did before, which the converter leaves out.

    Raises:
        ModelError: runtimes differ in what it did.
    """
    if node.domain:
        return {}
    if node.op_type == "MeanVarianceNormalization":  # the body of ONNX has no default
        return {"axes": node.given_attributes.get("axes", [0, 2, 3])}
    if node.op_type not in ("Upsample", "Resize") or draft.model.opset >= _SHIFTED:
        return {}
    given: dict[str, object] = {"coordinate_transformation_mode": "asymmetric"}
    if node.given_attributes.get("mode", "nearest") != "nearest":
        return given
    scales = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    known = node.given_attributes.get("scales", [1.0]) if scales is None else scales.values
    if node.op_type == "Resize" and scales is None:
        raise _refusal(draft.model, f"the scales of node {node.label} are not constant")
    if np.any(np.less(known, 1.0)) and np.any(np.greater(known, 1.0)):
        why = f"node {node.label} makes one axis longer and another shorter"
        raise _refusal(draft.model, why)
    return given | {"nearest_mode": "ceil" if np.any(np.less(known, 1.0)) else "floor"}


def _with(node: Node, stated: dict[str, object]) -> Node:
    """The node with more attributes."""
    if not stated:
        return node
    given = node.given_attributes | stated
    return make_node(node.op_type, node.input, node.output, given, name=node.name)
