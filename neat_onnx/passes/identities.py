"""Remove nodes that hand their input on: Identity, Dropout in inference, Cast to the same type.

Concat, Sum, Mean, Max and Min of one input are the same. A node between two names that both have to
stay, as from a graph's input to its output, stays as an Identity.
"""

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, HandedOn, renamed
from neat_onnx.model.wiring import reads, subgraphs

_OF_SEVERAL = ("Concat", "Sum", "Mean", "Max", "Min")


def identities(model: Model) -> Model:
    """The model without nodes that hand their input on."""
    draft = Draft(model)
    read = {name for node in model.graph.node for name in reads(node)}
    handed_on, nodes = HandedOn(model.graph), list[Node]()
    needed = read | handed_on.wanted
    for node in model.graph.node:
        if not _hands_on(node, draft, needed):
            nodes.append(node)
        elif not handed_on.take(node.input[0], node.output[0]):
            nodes.append(_identity(node, handed_on.source(node.input[0]), draft))
    names = handed_on.names
    if not names and nodes == model.graph.node:
        return model
    return draft.finished([_renamed(node, names) for node in nodes])


def _renamed(node: Node, alias: dict[str, str]) -> Node:
    touched = any(name in alias for name in (*node.input, *node.output))
    return renamed(node, alias) if touched or subgraphs(node) else node


def _identity(node: Node, source: str, draft: Draft) -> Node:
    if node.op_type == "Identity" and node.input == [source]:
        return node
    return draft.node("Identity", [source], node.output[:1], name=node.name)


def _hands_on(node: Node, draft: Draft, read: set[str]) -> bool:
    if node.domain:
        return False
    match node.op_type:
        case "Identity":
            return True
        case "Dropout":
            return not any(name in read for name in node.output[1:]) and _infers(node, draft)
        case "Cast":
            return draft.facts(node.input[0]).elem_type == node.given_attributes.get("to")
        case _:
            return node.op_type in _OF_SEVERAL and len(node.input) == 1


def _infers(node: Node, draft: Draft) -> bool:
    training = node.input[2] if len(node.input) > 2 else ""
    tensor = draft.tensors.get(training)
    return not training or (tensor is not None and not tensor.values.any())
