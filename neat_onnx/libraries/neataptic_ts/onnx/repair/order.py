"""Nodes, each after those that it reads."""

from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import tell, with_graph
from neat_onnx.model import Model
from neat_onnx.model.wiring import Wiring


def in_order(model: Model) -> Model:
    """The model with its nodes sorted; with a cycle as it is: whoever lifts it says so."""
    graph = model.graph
    wiring = Wiring(graph)
    if wiring.cyclic:
        return model
    order: list[int] = []
    done: set[int] = set()
    for first in range(len(graph.node)):
        waiting = [first]
        while waiting:
            at = waiting[-1]
            before = sorted(wiring.sources(at) - done, reverse=True)
            if before:
                waiting += before
                continue
            waiting.pop()
            if at not in done:
                done.add(at)
                order.append(at)
    if order == list(range(len(graph.node))):
        return model
    tell("nodes stand before others that they read: they are sorted")
    return with_graph(model, node=[graph.node[at] for at in order])
