"""Sums and means of a few inputs each, from many: the inputs are gathered, weighed and added.

A matrix for them would be zeros for the most part, as the leaves of a forest have it, or the pixels
of a picture that is enlarged. And it may have no zero where a value may overflow: sums of products
that read no two alike would be a matrix each.
"""

from collections.abc import Iterator

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Lower, Plan, Stage, lowers
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.operators.formulas.activate import activate, in_column_order, respond
from neat_onnx.operators.formulas.elementwise import Mul
from neat_onnx.operators.layout.columns import BYTES_OF_COLUMN, in_shape
from neat_onnx.operators.layout.picking import period_of
from neat_onnx.operators.layout.shaping import Flatten
from neat_onnx.operators.reductions.reduce import (
    ReduceMean,
    ReduceSum,
    arranged_inputs,
    emit_reduced,
    weighted_rows,
)
from neat_onnx.operators.sums.dense import lower_dense, responses
from neat_onnx.operators.sums.partition import by_overflowing_source
from neat_onnx.operators.sums.pointwise import lower_pointwise
from neat_onnx.operators.sums.scaled import lower_scaled

_MIN_NEURONS_OF_SPANS = 32
_TOO_FEW_NEURONS, _TOO_FEW_EVEN = 1, 3
_MIN_RUN = 3  # signals, on average
_MIN_READ_PER_SPAN = 4  # a neuron reads from a quarter of all signals that are read
_MAX_GEMMS = 1  # neurons that read what may overflow each need a Gemm of their own
_MAX_GEMMS_WEIGHED = 8  # more nodes take longer than one Gather, however small they are
_MAX_GEMMS_OF_PRODUCTS, _MIN_PRODUCTS = 64, 256  # of a level, and of each
_WEIGHT_BYTES = 4
_GEMM_BYTES, _GATHERED_BYTES = 250, 600  # of the nodes of a matrix product, of a gathered sum
_IN_ORDER_BYTES = 300  # the same where nothing is gathered
_MIN_RATIO = 2  # of the bytes of a matrix to those of a gathered sum
_Group = tuple[str, Ints]  # a suffix of names, and neurons of one fan-in


@lowers(Stage.LAYOUTS)
def plan_sparse_sums(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the sums and means of a level with one fan-in, where a matrix would be much larger."""
    if not ctx.options.allow_partial_connectivity or ctx.options.mixed_activations != "grouped":
        return Plan()
    claims = []
    means, plain = _means(ctx), ctx.net.neurons.response == 1.0
    kinds = (_sums(ctx), ""), (means & plain, "_mean"), (means & ~plain, "_scaled_mean")
    for which, prefix in kinds:
        for level, neurons in ctx.levels_of(free & which):
            for suffix, alike in _sparse(ctx, list(_alike(ctx, neurons))):
                if _have_many_products(ctx, alike):
                    claims += [
                        Claim(Block(level, neuron, f"{prefix}{suffix}_{k}"), lower_dense)
                        for k, neuron in enumerate(np.split(alike, len(alike)), 1)
                    ]
                    continue
                inputs = int(ctx.fan_in[alike[0]])
                block = Block(level, in_column_order(ctx, alike), prefix + suffix)
                claims.append(Claim(block, _lowering(ctx, alike, inputs)))
    return Plan(claims)


def _have_many_products(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether each neuron adds many weighed products, which is a Gemm for each.

    Beside their weights the nodes are few bytes, and import makes the same neurons of them: the
    products of a gathered sum would be neurons of their own. So is each lattice of an ensemble.
    """
    _, edge = ctx.edges_into(neurons)
    if len(neurons) > _MAX_GEMMS_OF_PRODUCTS or ctx.fan_in[neurons[0]] < _MIN_PRODUCTS:
        return False
    weighed = not _have_unit_weights(ctx, neurons)
    return weighed and bool(np.all(ctx.signals.are_products(ctx.signals.read[edge])))


def _sparse(ctx: LoweringContext, groups: list[_Group]) -> list[_Group]:
    """The groups to gather: those that are much smaller so, and the others if all of them are."""
    gathered = {suffix for suffix, alike in groups if _is_sparse(ctx, alike)}
    rest = [each for each in groups if each[0] not in gathered and _is_local(ctx, each[1])]
    if len(rest) > 1 and _are_sparse(ctx, groups, rest):
        gathered |= {suffix for suffix, _ in rest}
    return [each for each in groups if each[0] in gathered]


def _are_sparse(ctx: LoweringContext, groups: list[_Group], some: list[_Group]) -> bool:
    """Whether gathering some groups is much smaller than one matrix of them.

    It would have a column for each signal that any of all groups reads.
    """
    _, edge = ctx.edges_into(np.concatenate([alike for _, alike in groups]))
    columns, rows = len(distinct(ctx.signals.read[edge])), sum(len(alike) for _, alike in some)
    gathered = sum(_bytes_of_gathered(ctx, alike) for _, alike in some)
    return _GEMM_BYTES + _WEIGHT_BYTES * rows * columns >= _MIN_RATIO * gathered


def _sums(ctx: LoweringContext) -> Bools:
    """Sums of one input or several."""
    found: Bools = (ctx.net.aggregation_names == "sum") & (ctx.fan_in > 0)
    return found


def _means(ctx: LoweringContext) -> Bools:
    """Means of several inputs as they are, without a bias."""
    net, plain = ctx.net, (ctx.fan_in > 1) & (ctx.net.neurons.bias == 0.0)
    weighed = np.bincount(net.live.target[net.live.weight != 1.0], minlength=len(net)) > 0
    found: Bools = plain & (net.aggregation_names == "mean") & ~weighed
    return found


def _alike(ctx: LoweringContext, neurons: Ints) -> Iterator[tuple[str, Ints]]:
    """The neurons by fan-in; of one input, gated and ungated ones apart."""
    fan_in = ctx.fan_in[neurons]
    for inputs in distinct(fan_in).tolist():
        alike = neurons[fan_in == inputs]
        if inputs > 1:
            yield f"_few{inputs}", alike
            continue
        _, edge = ctx.edges_into(alike)
        gated = ctx.signals.are_products(ctx.signals.read[edge])
        if np.any(gated):
            yield "_gated", alike[gated]
        if not np.all(gated):
            yield "_few1", alike[~gated]


def _lowering(ctx: LoweringContext, neurons: Ints, inputs: int) -> Lower:
    """How neurons of a fan-in are written; nothing is added where each has one input."""
    if inputs > 1:
        return lower_sparse_sums
    _, edge = ctx.edges_into(neurons)
    return lower_pointwise if np.all(ctx.signals.weight[edge] == 1.0) else lower_scaled


def _is_sparse(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether gathering the inputs of neurons is much smaller than their matrices.

    A layer whose neurons read columns here and there, as in genomes that evolved, stays one
    matrix, since a Gemm is faster than a Gather.
    """
    response = ctx.net.neurons.response[neurons]
    uneven = ctx.net.aggregation_names[neurons[0]] == "mean" and np.any(response != response[0])
    if len(neurons) <= _TOO_FEW_NEURONS or uneven:
        return False
    parts = by_overflowing_source(ctx, neurons)
    if len(parts) <= _MAX_GEMMS and not _is_local(ctx, neurons):
        return False
    plain = _have_unit_weights(ctx, neurons)
    times = _MIN_RATIO if len(parts) <= _MAX_GEMMS_WEIGHED and not plain else 1
    gathered = _bytes_of_gathered(ctx, neurons)
    return sum(_bytes_of_matrix(ctx, part) for part in parts) >= times * gathered


def _have_unit_weights(ctx: LoweringContext, neurons: Ints) -> bool:
    _, edge = ctx.edges_into(neurons)
    return bool(np.all(ctx.signals.weight[edge] == 1.0))


def _is_local(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons read runs of signals, or, if they are many, from small parts of all.

    The runs are in one neuron after the other, or in the first inputs of all neurons, then in their
    second ones: so are the two halves of a vector that a position turns. Leaves of a tree count the
    splits on their way: their weights are 1 or -1. Or each input goes on evenly from neuron to
    neuron, as in a buffer of the last steps of each channel.
    """
    _, edge = ctx.edges_into(neurons)
    if np.all(np.abs(ctx.signals.weight[edge]) == 1.0):
        return True
    read = ctx.signals.read[edge].reshape(len(neurons), -1)
    steps = np.diff(read, axis=0)
    if len(neurons) > _TOO_FEW_EVEN and np.all(steps == steps[0]):
        return True
    breaks = min(np.count_nonzero(np.diff(each.ravel()) != 1) for each in (read, read.T))
    if (breaks + 1) * _MIN_RUN <= read.size:
        return True
    if len(neurons) < _MIN_NEURONS_OF_SPANS:
        return False
    among = distinct(read.ravel())
    place = np.searchsorted(among, read)
    spans = np.max(place, axis=1) - np.min(place, axis=1) + 1
    return bool(np.mean(spans) * _MIN_READ_PER_SPAN <= len(among))


def _bytes_of_gathered(ctx: LoweringContext, neurons: Ints) -> int:
    """The bytes of a gathered sum: no columns are listed that stand in order, nor weights of 1."""
    _, edge = ctx.edges_into(neurons)
    read = ctx.signals.read[edge]
    plain = _have_unit_weights(ctx, neurons)
    if plain and _are_arranged(read.reshape(len(neurons), -1)):
        return _IN_ORDER_BYTES
    in_order = bool(np.all(np.diff(read[: period_of(read) or None]) == 1))
    listed = 0 if in_order else BYTES_OF_COLUMN
    weighed = 0 if plain else _WEIGHT_BYTES
    return _GATHERED_BYTES + (listed + weighed) * len(edge)


def _are_arranged(read: Ints) -> bool:
    """Whether the inputs are neighbours, along whichever axis they are added."""
    found = arranged_inputs(read)
    return bool(np.all(np.diff((read if found is None else found).ravel()) == 1))


def _bytes_of_matrix(ctx: LoweringContext, neurons: Ints) -> int:
    _, edge = ctx.edges_into(neurons)
    return _GEMM_BYTES + _WEIGHT_BYTES * len(neurons) * len(distinct(ctx.signals.read[edge]))


def lower_sparse_sums(ctx: LoweringContext, block: Block) -> None:
    """Gather the inputs as [N, neurons, k], weigh them, add along the last axis, and flatten.

    Inputs that stand in order as [N, k, neurons], or between two axes of neurons, are added there.
    """
    _, edge = ctx.edges_into(block.neurons)
    read, weight = ctx.signals.read[edge].reshape(len(block.neurons), -1), ctx.signals.weight[edge]
    arranged = arranged_inputs(read) if np.all(weight == 1.0) else None
    if arranged is not None:
        rows, axis = in_shape(ctx, arranged, block.level), arranged.ndim - 1
    else:
        rows, axis = weighted_rows(ctx, block, read, weight), 2
    mean = ctx.net.aggregation_names[block.neurons[0]] == "mean"
    names = block.tensor("Total"), block.name("total")
    kind, whole = ReduceMean if mean else ReduceSum, arranged is not None and arranged.ndim > 2
    result = emit_reduced(ctx, kind, rows, [axis], names, keepdims=int(whole))
    if whole:
        names = block.tensor("Columns"), block.name("columns")
        result = ctx.emit(Flatten, [result], *names, axis=1)
    response, bias = responses(ctx, block.neurons)
    if mean and response[0] != 1.0:  # one number, which import takes for a slope of the mean
        factor, name = ctx.scalar(float(response[0])), block.name("response")
        result = ctx.emit(Mul, [result, factor], block.tensor("Response"), name)
        response = np.ones(len(response))
    activate(ctx, block, respond(ctx, block, result, response, bias))
