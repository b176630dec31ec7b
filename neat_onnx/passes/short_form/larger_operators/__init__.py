"""Groups of nodes replaced by one operator each, as TopK, ArgMax, CumSum, ReduceSum, Div or Where.

Import makes many neurons of each of them, and export many nodes of the neurons. A replacement is
likely, not certain: the caller keeps it if import makes the same network of it.
"""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.passes.short_form.columns import REDUCTIONS
from neat_onnx.passes.short_form.constants_once import constants_once
from neat_onnx.passes.short_form.larger_operators.boxes import cut, padded
from neat_onnx.passes.short_form.larger_operators.branches import branch
from neat_onnx.passes.short_form.larger_operators.choices import choice
from neat_onnx.passes.short_form.larger_operators.choices_of_axes import choice_of_axes
from neat_onnx.passes.short_form.larger_operators.grid_samples import grid_sample
from neat_onnx.passes.short_form.larger_operators.kept import kept
from neat_onnx.passes.short_form.larger_operators.largest_of_rows import EXTREMES, largest_of_rows
from neat_onnx.passes.short_form.larger_operators.lookups import differences, looked_up, one_hot
from neat_onnx.passes.short_form.larger_operators.lp_pools import lp_pool
from neat_onnx.passes.short_form.larger_operators.masks import masked_softmax
from neat_onnx.passes.short_form.larger_operators.moving_averages import moving_average
from neat_onnx.passes.short_form.larger_operators.norms import norm
from neat_onnx.passes.short_form.larger_operators.orders import order
from neat_onnx.passes.short_form.larger_operators.pairs import differences_of_pairs
from neat_onnx.passes.short_form.larger_operators.places import place, place_in_axes
from neat_onnx.passes.short_form.larger_operators.quotients import quotient
from neat_onnx.passes.short_form.larger_operators.reductions import reduction
from neat_onnx.passes.short_form.larger_operators.resizes import resize
from neat_onnx.passes.short_form.larger_operators.responses import local_response
from neat_onnx.passes.short_form.larger_operators.rows import function_of_rows
from neat_onnx.passes.short_form.larger_operators.running_sums import (
    running_sum,
    running_sum_along,
)
from neat_onnx.passes.short_form.larger_operators.search import Finder, Found, Search
from neat_onnx.passes.short_form.larger_operators.sparse_products import sparse_product
from neat_onnx.passes.short_form.larger_operators.sums import mean, reduced_sum

_ALONG_AXES: tuple[Finder, ...] = (resize, running_sum_along)
_WITHOUT_LISTS: tuple[Finder, ...] = (
    grid_sample, norm, lp_pool, differences_of_pairs, masked_softmax, kept,
)  # fmt: skip
FINDERS: dict[str, tuple[Finder, ...]] = {
    "Sqrt": (norm, lp_pool),
    "Pow": (lp_pool,),
    "Cast": (place_in_axes, one_hot),
    "Mul": (quotient, local_response),
    "Conv": (running_sum, place),
    "Add": (choice, choice_of_axes, kept),
    "Gather": (padded, cut, differences_of_pairs, kept),
    "Reshape": (padded, *_ALONG_AXES, *_WITHOUT_LISTS, function_of_rows, reduction, branch),
    "Flatten": (largest_of_rows, reduction, padded),
    **dict.fromkeys(REDUCTIONS, (reduction,)),
    **dict.fromkeys(EXTREMES, (largest_of_rows, reduction)),
    "ReduceMean": (moving_average, reduction),
    "Sub": (differences,),
    "Div": (mean,),
    "MatMul": (*_ALONG_AXES, running_sum, choice, order, looked_up, grid_sample, sparse_product),
    "Gemm": (running_sum, choice, order, reduced_sum, looked_up, differences),
    "ReduceSum": (running_sum, choice, order, reduction),
}
"""By the operator of the last node of a group, the functions that look for one, in their order."""

_NEEDED = (
    "Add", "ArgMax", "ArgMin", "Conv", "Gather", "Gemm", "Hardmax", "LayerNormalization",
    "LogSoftmax", "MatMul", "Or", "Softmax", "Sub",
    *REDUCTIONS,
)  # fmt: skip
"""One of them is in a graph with a group."""


def with_larger_operators(model: Model) -> list[Model]:
    """The models with one operator in the place of each group of nodes; none if there is no group.

    Args:
        model: nodes in topological order, without graphs inside of them.

    Returns:
        One model, or two where a group has an order or an extreme: by the smallest elements, and
        by the largest. Each as the nodes are, and with equal ones that read the same constants,
        which are then one node.
    """
    if not any(is_one_of(node, *_NEEDED) for node in model.graph.node):
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
    if draft.facts(model.graph.inputs[0].name).elem_type is not DataType.DOUBLE:
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
