"""The runtimes that an import is checked by, in the order in which they are asked."""

import math

from neat_onnx.genome import Imported
from neat_onnx.model import Node
from neat_onnx.network.network import Network
from neat_onnx.model.draft import Draft
from neat_onnx.passes.recurrent_layers import is_recurrent

_RUNTIMES = ("reference", "onnxruntime")
_MAX_ELEMENTS_POOLED = 1 << 17  # of a sample; each takes the reference evaluator some 0.7 µs
_BY_ELEMENT = 13  # the opset from which on Hardmax is along one axis
_SOFTMAXES = ("Softmax", "LogSoftmax", "Hardmax")
_LEFT_OUT = frozenset(
    {"activations", "activation_alpha", "activation_beta", "clip", "input_forget"}
)
"""Attributes of recurrent layers that the reference evaluator does not compute with."""


def evaluators_of(found: Imported) -> tuple[str, ...]:
    """The runtimes that can be asked about a model, onnx's reference evaluator first.

    It is left out where it computes another function than ONNX says, or takes too long.
    """
    draft = Draft(found.model)
    misread = any(_is_misread(node, draft) for node in found.model.graph.node)
    is_slow = misread or _pooled(found.lifted.network) > _MAX_ELEMENTS_POOLED
    return _RUNTIMES[1:] if is_slow else _RUNTIMES


def _pooled(net: Network) -> int:
    """How many elements pools read: the reference evaluator takes them one by one."""
    pools = (block for block in net.blocks if block.is_pool)
    return sum(block.neurons.size * math.prod(block.window.kernel) for block in pools)


def _is_misread(node: Node, draft: Draft) -> bool:
    """Whether the reference evaluator is known to compute a node otherwise than ONNX says."""
    given = node.given_attributes
    if "broadcast" in given and "axis" in given:  # of opset 6: by the axis, not from the last on
        return True
    if node.op_type in _SOFTMAXES and draft.model.opset < _BY_ELEMENT:  # of all axes from `axis` on
        axis, shape = given.get("axis", 1), draft.facts(node.input[0]).shape
        return axis != -1 and (shape is None or axis != len(shape) - 1)
    return is_recurrent(node) and not _LEFT_OUT.isdisjoint(given)
