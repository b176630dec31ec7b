"""Remove nodes that hand their input on: Identity, Dropout in inference, Cast to the same type.

Concat, Sum, Mean, Max and Min of one input are the same. A node between two names that both have to
stay, as from a graph's input to its output, stays as an Identity.
"""

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, renamed
from neat_onnx.model.wiring import reads

_OF_SEVERAL = ("Concat", "Sum", "Mean", "Max", "Min")


def identities(model: Model) -> Model:
    """The model without nodes that hand their input on."""
    draft, graph, names = Draft(model), model.graph, dict[str, str]()
    outputs = {entry.name for entry in graph.outputs}
    fixed = outputs | {entry.name for entry in graph.inputs} | set(graph.tensors)
    needed = outputs | {name for node in graph.node for name in reads(node)}

    def now(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    for node in graph.node:
        if not _hands_on(node, draft, needed):
            draft.nodes.append(node)
            continue
        source, result = now(node.input[0]), node.output[0]
        if result not in outputs:
            names[result] = source
        elif source not in fixed:
            names[source] = result
        elif node.op_type == "Identity":
            draft.nodes.append(node)
        else:
            draft.nodes.append(draft.node("Identity", [source], [result], name=node.name))
    if draft.nodes == graph.node:
        return model
    changed = {name: now(name) for name in names}
    return draft.finished([renamed(node, changed) for node in draft.nodes])


def _hands_on(node: Node, draft: Draft, read: set[str]) -> bool:
    if node.domain:
        return False
    match node.op_type:
        case "Identity":
            return True
        case "Dropout":
            training = draft.tensors.get(node.input[2]) if any(node.input[2:]) else None
            infers = not any(node.input[2:]) or (training is not None and not training.values.any())
            return infers and not any(name in read for name in node.output[1:])
        case "Cast":
            return draft.facts(node.input[0]).elem_type == node.given_attributes.get("to")
        case _:
            return node.op_type in _OF_SEVERAL and len(node.input) == 1
