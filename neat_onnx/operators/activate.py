"""From pre-activations to activations: the last step of lowering any block of neurons."""

from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.lowering import Block, LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.network import Floats, Ints
from neat_onnx.operators.elementwise import Add, Mul
from neat_onnx.operators.formula import FormulaEmitter, scalar_slope
from neat_onnx.operators.shaping import Identity, Split


@dataclass(frozen=True)
class Group:
    """Consecutive neurons of a block with one activation."""

    name: str
    formula: Expression
    neurons: Ints


def in_column_order(ctx: LoweringContext, neurons: Ints) -> Ints:
    """The neurons so that those of one activation stand together, and outputs in their order.

    Activations come in the order in which they first occur.
    """
    names = ctx.net.neurons.activation[neurons]
    if ctx.options.fold:  # activations that differ in slope only are one
        cores = [str(_core(ctx, int(neuron))) for neuron in neurons]
        names = np.unique(cores, return_inverse=True)[1].reshape(-1)
    _, first, group = np.unique(names, return_index=True, return_inverse=True)
    outputs = ctx.net.output_neurons
    rank = np.full(len(ctx.net), len(outputs), np.int64)
    rank[outputs[::-1]] = np.arange(len(outputs))[::-1]
    return neurons[np.lexsort((neurons, rank[neurons], first[group.reshape(-1)]))]


def groups_of(ctx: LoweringContext, neurons: Ints) -> list[Group]:
    """Runs of neurons with one activation; with `fold`, without its slope."""
    groups: list[Group] = []
    names = ctx.net.activation_names[neurons]
    formulas = (
        [
            _core(ctx, int(neuron)) if ctx.options.fold else _formula(ctx, int(neuron))
            for neuron in neurons
        ]
        if len(set(names)) > 1
        else [(_core if ctx.options.fold else _formula)(ctx, int(neurons[0]))] * len(neurons)
    )
    start = 0
    for stop in range(1, len(neurons) + 1):
        if stop == len(neurons) or formulas[stop] != formulas[start]:
            groups.append(Group(str(names[start]), formulas[start], neurons[start:stop]))
            start = stop
    return groups


def slopes(ctx: LoweringContext, neurons: Ints) -> Floats:
    """The slope of each neuron's activation: the c of f(c·z)."""
    of = {name: scalar_slope(activation_named(name).expression)[0] for name in ctx.net.activations}
    return np.array([of[name] for name in ctx.net.activation_names[neurons]])


def _formula(ctx: LoweringContext, neuron: int) -> Expression:
    return activation_named(ctx.net.activation_names[neuron]).expression


def _core(ctx: LoweringContext, neuron: int) -> Expression:
    return scalar_slope(_formula(ctx, neuron))[1]


def respond(ctx: LoweringContext, block: Block, tensor: str, response: Floats, bias: Floats) -> str:
    """bias + response · tensor, one of each for every column; what changes nothing is left out.

    With `fold`, the slopes of the activations go in as well.
    """
    if ctx.options.fold:
        steep = slopes(ctx, block.neurons)
        response, bias = response * steep, bias * steep
    if np.any(response != 1.0):
        factor = ctx.initializer(block.weights("S"), response)
        tensor = ctx.emit(Mul, [tensor, factor], block.tensor("Response"), block.name("response"))
    if np.any(bias != 0.0):
        addend = ctx.initializer(block.weights("B"), bias)
        tensor = ctx.emit(Add, [tensor, addend], block.tensor("Biased"), block.name("bias"))
    return tensor


def activate(
    ctx: LoweringContext, block: Block, tensor: str, formula: Expression | None = None
) -> None:
    """Apply each neuron's activation to its column of `tensor`, and bind the neurons.

    Args:
        tensor: the pre-activations [N, neurons], in the order of `block.neurons`.
        formula: what is left to apply, if it is one thing for all of them.
    """
    groups = groups_of(ctx, block.neurons)
    if formula is not None:
        groups = [Group(groups[0].name, formula, block.neurons)]
    if len(groups) > 1 and not ctx.options.allow_mixed_activations:
        raise OptionError(
            f"level {block.level} has several activations: {', '.join(g.name for g in groups)}",
            where="allow_mixed_activations",
            hint="Allow mixed activations, or give the level's neurons one activation",
        )
    if len(groups) == 1:
        output, name = block.tensor("Layer"), block.name("act")
        result = (
            ctx.emit(Identity, [tensor], output, name)
            if groups[0].formula == VARIABLE
            else FormulaEmitter(ctx, tensor, output, name).emit(groups[0].formula)
        )
        ctx.bind(block.neurons, result)
        return
    _activate_apart(ctx, block, tensor, groups)


def _activate_apart(ctx: LoweringContext, block: Block, tensor: str, groups: list[Group]) -> None:
    sizes = ctx.integers(block.weights("split"), [len(group.neurons) for group in groups])
    labels = [ctx.fresh(f"{block.name('parts')}_{group.name}") for group in groups]
    labels = [label.removeprefix(block.name("parts")) for label in labels]
    stem = block.tensor("Gemm")
    outputs = [f"{stem}{label}" for label in labels]
    ctx.emit(Split, [tensor, sizes], outputs, block.name("split"), axis=1)
    for group, label, part in zip(groups, labels, outputs, strict=True):
        if group.formula == VARIABLE:
            ctx.bind(group.neurons, part)
            continue
        emitter = FormulaEmitter(
            ctx, part, block.tensor("Layer") + label, block.name("act") + label
        )
        ctx.bind(group.neurons, emitter.emit(group.formula))
