"""Sums of few inputs each, from many: the inputs are gathered, weighed and added.

A matrix for them would be zeros for the most part: a residual block adds two signals for each pixel
of a picture, and one that scales a picture reads one. And a matrix may have no zero where a value
may overflow.
"""

from collections.abc import Iterator

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.operators.export.activate import activate, in_column_order, respond
from neat_onnx.operators.export.columns import BYTES_OF_COLUMN
from neat_onnx.operators.export.dense import by_overflowing_source, responses
from neat_onnx.operators.export.formula import INPUTS_AXIS, reduction
from neat_onnx.operators.export.reduce import weighted, weighted_rows

_MIN_RUN = 3  # signals that stand one after the other, on average
_MIN_BYTES = 1 << 20  # of a matrix of neurons that read columns here and there
_WEIGHT_BYTES = 4
_GEMM_BYTES, _SCALED_BYTES, _REDUCED_BYTES = 250, 130, 300  # of the nodes besides
_MIN_RATIO = 2  # of the bytes of matrices to those of a gathered sum


@lowers(Stage.LAYOUTS)
def plan_sparse_sums(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the sums and means of a level with one fan-in, where a matrix would be much larger."""
    if not ctx.options.allow_partial_connectivity or ctx.options.mixed_activations != "grouped":
        return Plan()
    claims = [
        Claim(Block(level, in_column_order(ctx, alike), suffix), lower_sparse_sums)
        for level, neurons in ctx.levels_of(free & (ctx.fan_in > 0))
        for suffix, alike in _alike(ctx, neurons)
        if len(alike) and _is_sparse(ctx, alike)
    ]
    return Plan(claims)


def _alike(ctx: LoweringContext, neurons: Ints) -> Iterator[tuple[str, Ints]]:
    """Yield a suffix of names, and the neurons of one aggregation and fan-in; of one input, gated
    and ungated ones apart, as import makes gated connections of a tensor of products.
    """
    names, fan_in = ctx.net.aggregation_names[neurons], ctx.fan_in[neurons]
    gated = np.zeros(len(neurons), np.bool_)
    if len(ctx.signals.products):
        row, read, _ = ctx.inputs_of(neurons)
        gated[row[ctx.signals.are_products(read)]] = True
        gated &= fan_in == 1
    for name, prefix in (("sum", "_few"), ("mean", "_means")):
        yield f"{prefix}_gated", neurons[(names == name) & gated]
        for inputs in distinct(fan_in[names == name]).tolist():
            yield f"{prefix}{inputs}", neurons[(names == name) & (fan_in == inputs) & ~gated]


def _is_sparse(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether gathering the inputs of neurons is much smaller than their matrices.

    A layer whose neurons read columns here and there, as in genomes that evolved, stays one
    matrix unless that is large, since a Gemm is faster than a Gather.
    """
    inputs = int(ctx.fan_in[neurons[0]])
    most = len(neurons) * (_GEMM_BYTES + _WEIGHT_BYTES * len(neurons) * inputs)
    if most < _MIN_RATIO * (_SCALED_BYTES if inputs == 1 else _REDUCED_BYTES):
        return False
    _, read, weight = ctx.inputs_of(neurons)
    read = read.reshape(len(neurons), -1)
    breaks = min(np.count_nonzero(np.diff(each.ravel()) != 1) for each in (read, read.T))
    parts = by_overflowing_source(ctx, neurons)
    matrices = sum(
        _GEMM_BYTES + _WEIGHT_BYTES * len(part) * len(distinct(ctx.inputs_of(part)[1]))
        for part in parts
    )
    in_runs = (breaks + 1) * _MIN_RUN <= read.size
    if breaks and not (in_runs or len(parts) > 1 or matrices >= _MIN_BYTES):
        return False
    scaled = inputs == 1 and not np.any(ctx.signals.are_products(read))
    gathered = _SCALED_BYTES if scaled else _REDUCED_BYTES
    if breaks:
        gathered += _SCALED_BYTES + BYTES_OF_COLUMN * read.size
    if np.any(weight != 1.0):
        gathered += _WEIGHT_BYTES * read.size
    return matrices >= _MIN_RATIO * gathered


def lower_sparse_sums(ctx: LoweringContext, block: Block) -> None:
    """Emit the weighted inputs, their sum or mean, responses, biases and activations."""
    _, read, weight = ctx.inputs_of(block.neurons)
    read = read.reshape(len(block.neurons), -1)
    response, bias = responses(ctx, block.neurons)
    alone = read.shape[1] == 1
    gated = alone and bool(np.all(ctx.signals.are_products(read)))
    if not alone:
        mean = ctx.net.aggregation_names[block.neurons[0]] == "mean"
        rows, kind = weighted_rows(ctx, block, read, weight), "ReduceMean" if mean else "ReduceSum"
        operator, inputs, attributes, _ = reduction(ctx, kind, rows, INPUTS_AXIS, keepdims=0)
        result = ctx.emit(operator, inputs, *block.names("Total", "total"), **attributes)
    else:
        result = weighted(ctx, block, read.ravel(), weight)
        if not gated or len(distinct(read.ravel())) < len(read):
            # import makes neurons of a Sum of one tensor, also where products are the same
            result = ctx.emit("Sum", [result], *block.names("Copy", "copy"))
    result = respond(ctx, block, result, response, bias)
    activate(ctx, block, result, with_identity=gated and not np.any(bias))
