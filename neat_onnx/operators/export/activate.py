"""From pre-activations to activations: the last step of lowering any block of neurons."""

from functools import cache
from typing import NamedTuple

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.model.draft import FreshNames
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.expression import VARIABLE, Expression, scalar_slope
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.export.formula import emit_formula, whole_operator

_MIN_EQUAL_NUMBERS = 32  # of which one is written


class Group(NamedTuple):
    """Consecutive neurons of a block with one activation: its name for people, and its formula."""

    name: str
    formula: Expression
    neurons: Ints


def in_column_order(ctx: LoweringContext, neurons: Ints) -> Ints:
    """The neurons so that equal activations stand together, and outputs in their order.

    Activations come in the order in which they first occur.
    """
    rank: dict[int, int] = {}
    kinds = map(id, _formulas(ctx, neurons))
    group = np.array([rank.setdefault(kind, len(rank)) for kind in kinds], np.int64)
    outputs = ctx.net.output_neurons
    place = np.full(len(ctx.net), len(outputs), np.int64)
    place[outputs[::-1]] = np.arange(len(outputs))[::-1]
    return neurons[np.lexsort((neurons, place[neurons], group))]


def groups_of(ctx: LoweringContext, neurons: Ints) -> list[Group]:
    """Runs of neurons with one formula left to apply."""
    formulas, names = _formulas(ctx, neurons), ctx.net.activation_names[neurons]
    starts = [k for k, each in enumerate(formulas) if k == 0 or each is not formulas[k - 1]]
    return [
        Group(label_of(str(names[start])), formulas[start], neurons[start:stop])
        for start, stop in zip(starts, [*starts[1:], len(neurons)], strict=True)
    ]


def slopes(ctx: LoweringContext, neurons: Ints) -> Floats:
    """The slope that `fold` takes out of each neuron's activation: the c of f(c·z)."""
    return np.array([slope for slope, _ in _split(ctx, neurons)])


def _formulas(ctx: LoweringContext, neurons: Ints) -> list[Expression]:
    """The formula that is applied to each neuron's column; equal ones are one object."""
    return [formula for _, formula in _split(ctx, neurons)]


def _split(ctx: LoweringContext, neurons: Ints) -> list[tuple[float, Expression]]:
    """(slope, rest) of each neuron's activation, the slope 1 where it has to stay: a pre-activation
    that is read has none in it.
    """
    foldable = ~ctx.signals.pre_activation_is_read[neurons] & ctx.options.fold
    known: dict[Expression, Expression] = {}

    @cache
    def split(name: str, folds: bool) -> tuple[float, Expression]:
        formula = activation_named(name).expression
        slope, rest = slope_of(ctx, formula) if folds else (1.0, formula)
        return slope, known.setdefault(rest, rest)

    names = ctx.net.activation_names[neurons].tolist()
    return [split(*each) for each in zip(names, foldable.tolist(), strict=True)]


def slope_of(ctx: LoweringContext, formula: Expression) -> tuple[float, Expression]:
    """(slope, rest) of an activation: the c and f of f(c·z); c is 1 for one that stays whole."""
    return (1.0, formula) if whole_operator(ctx, formula) else scalar_slope(formula)


def respond(ctx: LoweringContext, block: Block, tensor: str, response: Floats, bias: Floats) -> str:
    """bias + response · tensor, one of each for every column; factors of 1 and addends of 0 are
    left out, and many equal ones are one.

    With `fold`, the slopes of the activations go in as well.
    """
    steep = slopes(ctx, block.neurons)
    tensor, bias = multiplied(ctx, block, tensor, response * steep), bias * steep
    if not np.any(bias):
        return tensor
    addend = ctx.initializer(block.weights("B"), one_of_many(bias))
    return ctx.emit("Add", [tensor, addend], *block.names("Biased", "bias"))


def multiplied(ctx: LoweringContext, block: Block, tensor: str, response: Floats) -> str:
    """response · tensor, one response for every column; the tensor itself where all are 1."""
    if np.all(response == 1.0):
        return tensor
    factor = ctx.initializer(block.weights("S"), one_of_many(response))
    return ctx.emit("Mul", [tensor, factor], *block.names("Response", "response"))


def one_of_many(values: Floats) -> Floats:
    """The first of many numbers that are equal, which broadcasts; else all."""
    are_equal = len(values) >= _MIN_EQUAL_NUMBERS and np.all(values == values[0])
    return values[:1] if are_equal else values


def activate(
    ctx: LoweringContext,
    block: Block,
    tensor: str,
    formula: Expression | None = None,
    *,
    with_identity: bool = False,
) -> None:
    """Apply each neuron's activation to its column of `tensor`, and bind the neurons.

    Args:
        tensor: the pre-activations [N, neurons], in the order of `block.neurons`.
        formula: the formula that remains, if it is the same for all neurons.
        with_identity: an Identity comes last, of which import makes the neurons.
    """
    if ctx.reads_state(block.neurons):
        ctx.bind(ctx.signals.pre_activation[block.neurons], tensor, block.level)
    groups = (
        groups_of(ctx, block.neurons) if formula is None else [Group("", formula, block.neurons)]
    )
    parts, labels = [tensor], [""]
    if several := len(groups) > 1:
        sizes = ctx.integers(block.weights("split"), [len(group.neurons) for group in groups])
        names = FreshNames(())
        labels = [f"_{names.like(group.name)}" for group in groups]
        wished = [block.tensor("Gemm") + label for label in labels]
        parts = ctx.emit_all("Split", [tensor, sizes], wished, block.name("split"), axis=1)
    for group, label, part in zip(groups, labels, parts, strict=True):
        result = part
        if group.formula != VARIABLE or not several:
            wish = block.tensor("Layer") + label, block.name("act") + label
            result = emit_formula(ctx, group.formula, result, *wish)
        if with_identity and (group.formula != VARIABLE or several):
            result = ctx.emit("Identity", [result], *block.names("End", "end"))
        ctx.bind(group.neurons, result, block.level)
