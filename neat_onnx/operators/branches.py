"""If, where its condition turns out to be a constant: the nodes of the branch that it takes.

A Loop of which no pass knows the rounds is refused.

Most are gone before, by `passes.control_flow`, or by `passes.computed_branches` where the condition
is computed. Here the shapes of all tensors are known, as in the squeeze of PyTorch, which asks
whether an axis has the length 1.
"""

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.lifting.dispatch import lift_node
from neat_onnx.lifting.registry import never_lifted
from neat_onnx.model import Attributes, Graph, Node

_HINT = (
    "Export it with inputs of fixed sizes, or give them in shapes={…}: sequences of a fixed "
    "length, and one sample where it goes through the samples"
)
never_lifted(
    "Loop",
    f"{_HINT}. One that ends by a computed condition needs a known number of rounds at the latest, "
    "and hands on the values of its last round alone: of no known length are what it collects, and "
    "lists that it appends to",
)


class IfAttributes(Attributes):
    """Attributes of If: the two graphs, which read the tensors around them."""

    then_branch: Graph
    else_branch: Graph


class If(Node):
    """The outputs of one of two graphs, by a constant condition."""

    outputs = (1, None)
    since = 11
    attributes: IfAttributes


@lifts(If)
def lift_if(ctx: LiftingContext, node: If) -> None:
    """Lift the nodes of the branch that is taken."""
    condition = ctx.operand(node, 0)
    if isinstance(condition, Value):
        problem = "its condition is computed, and its branches have results of different shapes"
        ctx.fail(node, f"{problem}, or of shapes that are not known", _HINT)
    if node.input[0] in ctx.sizes or condition.size != 1:
        ctx.fail(node, "its condition depends on the size of the batch", _HINT)
    branch = node.attributes.then_branch if condition.item() else node.attributes.else_branch
    if len(branch.outputs) != len(node.output):
        ctx.fail(node, f"it has {len(node.output)} outputs, its branch {len(branch.outputs)}")
    ctx.operands.update({tensor.name: tensor.values for tensor in branch.initializer})
    for inner in branch.node:
        lift_node(ctx, inner)
    ctx.bind(node, *(ctx.operands[entry.name] for entry in branch.outputs))
    for entry, name in zip(branch.outputs, node.output, strict=True):
        if entry.name in ctx.integer:
            ctx.integer.add(name)
        if entry.name in ctx.sizes:
            ctx.sizes[name] = ctx.sizes[entry.name]
