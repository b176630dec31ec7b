"""Values of the ends of a sequence: initial states, Y_h and Y_c, the last element along time.

A network gives at every step the value that a sequence of this length would end with. That is the
same function as long as nothing brings these tensors together with one that has a time axis. An
initial state that is an input of the graph is the memory itself: at every step the state of the
last one. That is the same as long as recurrent layers alone begin with it.
"""

from neat_onnx.errors import Hint, ImportAdvice, ModelError
from neat_onnx.lifting.axes import example_shapes
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.outputs import other_outputs
from neat_onnx.model import Node
from neat_onnx.model.wiring import reads

_UNROLLED = "every step gets neurons of its own"


def unrolling(ctx: LiftingContext) -> ImportAdvice:
    """How a sequence gets neurons for every step, for an error that such neurons could do without.

    The sizes are an example, of inputs with a sequence of no fixed length.
    """
    inputs = ctx.model.graph.inputs
    if shapes := example_shapes(inputs):
        return ImportAdvice(f"With a fixed length, as {{}}, {_UNROLLED}", {"shapes": shapes})
    if shapes := example_shapes(inputs, features_only=True):
        return ImportAdvice(f"With {{}}, {_UNROLLED}", {"batch_axis": None, "shapes": shapes})
    return ImportAdvice(f"With {{}} and fixed sizes, {_UNROLLED}", {"batch_axis": None})


def feeding(ctx: LiftingContext) -> tuple[Hint, ...]:
    """How an initial state that is computed can be the network's memory, or every step unrolled."""
    return (
        "Where it is an input of the graph, and the last state an output, as 'h_0' and 'h_n', it "
        "is the network's memory",
        unrolling(ctx),
    )


def find_ends(ctx: LiftingContext) -> None:
    """Say which tensors of the graph have lost the time axis.

    Raises:
        ModelError: a node reads one of them together with one that has it, or as a sequence; or it
            reads an initial state as if it were one of every step.
    """
    timed = {entry.name for entry in ctx.model.graph.inputs} - ctx.states
    ended, begun = ctx.ended, set(ctx.states)
    for node in ctx.model.graph.node:
        states = node.states()
        starts, last = states or ([], [])
        shapes = {node.input[at] for at in node.shape_inputs if at < len(node.input)}
        names = set(reads(node)) - shapes
        read = names - set(starts)
        recurrent = states is not None
        if read & begun and (recurrent or names & (timed | ended)):
            which = min(read & begun)
            ctx.fail(
                node,
                f"it reads '{which}', the state before a sequence, at every step of it",
                unrolling(ctx),
            )
        if names & ended and (names & timed or recurrent):
            which = min(names & ended)
            text = f"it reads '{which}', the end of a sequence, as if it were a sequence"
            ctx.fail(node, text, unrolling(ctx))
        outputs = [name for name in node.output if name]
        if names & ended:
            ended.update(outputs)
        elif names & timed:
            ended.update(set(last).intersection(outputs))
            timed.update(set(outputs).difference(last, ended))
        elif names & begun:
            begun.update(outputs)
    given = [entry.name for entry in ctx.model.graph.outputs]
    if shown := begun.intersection(given):
        raise ModelError(
            f"graph output '{min(shown)}' is the state before a sequence",
            where="graph.outputs",
            hint=other_outputs([name for name in given if name not in begun]),
        )


def check_all_fed(ctx: LiftingContext, node: Node) -> None:
    """Refuse a node with a constant initial state beside inputs that are states.

    Raises:
        ModelError: there are such inputs; the state would begin anew in each part of a sequence.
    """
    if ctx.states:
        ctx.fail(
            node,
            "one of its states is constant at the start of each part of a sequence, while inputs "
            "are the states of others",
            "Let every state be an input and an output of the graph, or none",
        )
