"""Groups of nodes replaced by one operator each, as TopK, ArgMax, CumSum, ReduceSum, Div or Where.

Import makes many neurons of each of them, and export many nodes of the neurons. A replacement is
likely, not certain: the caller keeps it if import makes the same network of it.
"""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.operators.finders import FINDERS, NEEDED
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.short_form.constants_once import constants_once
from neat_onnx.short_form.groups.search import Found, Search


def with_larger_operators(model: Model) -> list[Model]:
    """The models with one operator in the place of each group of nodes; none if there is no group.

    Args:
        model: nodes in topological order, without graphs inside of them.

    Returns:
        One model, or two where a group has an order or an extreme: by the smallest elements, and
        by the largest. Each as the nodes are, and with equal ones that read the same constants,
        which are then one node.
    """
    if not any(is_one_of(node, *NEEDED) for node in model.graph.node):
        return []
    search = Search(model, largest=False)
    found = [_replaced(search)]
    if search.has_order:
        found.append(_replaced(Search(model, largest=True)))
    found = [each for whole in found for each in (whole, constants_once(whole))]
    return [each for k, each in enumerate(found) if each not in (model, *found[:k])]


def _replaced(search: Search) -> Model:
    """The model with one operator in the place of each group, itself if there is none."""
    nodes = search.draft.model.graph.node
    found: dict[str, list[Node]] = {}
    for end, group in filter(None, (_group(search, node) for node in nodes)):
        found.setdefault(end, group)  # the first one knows the way to its end
    if not found:
        return search.draft.model
    wanted = [each for node in nodes for each in found.get(node.output[0], [node])]
    larger = without_dead(search.draft.finished(wanted))
    return search.draft.model if _rounds(larger) else larger


def _rounds(model: Model) -> bool:
    """Whether a runtime would round numbers of a model in float64.

    onnxruntime multiplies two numbers by which both factors of a MatMul are multiplied, in float32.
    """
    draft = Draft(model)
    if model.graph.number_type is not DataType.DOUBLE:
        return False
    numbers = {name for name, tensor in draft.tensors.items() if tensor.size == 1}
    scaled = {
        node.output[0]
        for node in model.graph.node
        if is_one_of(node, "Mul") and not numbers.isdisjoint(node.input)
    }
    return any(is_one_of(node, "MatMul") and scaled >= {*node.input} for node in model.graph.node)


def _group(search: Search, node: Node) -> Found | None:
    """The group that ends in a node."""
    if not is_one_of(node, *FINDERS):
        return None
    answers = (finder(search, node) for finder in FINDERS[node.op_type])
    return next(filter(None, answers), None)
