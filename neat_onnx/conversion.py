"""Conversion of a model that was read to valid ONNX."""

from neat_onnx.errors import ModelError, warn
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.trace import trace_model
from neat_onnx.model import Model, OperatorSet, ValueInfo, validate
from neat_onnx.model.draft import with_graph
from neat_onnx.model.graph import IR_OF_OPSET, ONNX_DOMAINS
from neat_onnx.model.inference import inferred_facts
from neat_onnx.model.ports import WEIGHTS_APART
from neat_onnx.model.wiring import require_wiring, without_dead
from neat_onnx.version import __version__

_OLDEST, _NEWEST = min(IR_OF_OPSET), max(IR_OF_OPSET)


def converted(model: Model) -> Model:
    """The model as valid ONNX. See `neat_onnx.convert`."""
    right = repaired(model)
    require_wiring(right.graph)
    alive = without_dead(right)
    if alive is not right:
        dead = len(right.graph.node) - len(alive.graph.node)
        unread = len(right.graph.initializer) - len(alive.graph.initializer)
        warn(f"what no output depends on is left out: {dead} nodes, {unread} initializers")
    whole = with_shapes(_with_header(alive))
    if right is not model:
        trace_model(whole)  # it names what is wrong better than the checker, which sees less
    for finding in validate(whole, "onnx"):
        text = f"the result would not be valid ONNX: {finding.message}"
        raise ModelError(text, where=finding.where, hint=finding.hint)
    return whole


def _with_header(model: Model) -> Model:
    """The model with the versions and the name that ONNX wants, and a producer if it lacked them.

    A document of NeatapticTS says so in its header; the result is valid ONNX and does not.
    """
    whole = model.model_copy() if type(model) is Model else Model.model_construct(**dict(model))
    if not model.graph.name:
        whole.graph = model.graph.model_copy(update={"name": "graph"})
    known = any(entry.domain in ONNX_DOMAINS for entry in model.opset_import)
    apart = model.graph.tensors.keys() - {entry.name for entry in model.graph.inputs}
    if apart and (model.ir_version or WEIGHTS_APART) < WEIGHTS_APART:
        warn(f"the IR version is {WEIGHTS_APART}: up to {model.ir_version} weights are inputs")
        whole.ir_version = WEIGHTS_APART
    if known and model.ir_version is not None:
        return whole
    if not known:
        whole.opset_import = [OperatorSet(version=model.opset), *model.opset_import]
    if model.ir_version is None:
        whole.ir_version = IR_OF_OPSET[max(_OLDEST, min(model.opset, _NEWEST))]
    if not model.producer_name:
        whole.producer_name, whole.producer_version = "neat_onnx", __version__
    return whole


def with_shapes(model: Model) -> Model:
    """The model with the shapes of its outputs, which ONNX wants, as far as onnx can infer them."""
    outputs = model.graph.outputs
    if all(entry.shape is not None for entry in outputs):
        return model
    facts = inferred_facts(model)

    def sized(entry: ValueInfo) -> ValueInfo:
        if entry.shape is not None:
            return entry
        return ValueInfo.of(entry.name, entry.elem_type, facts[entry.name].shape)

    return with_graph(model, outputs=[*map(sized, outputs)])
