"""Values of the ends of a sequence: initial states, Y_h and Y_c, the last element along time.

A network gives at every step the value that a sequence of this length would end with. That is the
same function as long as nothing brings these tensors together with one that has a time axis. An
initial state that is an input of the graph is the memory itself: at every step the state of the
last one. That is the same as long as recurrent layers alone begin with it. A static input has one
value of each sample for all steps, so that it may meet either, and be the state of the first step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from neat_onnx.errors import ImportAdvice, ModelError
from neat_onnx.lifting.axes import axes_of_inputs, example_shapes, static_inputs
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


@dataclass
class _Tensors:
    """Names of tensors, by the way in which they depend on time.

    Attributes:
        timed: of every step.
        ended: of the end of a sequence.
        begun: states before the first step.
        static: made of static inputs alone.
    """

    timed: set[str]
    ended: set[str]
    begun: set[str]
    static: set[str]

    def problem(self, node: Node) -> str | None:
        """Why a node combines tensors that a network has no common step for, if it does."""
        recurrent, names = node.states() is not None, _read_by(node)
        begun = names.difference(_states(node)[0]) & self.begun
        if begun and (recurrent or names & (self.timed | self.ended)):
            return f"it reads '{min(begun)}', the state before a sequence, at every step of it"
        ended = names & self.ended
        if ended and (names & self.timed or recurrent):
            return f"it reads '{min(ended)}', the end of a sequence, as if it were a sequence"
        static = names & self.static
        if static and recurrent and not names & self.timed:
            return f"it reads '{min(static)}', which has no axis of time, as a sequence"
        return None

    def follow(self, node: Node) -> None:
        """Add the outputs of a node."""
        names, outputs = _read_by(node), [name for name in node.output if name]
        if names & self.ended:
            self.ended.update(outputs)
        elif names & self.timed:
            last = set(_states(node)[1])
            self.ended.update(last.intersection(outputs))
            self.timed.update(set(outputs).difference(last, self.ended))
        elif names & self.begun:
            self.begun.update(outputs)
        elif names & self.static:
            self.static.update(outputs)


def _states(node: Node) -> tuple[Sequence[str], Sequence[str]]:
    """The inputs of a node that are states before a sequence, and its outputs of the end."""
    return node.states() or ((), ())


def _read_by(node: Node) -> set[str]:
    """The tensors whose values a node reads, shapes left out."""
    shapes = {node.input[at] for at in node.shape_inputs if at < len(node.input)}
    return set(reads(node)) - shapes


def find_ends(ctx: LiftingContext) -> set[str]:
    """Say which tensors of the graph have lost the time axis.

    Returns:
        The names of tensors made of static inputs alone.

    Raises:
        ModelError: a node reads one of them together with one that has it, or as a sequence; or it
            reads an initial state as if it were one of every step.
    """
    inputs = [entry for entry in ctx.model.graph.inputs if entry.name not in ctx.states]
    static = static_inputs(inputs, axes_of_inputs(inputs))
    timed = {entry.name for entry in inputs} - static
    tensors = _Tensors(timed, ctx.ended, set(ctx.states), static)
    for node in ctx.model.graph.node:
        if problem := tensors.problem(node):
            ctx.fail(node, problem, unrolling(ctx))
        tensors.follow(node)
    given = [entry.name for entry in ctx.model.graph.outputs]
    if shown := tensors.begun.intersection(given):
        raise ModelError(
            f"graph output '{min(shown)}' is the state before a sequence",
            where="graph.outputs",
            hint=other_outputs([name for name in given if name not in tensors.begun]),
        )
    return static
