"""The finders: each looks for groups of nodes that one operator, or a few, can stand for.

Import makes many neurons of a TopK or a Resize, and export many nodes of the neurons. A finder
stands in the room of the operator that it finds. The short form of an export asks them, in the
order of this table, of each node that may be the last one of a group. Other finders look for the
neurons of an operator, and register themselves (`lowering.registry.proposes`).
"""

# ruff: noqa: F401 (what registers itself)
from neat_onnx.operators import quantization_finder
from neat_onnx.operators.choices.broadcast_finder import find_broadcast_where
from neat_onnx.operators.choices.kept_finder import find_kept_elements
from neat_onnx.operators.choices.where_finder import find_where
from neat_onnx.operators.formulas.pair_finder import find_differences_of_pairs
from neat_onnx.operators.formulas.quotient_finder import find_quotient
from neat_onnx.operators.layout.concat_finder import find_branch
from neat_onnx.operators.layout.gather_finder import find_differences, find_gather, find_one_hot
from neat_onnx.operators.layout.slice_finder import find_pad, find_slice
from neat_onnx.operators.ml import vectors_finder
from neat_onnx.operators.products import determinant_finder, matmul_finder
from neat_onnx.operators.reductions.extreme_finder import EXTREMES, find_extreme_of_rows
from neat_onnx.operators.reductions.mean_finder import find_mean, find_reduced_sum
from neat_onnx.operators.reductions.norm_finder import find_norm
from neat_onnx.operators.reductions.reduction_finder import find_reduction
from neat_onnx.operators.rows import scattered_finder, sparse_gate_finder
from neat_onnx.operators.rows.argmax_finder import find_argmax, find_argmax_in_axes
from neat_onnx.operators.rows.lrn_finder import find_local_response
from neat_onnx.operators.rows.masked_softmax_finder import find_masked_softmax
from neat_onnx.operators.rows.row_function_finder import find_row_function
from neat_onnx.operators.rows.topk_finder import find_order
from neat_onnx.operators.running.cumsum_finder import (
    find_running_sum,
    find_running_sum_along_axis,
)
from neat_onnx.operators.spatial import computed_kernel_finder
from neat_onnx.operators.spatial.average_pool_finder import find_moving_average
from neat_onnx.operators.spatial.grid_sample_finder import find_grid_sample
from neat_onnx.operators.spatial.lp_pool_finder import find_lp_pool
from neat_onnx.operators.spatial.resize_finder import find_resize
from neat_onnx.operators.sums.sparse_product_finder import find_sparse_product
from neat_onnx.short_form.columns import REDUCTIONS
from neat_onnx.short_form.groups.search import Finder

_ALONG_AXES: tuple[Finder, ...] = (find_resize, find_running_sum_along_axis)
_WITHOUT_LISTS: tuple[Finder, ...] = (
    find_grid_sample,
    find_norm,
    find_lp_pool,
    find_differences_of_pairs,
    find_masked_softmax,
    find_kept_elements,
)
FINDERS: dict[str, tuple[Finder, ...]] = {
    "Sqrt": (find_norm, find_lp_pool),
    "Pow": (find_lp_pool,),
    "Cast": (find_argmax_in_axes, find_one_hot),
    "Mul": (find_quotient, find_local_response),
    "Conv": (find_running_sum, find_argmax),
    "Add": (find_where, find_broadcast_where, find_kept_elements),
    "Gather": (find_pad, find_slice, find_differences_of_pairs, find_kept_elements),
    "Reshape": (
        find_pad,
        *_ALONG_AXES,
        *_WITHOUT_LISTS,
        find_row_function,
        find_reduction,
        find_branch,
    ),
    "Flatten": (find_extreme_of_rows, find_reduction, find_pad),
    **dict.fromkeys(REDUCTIONS, (find_reduction,)),
    **dict.fromkeys(EXTREMES, (find_extreme_of_rows, find_reduction)),
    "ReduceMean": (find_moving_average, find_reduction),
    "Sub": (find_differences,),
    "Div": (find_mean,),
    "MatMul": (
        *_ALONG_AXES,
        find_running_sum,
        find_where,
        find_order,
        find_gather,
        find_grid_sample,
        find_sparse_product,
    ),
    "Gemm": (
        find_running_sum,
        find_where,
        find_order,
        find_reduced_sum,
        find_gather,
        find_differences,
    ),
    "ReduceSum": (find_running_sum, find_where, find_order, find_reduction),
}
"""By the operator of the last node of a group, the finders that are asked, in their order."""

NEEDED = (
    "Add", "ArgMax", "ArgMin", "Conv", "Gather", "Gemm", "Hardmax", "LayerNormalization",
    "LogSoftmax", "MatMul", "Or", "Softmax", "Sub",
    *REDUCTIONS,
)  # fmt: skip
"""A graph with a group has one of these operators."""
