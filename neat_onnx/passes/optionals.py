"""Optional tensors that are there are these tensors, and whether one is there is a constant."""

import numpy as np

from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.draft import Draft, is_one_of

OPERATORS = frozenset({"Optional", "OptionalGetElement", "OptionalHasElement"})


def optionals(model: Model) -> Model:
    """The model without these operators, where it is known that a tensor is there, or none."""
    draft = Draft(model)
    return draft.rewritten(lambda node: _without(draft, node))


def _without(draft: Draft, node: Node) -> list[Node] | None:
    if not is_one_of(node, *OPERATORS):
        return None
    name = next(iter(node.input), "")
    there = _is_there(draft, name)
    if there is None or (not there and not is_one_of(node, "OptionalHasElement")):
        return None
    if is_one_of(node, "OptionalHasElement"):
        name = draft.constant(f"{node.output[0]}_value", np.array(there), DataType.BOOL)
    return [draft.node("Identity", [name], node.output, name=node.name)]


def _is_there(draft: Draft, name: str) -> bool | None:
    """Whether a name is of a tensor; None where that is not known."""
    maker = draft.producers.get(name)
    if not name or (maker is not None and maker.op_type == "Optional" and not any(maker.input)):
        return False
    is_tensor = draft.maker(name, "Optional") or draft.facts(name).elem_type is not None
    return True if is_tensor else None
