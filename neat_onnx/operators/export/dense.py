"""Gemm: neurons that sum their inputs, or take their mean.

A level of such neurons is one Gemm whose weights are the genome's, bit for bit. Missing connections
are zeros; where a zero could meet an overflow, the neurons are split into several. A level with
several activations may be written neuron by neuron, as the JSON ONNX of NeatapticTS has it: each is
a Gemm of one row and an activation, and a Concat makes the layer of them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import Bools, Floats, Ints, distinct, place_among
from neat_onnx.operators.export.activate import (
    activate,
    groups_of,
    in_column_order,
    respond,
    slope_of,
    slopes,
)
from neat_onnx.operators.export.columns import columns_for, flat_tensor
from neat_onnx.operators.export.formula import emit_formula


@lowers(Stage.REST)
def plan_dense(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim every neuron whose aggregation is linear, or that has no inputs."""
    return Plan([claim for at in ctx.levels_of(free) for claim in _claims(ctx, *at)])


def _claims(ctx: LoweringContext, level: int, neurons: Ints) -> list[Claim]:
    names = ctx.net.aggregation_names[neurons]
    mean = (names == "mean") & (ctx.fan_in[neurons] > 0)
    return [
        Claim(
            Block(level, in_column_order(ctx, part), f"{stem}{k}" if k > 1 else first), lower_dense
        )
        for which, first, stem in ((~mean, "", "_"), (mean, "_mean", "_mean"))
        for k, part in enumerate(by_overflowing_source(ctx, neurons[which]), 1)
    ]


def lower_dense(ctx: LoweringContext, block: Block) -> None:
    """Emit one Gemm, with its bias where no response comes between, and the activations."""
    weights, tensor = weight_matrix(ctx, block)
    _check_connectivity(ctx, block, weights)
    response, bias = responses(ctx, block.neurons)
    inputs, fold = ctx.fan_in[block.neurons], ctx.options.fold
    mean = (ctx.net.aggregation_names[block.neurons] == "mean") & (inputs > 0)
    count = np.where(mean, inputs, 1).astype(np.float64)
    if fold:
        steep = slopes(ctx, block.neurons)
        weights, bias = weights * (response * steep / count)[:, None], bias * steep
    plain = fold or bool(np.all(response == 1.0) and np.all(count == 1.0))
    # without a bias between them, optimizers would make one factor of a response and a slope
    apart = fold or (not plain and bool(np.any(bias)))
    slope, core = (1.0, None) if apart else shared_slope(ctx, block)
    if plain:
        own = {"W": weights, "B": bias}
        result = gemm(ctx, block, tensor, own, alpha=slope, beta=slope)
    else:
        factors: dict[str, Any] = {} if slope == 1.0 else {"alpha": slope}
        result = gemm(ctx, block, tensor, {"W": weights}, **factors)
        if np.any(count != 1.0):
            divisor = ctx.initializer(block.weights("K"), count)
            result = ctx.emit("Div", [result, divisor], *block.names("Mean", "mean"))
        result = respond(ctx, block, result, response, bias)
    activate(ctx, block, result, core)


def weighted_sums(ctx: LoweringContext, block: Block, which: Bools | None = None) -> str:
    """Emit the Gemm of the connections `which` of plain sums; return its tensor [N, neurons].

    The block's neurons must read the same sources among those that may overflow
    (`by_overflowing_source`), and have the response 1.
    """
    weights, tensor = weight_matrix(ctx, block, which)
    own = {"W": weights, "B": responses(ctx, block.neurons)[1]}
    return gemm(ctx, block, tensor, own, alpha=1.0, beta=1.0)


def gemm(
    ctx: LoweringContext,
    block: Block,
    tensor: str,
    weights: Mapping[str, Floats],
    names: tuple[str, str] = ("Gemm", "gemm"),
    **factors: Any,
) -> str:
    """alpha · tensor · weights + beta · bias.

    Args:
        weights: the weights, and the bias if there is one, by the stems of their names.
        names: the stems of the result's name, and of the node's.
        factors: alpha and beta, where they are written.
    """
    own = [ctx.initializer(block.weights(stem), values) for stem, values in weights.items()]
    return ctx.emit("Gemm", [tensor, *own], *block.names(*names), **factors, transB=1)


def shared_slope(ctx: LoweringContext, block: Block) -> tuple[float, Expression | None]:
    """(slope, rest) of a block's activation, the rest None where it has several.

    The slope is 1 where a Gemm's attributes cannot carry it: they are float32, and a state that
    something reads must not have the slope in it.
    """
    groups = groups_of(ctx, block.neurons)
    if len(groups) > 1:
        return 1.0, None
    formula = groups[0].formula
    if ctx.reads_state(block.neurons):
        return 1.0, formula
    slope, core = slope_of(ctx, formula)
    held = float(np.float32(slope))
    exact = held == slope or (ctx.options.dtype == "float32" and np.isfinite(held))
    return (slope, core) if exact else (1.0, formula)


def weight_matrix(
    ctx: LoweringContext, block: Block, which: Bools | None = None, columns: Columns | None = None
) -> tuple[Floats, str]:
    """Weights (neurons, width), and the tensor [N, width] that they multiply.

    Duplicate connections add up. Neurons without inputs have zeros.

    Args:
        which: of the block's connections, in the order of `inputs_of`; None for all.
        columns: a tensor that has all that they read; None for any.
    """
    row, read, weight = ctx.inputs_of(block.neurons)
    if which is not None:
        row, read, weight = row[which], read[which], weight[which]
    if columns is None:
        needed = distinct(np.concatenate([read, ctx.take_unread_inputs()]))
        needed = needed if needed.size else ctx.net.input_neurons[:1]
        columns = columns_for(ctx, needed, len(block.neurons), block.level)
    rows, width = len(block.neurons), len(columns.signals)
    position = place_among(columns.signals, ctx.signals.count)
    flat = np.bincount(row * width + position[read], weight, rows * width)
    return flat.astype(np.float64).reshape(rows, width), flat_tensor(ctx, columns)


def responses(ctx: LoweringContext, neurons: Ints) -> tuple[Floats, Floats]:
    """(response, bias) of each neuron; one without inputs has the response 1, and its aggregate in
    the bias.
    """
    genes = ctx.net.neurons
    response, bias = genes.response[neurons].copy(), genes.bias[neurons].copy()
    for k in np.flatnonzero(ctx.fan_in[neurons] == 0):
        empty = aggregation_named(ctx.net.aggregation_names[neurons[k]]).empty
        bias[k] += response[k] * empty
        response[k] = 1.0
    return response, bias


def _check_connectivity(ctx: LoweringContext, block: Block, weights: Floats) -> None:
    if ctx.options.allow_partial_connectivity:
        return
    row, _ = ctx.net.edges_into(block.neurons)
    if len(row) != weights.size:
        missing = int(np.argmin(np.bincount(row, minlength=len(block.neurons))))
        raise OptionError(
            f"{ctx.net.label(int(block.neurons[missing]))} is not connected to all of the layer "
            "before it",
            where="allow_partial_connectivity",
            hint="Allow partial connectivity: missing connections become zero weights",
        )


def by_overflowing_source(ctx: LoweringContext, neurons: Ints) -> list[Ints]:
    """Split so that neurons together read the same sources among those that may overflow."""
    if not neurons.size:
        return []
    if not ctx.far_from_zero:  # nothing overflows
        return [neurons]
    row, source, _ = ctx.inputs_of(neurons)
    overflows = ctx.signals.overflows[source]
    if not np.any(overflows):
        return [neurons]
    row, source = row[overflows], source[overflows]
    bounds = np.searchsorted(row, np.arange(len(neurons) + 1)).tolist()
    parts: dict[tuple[int, ...], list[int]] = {}
    for neuron, start, stop in zip(neurons.tolist(), bounds, bounds[1:], strict=False):
        key = tuple(distinct(source[start:stop]).tolist())
        parts.setdefault(key, []).append(neuron)
    return [np.array(part, np.int64) for part in parts.values()]


# --- neuron by neuron ----------------------------------------------------------------------------


@lowers(Stage.LAYOUTS)
def plan_per_neuron(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim levels of plain sums with several activations, if the options ask for it."""
    if ctx.options.mixed_activations != "per_neuron":
        return Plan()
    levels = ((level, found) for level, found in ctx.levels_of(free) if _is_plain(ctx, found))
    return Plan([Claim(Block(level, neurons), lower_per_neuron) for level, neurons in levels])


def _is_plain(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether they sum, have several activations, and a layer that all read may be padded."""
    sums = ctx.net.aggregation_names[neurons] == "sum"
    return (
        bool(np.all(sums & (ctx.net.neurons.response[neurons] == 1.0)))
        and not ctx.reads_state(neurons)
        and len(set(ctx.net.activation_names[neurons])) > 1
        and len(by_overflowing_source(ctx, neurons)) == 1
    )


def lower_per_neuron(ctx: LoweringContext, block: Block) -> None:
    """Emit a Gemm and an activation for each neuron, and a Concat."""
    weights, tensor = weight_matrix(ctx, block)
    _, bias = responses(ctx, block.neurons)
    parts = []
    for k, activation in enumerate(ctx.net.activation_names[block.neurons].tolist()):
        one = Block(block.level, block.neurons[k : k + 1], f"_n{k}")
        own = {"W": weights[k : k + 1], "B": bias[k : k + 1]}
        result = gemm(ctx, one, tensor, own, alpha=1.0, beta=1.0)
        formula = activation_named(activation).expression
        parts.append(emit_formula(ctx, formula, result, *one.names("Layer", "act")))
    layer = ctx.emit("Concat", parts, *block.names("Layer", "concat"), axis=1)
    ctx.bind(block.neurons, layer, block.level)
