"""Values at the end of a sequence: Y_h and Y_c, and the last element along time.

A network gives at every step the value that a sequence of this length would end with. That is the
same function as long as nothing brings these tensors together with one that has a time axis.
"""

from neat_onnx.lifting.context import LiftingContext
from neat_onnx.operators.rnn.nodes import Recurrence


def find_ends(ctx: LiftingContext) -> None:
    """Say which tensors of the graph have lost the time axis.

    Raises:
        ModelError: a node reads one of them together with one that has it, or as a sequence.
    """
    timed = {entry.name for entry in ctx.model.graph.inputs}
    ended = ctx.ended
    for node in ctx.model.graph.node:
        names = set(node.input)
        recurrent = isinstance(node, Recurrence)
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
