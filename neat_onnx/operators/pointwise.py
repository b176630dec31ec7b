"""Neurons that read one other each, scaled or not, or the sum or difference of two: elementwise.

A division of an image by 255, or the sum of a residual block, is as many neurons as pixels. A Gemm
for them would be a matrix of zeros with ones on a diagonal.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Bools, Floats, Ints, distinct
from neat_onnx.operators.activate import activate, in_column_order, respond, shift, slopes
from neat_onnx.operators.columns import exactly
from neat_onnx.operators.dense import responses
from neat_onnx.operators.elementwise import Add, Mul, Sub

_LEAST_MATRIX = 1 << 16  # weights of the Gemm that it would be
_FORMS: tuple[tuple[float, ...], ...] = ((1.0,), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0))


@lowers(Stage.LAYOUTS)
def plan_pointwise(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons of a level that read one or two others, where there are many of them."""
    if not ctx.options.allow_partial_connectivity:
        return Plan()
    claims = []
    for level, neurons in ctx.levels_of(free & _candidates(ctx)):
        for number, form in enumerate(_FORMS):
            members = _of_form(ctx, neurons, form)
            if _is_large(ctx, members) and _is_found(ctx, members, _factors(ctx, members)):
                block = Block(level, in_column_order(ctx, members), f"_pointwise{number}")
                claims.append(Claim(block, lower_pointwise))
    for level, neurons in ctx.levels_of(free & _scaled(ctx)):
        if _is_large(ctx, neurons) and _is_found(ctx, neurons, _weights(ctx, neurons, 1)[:, 0]):
            block = Block(level, in_column_order(ctx, neurons), "_scaled")
            claims.append(Claim(block, lower_scaled))
    return Plan(claims)


def _candidates(ctx: LoweringContext) -> Bools:
    """Sums of one input that do something to it, and of two."""
    genes = ctx.net.neurons
    plain = _identities(ctx) & (genes.bias == 0.0) & (genes.response == 1.0)
    fits: Bools = _sums(ctx) & ((ctx.fan_in == 2) | (ctx.fan_in == 1) & ~plain)
    return fits


def _scaled(ctx: LoweringContext) -> Bools:
    """Sums of one input by a weight other than 1, with the response 1."""
    unscaled = ctx.net.neurons.response == 1.0
    single = np.flatnonzero(_sums(ctx) & unscaled & (ctx.fan_in == 1))
    scaled = np.zeros(len(ctx.net), np.bool_)
    scaled[single] = _weights(ctx, single, 1)[:, 0] != 1.0
    return scaled


def _sums(ctx: LoweringContext) -> Bools:
    sums: Bools = (ctx.net.aggregation_names == "sum") & ~ctx.net.is_input
    return sums


def _identities(ctx: LoweringContext) -> Bools:
    net = ctx.net
    known = [activation_named(name).expression == VARIABLE for name in net.activations]
    return np.array(known, np.bool_)[net.neurons.activation]


def _is_large(ctx: LoweringContext, neurons: Ints) -> bool:
    return len(neurons) * len(distinct(_sources(ctx, neurons).ravel())) >= _LEAST_MATRIX


def _is_found(ctx: LoweringContext, neurons: Ints, factors: Floats) -> bool:
    """Whether import finds the neurons again.

    It makes them of an Add of biases, and of the Identity of an identity activation. After a factor
    alone it waits until something reads them; a tensor that is rearranged before that is not found.
    """
    ends = np.all(_identities(ctx)[neurons])
    return bool(ends or np.all(factors == 1.0) or np.any(ctx.net.neurons.bias[neurons]))


def _factors(ctx: LoweringContext, neurons: Ints) -> Floats:
    """The factors that stand in an array of their own, 1 where one number does for all."""
    response = ctx.net.neurons.response[neurons]
    single = bool(np.all(response == response[:1])) and not ctx.options.fold
    return np.ones(len(neurons)) if single else response * slopes(ctx, neurons)


def _of_form(ctx: LoweringContext, neurons: Ints, form: tuple[float, ...]) -> Ints:
    """The neurons whose inputs have these weights, in this order."""
    members = neurons[ctx.fan_in[neurons] == len(form)]
    same = np.all(_weights(ctx, members, len(form)) == form, axis=1)
    found: Ints = members[same]
    return found


def _weights(ctx: LoweringContext, neurons: Ints, inputs: int) -> Floats:
    _, edge = ctx.edges_into(neurons)
    weights: Floats = ctx.net.live.weight[edge].reshape(-1, inputs)
    return weights


def _sources(ctx: LoweringContext, neurons: Ints) -> Ints:
    """The signals that neurons read, (neurons, inputs)."""
    _, edge = ctx.edges_into(neurons)
    return ctx.signals.read[edge].reshape(len(neurons), -1) if len(neurons) else edge.reshape(0, 1)


def lower_pointwise(ctx: LoweringContext, block: Block) -> None:
    """Emit one Add or Sub, or nothing but the activations."""
    sources = _sources(ctx, block.neurons)
    weights = _weights(ctx, block.neurons[:1], sources.shape[1])[0]
    order = np.argsort(-weights, kind="stable")  # the one that is taken away comes last
    parts = [exactly(ctx, column, block.level) for column in sources.T[order]]
    result = parts[0]
    if len(parts) > 1:
        operator, stem = (Sub, "Difference") if np.any(weights < 0) else (Add, "Sum")
        result = ctx.emit(operator, parts, block.tensor(stem), block.name(stem.lower()))
    activate(ctx, block, _responded(ctx, block, result))


def lower_scaled(ctx: LoweringContext, block: Block) -> None:
    """Emit a Mul by the weights, one number where all are the same, and an Add of the biases."""
    neurons, steep = block.neurons, slopes(ctx, block.neurons)
    factor = _weights(ctx, neurons, 1)[:, 0] * steep
    shared = bool(np.all(factor == factor[0]))
    weights = ctx.initializer(block.weights("W"), factor[:1] if shared else factor)
    tensor = exactly(ctx, _sources(ctx, neurons)[:, 0], block.level)
    tensor = ctx.emit(Mul, [tensor, weights], block.tensor("Scaled"), block.name("scale"))
    activate(ctx, block, shift(ctx, block, tensor, ctx.net.neurons.bias[neurons] * steep))


def _responded(ctx: LoweringContext, block: Block, tensor: str) -> str:
    """The responses and biases; one number where all responses are the same."""
    response, bias = responses(ctx, block.neurons)
    if np.any(bias) or np.any(response != response[0]) or ctx.options.fold:
        return respond(ctx, block, tensor, response, bias)
    if response[0] == 1.0:
        return tensor
    factor = ctx.scalar(float(response[0]))
    return ctx.emit(Mul, [tensor, factor], block.tensor("Response"), block.name("response"))
