"""Values of the ends of a sequence: initial states, Y_h and Y_c, the last element along time.

A network gives at every step the value that a sequence of this length would end with. That is the
same function as long as nothing brings these tensors together with one that has a time axis. An
initial state that is an input of the graph is the memory itself: at every step the state of the
last one. That is the same as long as recurrent layers alone begin with it.
"""

from neat_onnx.errors import ModelError
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.operators.rnn.nodes import Recurrence

_INITIAL = slice(5, 7)


def find_ends(ctx: LiftingContext) -> None:
    """Say which tensors of the graph have lost the time axis.

    Raises:
        ModelError: a node reads one of them together with one that has it, or as a sequence; or it
            reads an initial state as if it were one of every step.
    """
    timed = {entry.name for entry in ctx.model.graph.inputs} - ctx.states
    ended, begun = ctx.ended, set(ctx.states)
    for node in ctx.model.graph.node:
        names = set(node.input)
        recurrent = isinstance(node, Recurrence)
        read = names - set(node.input[_INITIAL]) if recurrent else names
        if read & begun and (recurrent or names & (timed | ended)):
            which = min(read & begun)
            ctx.fail(node, f"it reads '{which}', the state before a sequence, at every step of it")
        if names & ended and (names & timed or recurrent):
            which = min(names & ended)
            ctx.fail(node, f"it reads '{which}', the end of a sequence, as if it were a sequence")
        outputs = [name for name in node.output if name]
        if names & ended:
            ended.update(outputs)
        elif names & timed:
            last = set(node.output[1:]) if recurrent else set()
            ended.update(last.intersection(outputs))
            timed.update(set(outputs) - last - ended)
        elif names & begun:
            begun.update(outputs)
    if shown := begun.intersection(entry.name for entry in ctx.model.graph.outputs):
        raise ModelError(
            f"graph output '{min(shown)}' is the state before a sequence", where="graph.outputs"
        )
