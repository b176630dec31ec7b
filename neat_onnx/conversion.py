"""Conversion of a model that was read to valid ONNX."""

from neat_onnx.errors import ModelError, warn
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.core import lift
from neat_onnx.model import Model, OperatorSet, validate
from neat_onnx.model.crashes import refuse_crashes
from neat_onnx.model.graph import IR_OF_OPSET, ONNX_DOMAINS
from neat_onnx.model.wiring import require_wiring
from neat_onnx.passes import without_dead
from neat_onnx.version import __version__

_OLDEST, _NEWEST = min(IR_OF_OPSET), max(IR_OF_OPSET)


def converted(model: Model) -> Model:
    """The model as valid ONNX. See `neat_onnx.convert`."""
    right = repaired(model)
    require_wiring(right.graph)
    whole = _with_shapes(_with_header(_without_dead(right)))
    if right is not model:
        lift(whole)  # it names what is wrong better than the checker, which does not see it all
    for finding in validate(whole, "onnx"):
        raise ModelError(
            f"the result would not be valid ONNX: {finding.message}",
            where=finding.where,
            hint=finding.hint or None,
        )
    return whole


def _with_header(model: Model) -> Model:
    """The model with the versions and the name that ONNX wants, and a producer if it lacked them.

    A document of NeatapticTS says so in its header; the result is valid ONNX and does not.
    """
    whole = model.model_copy() if type(model) is Model else Model.model_construct(**dict(model))
    if not model.graph.name:
        whole.graph = model.graph.model_copy(update={"name": "graph"})
    known = any(entry.domain in ONNX_DOMAINS for entry in model.opset_import)
    if known and model.ir_version is not None:
        return whole
    if not known:
        whole.opset_import = [OperatorSet(version=model.opset), *model.opset_import]
    if model.ir_version is None:
        whole.ir_version = IR_OF_OPSET[max(_OLDEST, min(model.opset, _NEWEST))]
    if not model.producer_name:
        whole.producer_name, whole.producer_version = "neat_onnx", __version__
    return whole


def _with_shapes(model: Model) -> Model:
    """The model with the shapes of its outputs, which ONNX wants, as far as onnx can infer them."""
    graph = model.graph
    if all(entry.shape is not None for entry in graph.outputs):
        return model
    from onnx.shape_inference import InferenceError, infer_shapes  # noqa: PLC0415 - slow to import

    try:
        refuse_crashes(model)
        inferred = Model.from_proto(infer_shapes(model.to_proto(), strict_mode=True))
    except (InferenceError, ModelError):
        return model  # the checker says why
    return model.model_copy(
        update={"graph": graph.model_copy(update={"outputs": inferred.graph.outputs})}
    )


def _without_dead(model: Model) -> Model:
    alive = without_dead(model)
    dead = len(model.graph.node) - len(alive.graph.node)
    unread = len(model.graph.initializer) - len(alive.graph.initializer)
    if alive is not model:
        warn(f"what no output depends on is left out: {dead} nodes, {unread} initializers")
    return alive
