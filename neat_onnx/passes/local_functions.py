"""Calls of the model's own functions, replaced by the nodes that they stand for."""

from neat_onnx.errors import ModelError
from neat_onnx.model import Function, Graph, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.draft import Draft, copied, make_node
from neat_onnx.model.wiring import subgraphs


def local_functions(model: Model) -> Model:
    """The model without functions, their nodes where they were called.

    Raises:
        ModelError: a call has more inputs or outputs than its function, or there would be too many
            nodes.
    """
    if not model.functions:
        return model
    inliner = _Inliner(model)
    return copied(model, graph=inliner.inlined(model.graph), functions=[])


class _Inliner:
    """Replaces the calls in a graph and in the graphs inside its nodes."""

    def __init__(self, model: Model) -> None:
        self._draft = Draft(model)
        self._opset = model.opset
        self._functions = {(each.domain, each.name): each for each in model.functions}
        self._budget = Budget()

    def inlined(self, graph: Graph) -> Graph:
        """The graph with the nodes of each function in the place of its calls."""
        nodes: list[Node] = []
        for node in graph.node:
            function = self._functions.get((node.domain, node.op_type))
            nodes += [self._inside(node)] if function is None else self._body(node, function)
        return copied(graph, node=nodes)

    def _inside(self, node: Node) -> Node:
        """The node with the calls in its graphs replaced."""
        if not subgraphs(node):
            return node
        given = node.given_attributes
        changed = {
            name: self.inlined(value) if isinstance(value, Graph) else value
            for name, value in given.items()
        }
        return make_node(
            node.op_type, node.input, node.output, changed,
            name=node.name, domain=node.domain, opset=self._opset,
        )  # fmt: skip

    def _body(self, call: Node, function: Function) -> list[Node]:
        """The function's nodes, reading and giving the tensors of the call."""
        if len(call.input) > len(function.inputs) or len(call.output) > len(function.outputs):
            raise ModelError(
                f"node {call.label}: the function takes {len(function.inputs)} inputs and gives "
                f"{len(function.outputs)} outputs, and the node has {len(call.input)} and "
                f"{len(call.output)}"
            )
        self._budget.take("nodes", len(function.node), call.label)
        names = {"": "", **dict.fromkeys(function.inputs, "")}
        names |= dict(zip(function.inputs, call.input, strict=False))
        names |= dict(zip(function.outputs, call.output, strict=False))
        stem = "".join(call.output[:1]) or function.name
        for name in (each for node in function.node for each in (*node.input, *node.output)):
            if name not in names:
                names[name] = self._draft.name(f"{stem}_{name}")
        return [self._called(node, call, names) for node in function.node]

    def _called(self, node: Node, call: Node, names: dict[str, str]) -> Node:
        label = self._draft.node_name(f"{call.name}_{node.name}" if call.name else node.name)
        reads, gives = ([names[each] for each in side] for side in (node.input, node.output))
        return copied(node, name=label, input=reads, output=gives)
