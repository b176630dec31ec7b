"""Y_h and Y_c: what a sequence ends with.

A network gives at every step what the sequence would end with there. That is the same function as
long as nothing brings these tensors together with one that has a time axis.
"""

from neat_onnx.lifting import LiftingContext
from neat_onnx.operators.rnn.nodes import Recurrence


def check_ends(ctx: LiftingContext) -> None:
    """Refuse a graph in which a node reads both what has a time axis, and what has lost it.

    Raises:
        ModelError: there is one; or a sequence is made of the end of another.
    """
    graph = ctx.model.graph
    timed = {entry.name for entry in graph.inputs}
    ended: set[str] = set()
    for node in graph.node:
        names = set(node.input)
        if names & ended and (names & timed or isinstance(node, Recurrence)):
            which = sorted(names & ended)[0]
            ctx.fail(node, f"it reads '{which}', the end of a sequence, as if it were a sequence")
        if names & ended:
            ended.update(node.output)
        elif names & timed:
            if isinstance(node, Recurrence):
                timed.update(node.output[:1])
                ended.update(node.output[1:])
            else:
                timed.update(node.output)
        ended.discard("")
