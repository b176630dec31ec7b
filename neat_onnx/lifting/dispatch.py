"""One node: the function of its operator is called, and its errors name the node."""

from collections.abc import Iterable
from itertools import compress, repeat

from neat_onnx.errors import NeatOnnxError, abridged
from neat_onnx.lifting.batch_size import follow_batch_size, misused_size
from neat_onnx.lifting.constant_nodes import bind_constants
from neat_onnx.lifting.context import LIFTS, LiftingContext
from neat_onnx.lifting.known_operators import hint_for, obstacle
from neat_onnx.lifting.reductions import NoNeuronError
from neat_onnx.lifting.registry import Lift
from neat_onnx.lifting.tensors import ConstantInputError
from neat_onnx.model import Node
from neat_onnx.model.budget import LimitReached
from neat_onnx.model.operator_types import operator_types
from neat_onnx.model.whole_numbers import gives_whole_numbers

_MISTAKE = "If the model is valid, this is a mistake in neat_onnx: please report it"


def lift_node(ctx: LiftingContext, node: Node) -> None:
    """Lift one node by the function registered for its operator.

    Raises:
        ModelError: there is none, or the node cannot be lifted; the message names the node.
    """
    if problem := obstacle(node):
        ctx.fail(node, problem, hint_for({node.op_type}))
    ctx.integer.update(compress(node.output, _whole_outputs(ctx, node)))
    size = misused_size(node, ctx.operands, ctx.sizes)
    if size is not None:
        ctx.refuse_size(node, size)
    try:
        _lift(ctx, node, LIFTS[node.op_type])
    except NoNeuronError as error:
        ctx.fail(node, error.message, error.hints)
    except LimitReached as error:
        if error.node:
            raise
        message = f"node {node.label}: with the nodes before it, {error.message}"
        named = LimitReached(message, where=ctx.path(node), hint=error.hints)
        named.node = node.label
        raise named from None
    except NeatOnnxError:
        raise
    except (ValueError, IndexError, OverflowError) as error:  # numpy's, of shapes nobody checked
        given = [list(ctx.operands[name].shape) for name in node.input if name in ctx.operands]
        shapes = f" with inputs of the shapes {abridged(map(str, given))}" if given else ""
        ctx.fail(node, f"it cannot be read{shapes}: {error}", _MISTAKE)
    if gives_whole_numbers(node, ctx.is_whole):
        for name in node.output:
            ctx.facts[name].is_whole = True
    follow_batch_size(node, ctx.operands, ctx.sizes)
    ctx.refuse_mixed(node)


def _whole_outputs(ctx: LiftingContext, node: Node) -> Iterable[bool]:
    """Which outputs of a node that reads integers are integers, as ONNX's schema has it.

    Without one, as for an operator of a user's own, they all are where it reads nothing else.
    """
    alone = ctx.has_integers(node)
    if not alone and ctx.integer.isdisjoint(node.input):
        return ()
    given = [name in ctx.operands and ctx.is_integer(name) for name in node.input]
    found = operator_types(node.op_type, node.domain).integers(node, given)
    return repeat(alone) if found is None else found


def _lift(ctx: LiftingContext, node: Node, lift: Lift) -> None:
    try:
        lift(ctx, node)
    except ConstantInputError:
        if not bind_constants(ctx, node, lift):
            raise
