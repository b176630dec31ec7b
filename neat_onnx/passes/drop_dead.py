"""Drop what no output depends on: dead nodes, and initializers that nobody reads."""

from neat_onnx.model import Graph, Node


def captured(node: Node) -> list[str]:
    """Names that the graphs among a node's attributes may take from around it."""
    graphs = [value for value in vars(node.attributes).values() if isinstance(value, Graph)]
    return [
        name
        for graph in graphs
        for inner in graph.node
        for name in [*inner.input, *captured(inner)]
    ] + [output.name for graph in graphs for output in graph.outputs]


def drop_dead(graph: Graph) -> Graph:
    """The graph without nodes and initializers that contribute to no graph output.

    The nodes may stand in any order. Inputs stay, read or not: they are the caller's.
    """
    producer = {name: node for node in graph.node for name in node.output if name}
    needed: set[str] = set()
    waiting = [output.name for output in graph.outputs]
    while waiting:
        name = waiting.pop()
        if name and name not in needed:
            needed.add(name)
            if name in producer:
                waiting += producer[name].input
                waiting += captured(producer[name])
    return graph.model_copy(
        update={
            "node": [node for node in graph.node if needed.intersection(node.output)],
            "initializer": [tensor for tensor in graph.initializer if tensor.name in needed],
        }
    )
