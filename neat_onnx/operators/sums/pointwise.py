"""Neurons that read one other each, or two that they add or compare, scaled or not: elementwise.

A division of an image by 255, or the sum of a residual block, is as many neurons as pixels. A Gemm
for them would be a matrix of zeros with ones on a diagonal.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Node
from neat_onnx.network.genes import Bools, Floats, Ints, distinct
from neat_onnx.network.structure import IMPORTED
from neat_onnx.operators.formulas.activate import (
    activate,
    identities,
    in_column_order,
    kinds_of,
    respond,
    slopes,
)
from neat_onnx.operators.formulas.elementwise import Add, Mul, Sub
from neat_onnx.operators.formulas.several import Max, Mean, Min, Sum
from neat_onnx.operators.layout.columns import exactly
from neat_onnx.operators.sums.copies import are_read_here, have_formulas
from neat_onnx.operators.sums.dense import responses
from neat_onnx.operators.sums.partition import by_overflowing_source
from neat_onnx.operators.sums.scaled import is_spread, lower_scaled, responds_alone, waits

_MIN_WEIGHTS_GATHERED = 1 << 16  # of the Gemm that it would be
_MIN_WEIGHTS_IN_ORDER = 1 << 10  # the same, where all sources stand in order
_MIN_WEIGHTS_ALONG = 36  # the same, where neurons read one signal after the other
_MIN_WEIGHTS_IMPORTED = 4  # the same, where a model had them, most likely as an elementwise node
_MIN_WEIGHTS_OF_TWO = 1 << 6  # the same, where two are added: the gates of a cell are few
_MAX_SHARE_SCALED = 0.5  # of a run of neurons, with other weights than 1
_MIN_RUN = 8  # elements of a run, on average
_MAX_GEMMS = 1  # neurons that read what may overflow each need a Gemm of their own
_GEMM_BYTES, _WEIGHT_BYTES = 250, 4  # of a Gemm and its activation, and of each weight
_INPUT_BYTES, _ELEMENT_BYTES = 130, 12  # of nodes that gather and scale an input; of its elements
_FORMS: tuple[tuple[float, ...], ...] = ((1.0,), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0))
_MAX_NEURONS_IN_GEMM = 32  # that could stand in an elementwise node
_MAX_PARTS, _MIN_NEURONS_IN_PART = 8, 4  # and neurons, on average, where values stand once in each
_OF_TWO: dict[str, type[Node]] = {"max": Max, "min": Min, "mean": Mean}
_IN_FLOAT64 = ("max", "min")  # runtimes have kernels for these


@lowers(Stage.LEVELS)
def plan_pairs(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons that take the largest, the smallest or the mean of two, if there are many."""
    if not ctx.options.allow_partial_connectivity:
        return Plan()
    claims = []
    names, pairs = ctx.net.aggregation_names, free & (ctx.fan_in == 2)
    for aggregation in _OF_TWO if ctx.options.dtype == "float32" else _IN_FLOAT64:
        for level, neurons in ctx.levels_of(pairs & (names == aggregation)):
            members = _of_form(ctx, neurons, (1.0, 1.0))
            blocks = _blocks(ctx, level, members, f"_pairs_{aggregation}")
            claims += [Claim(block, lower_pointwise) for block in blocks]
    return Plan(claims)


@lowers(Stage.LAYOUTS)
def plan_pointwise(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons of a level that read one or two others, where there are many of them."""
    if not ctx.options.allow_partial_connectivity:
        return Plan()
    claims = []
    scaled = {inputs: _scaled(ctx, inputs) for inputs in (1, 2)}
    for level, neurons in ctx.levels_of(free & _candidates(ctx) & ~scaled[1]):
        for number, form in enumerate(_FORMS):
            members = _of_form(ctx, neurons, form)
            blocks = _blocks(ctx, level, members, f"_pointwise{number}")
            claims += [Claim(block, lower_pointwise) for block in blocks]
    for inputs, suffix in ((1, "_scaled"), (2, "_weighted")):
        for level, neurons in ctx.levels_of(free & scaled[inputs]):
            blocks = _blocks(ctx, level, neurons, suffix)
            claims += [
                Claim(block, lower_scaled)
                for block in blocks
                if not _grow_by_a_factor(ctx, block.neurons)
                if inputs == 1
                or _is_in_runs(_sources(ctx, block.neurons))
                or _are_many(ctx, block.neurons)
            ]
    return Plan(claims)


def _grow_by_a_factor(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether import would take the one factor of a few neurons with biases for a part of the
    functions, without a name, that they read. It makes neurons of a Gemm.
    """
    sources = _sources(ctx, neurons)
    if sources.shape[1] != 1 or len(neurons) > _MAX_NEURONS_IN_GEMM:
        return False
    weights, biased = _weights(ctx, neurons, 1), np.any(ctx.net.neurons.bias[neurons])
    alike = bool(biased and np.all(weights == weights[0])) and have_formulas(ctx, sources[:, 0])
    return alike and len(by_overflowing_source(ctx, neurons)) == 1


def _blocks(ctx: LoweringContext, level: int, neurons: Ints, suffix: str) -> list[Block]:
    """A block for each activation that many of the neurons have.

    Neurons with one gated input, and others, stand apart: import makes neurons of copies and of
    products by different nodes.
    """
    sources = _sources(ctx, neurons)
    gated = np.count_nonzero(ctx.signals.are_products(sources), axis=1) == 1
    codes = 2 * kinds_of(ctx, neurons) + gated
    blocks: list[Block] = []
    for code in distinct(codes).tolist():
        alike = neurons[codes == code]
        if not (_is_large(ctx, alike) or _are_of_inputs(ctx, alike)):
            continue
        for part in _with_each_value_once(ctx, alike):
            name = f"{suffix}_{len(blocks) + 1}" if blocks else suffix
            blocks.append(Block(level, in_column_order(ctx, part), name))
    return blocks


def _with_each_value_once(ctx: LoweringContext, neurons: Ints) -> list[Ints]:
    """The neurons in parts, where they add two products each: a value is read once in a part.

    Import makes gated connections of such products, and neurons of products of other tensors.
    """
    sources = _sources(ctx, neurons)
    if sources.shape[1] != 2 or not np.all(ctx.signals.are_products(sources)):
        return [neurons]
    added = np.all(ctx.net.aggregation_names[neurons] == "sum")
    if not added or np.any(np.abs(_weights(ctx, neurons, 2)) != 1.0):
        return [neurons]
    values = ctx.signals.factors(sources.ravel())[0].reshape(sources.shape)
    parts: list[Ints] = []
    rest = np.arange(len(neurons))
    while rest.size and len(parts) < min(_MAX_PARTS, len(neurons) // _MIN_NEURONS_IN_PART):
        flat = values[rest].ravel()
        first = np.zeros(flat.size, np.bool_)
        first[np.unique(flat, return_index=True)[1]] = True
        once = first.reshape(-1, 2).all(axis=1)
        parts.append(neurons[rest[once]])
        rest = rest[~once]
    return [neurons] if rest.size else parts


def _are_of_inputs(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons are one function, without a name, of the elements of an input, in order.

    No copy is needed then: import makes neurons of the results that others read.
    """
    sources, genes = _sources(ctx, neurons), ctx.net.neurons
    if sources.shape[1] != 1 or not have_formulas(ctx, neurons):
        return False
    plain = not np.any(genes.bias[neurons]) and bool(np.all(genes.response[neurons] == 1.0))
    read = (port.neurons.ravel() for port in ctx.net.inputs)
    return plain and any(np.array_equal(sources[:, 0], each) for each in read)


def _candidates(ctx: LoweringContext) -> Bools:
    """Sums of one input, and of two."""
    fits: Bools = _sums(ctx) & ((ctx.fan_in == 2) | (ctx.fan_in == 1))
    return fits


def _scaled(ctx: LoweringContext, inputs: int) -> Bools:
    """Sums of so many inputs by weights of no other form; of two inputs, with the response 1.

    A few sums of one input may have the weight 1, as a scaler gives to features that are constant;
    in a model one node multiplies all of a run, as masks do of ones and a few zeros.
    """
    found = _sums(ctx) & (ctx.fan_in == inputs)
    if inputs > 1:
        found &= ctx.net.neurons.response == 1.0
    found = np.flatnonzero(found)
    weights = _weights(ctx, found, inputs)
    forms = [form for form in _FORMS if len(form) == inputs]
    others = ~np.any([np.all(weights == form, axis=1) for form in forms], axis=0)
    if inputs == 1 and np.any(others):
        run = np.cumsum(np.diff(_sources(ctx, found)[:, 0], prepend=0) != 1)
        run = np.unique([ctx.schedule.level[found], run], axis=1, return_inverse=True)[1].ravel()
        share = np.bincount(run, others) / np.bincount(run)
        others |= share[run] > (0.0 if ctx.net.library == IMPORTED else _MAX_SHARE_SCALED)
    scaled = np.zeros(len(ctx.net), np.bool_)
    scaled[found[others]] = True
    return scaled


def _sums(ctx: LoweringContext) -> Bools:
    sums: Bools = (ctx.net.aggregation_names == "sum") & ~ctx.net.is_input
    return sums


def _is_large(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether a Gemm, or several, would be much larger than elementwise nodes, which gather where
    sources are in no order.
    """
    sources = _sources(ctx, neurons)
    matrix = len(neurons) * len(distinct(sources.ravel()))
    if matrix == sources.size and sources.shape[1] == 2:
        return False
    along = _MIN_WEIGHTS_IMPORTED if ctx.net.library == IMPORTED else _MIN_WEIGHTS_ALONG
    if matrix >= along and sources.shape[1] == 1 and np.all(np.diff(sources[:, 0]) == 1):
        return True
    in_order = _MIN_WEIGHTS_OF_TWO if sources.shape[1] == 2 else _MIN_WEIGHTS_IN_ORDER
    if ctx.net.library == IMPORTED and ctx.net.aggregation_names[neurons[0]] in _IN_FLOAT64:
        in_order = _MIN_WEIGHTS_IMPORTED  # no Gemm does that
    least = in_order if _is_in_runs(sources) else _MIN_WEIGHTS_GATHERED
    return matrix >= least or _are_many(ctx, neurons)


def _are_many(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether values that may overflow would need several Gemms, larger than elementwise nodes."""
    parts = by_overflowing_source(ctx, neurons)
    if len(parts) <= _MAX_GEMMS:
        return False
    sources = _sources(ctx, neurons)
    if _is_in_runs(sources):
        return True
    inputs = _INPUT_BYTES + _ELEMENT_BYTES * len(neurons)
    gathered = _INPUT_BYTES + sources.shape[1] * inputs
    weights = (len(part) * len(distinct(_sources(ctx, part).ravel())) for part in parts)
    return bool(gathered <= _GEMM_BYTES * len(parts) + _WEIGHT_BYTES * sum(weights))


def _is_in_runs(sources: Ints) -> bool:
    """Whether neighbours read the same signals or neighbouring ones, but for a few."""
    steps = np.diff(sources, axis=0)
    breaks = np.count_nonzero((steps != 0) & (steps != 1), axis=0)
    return bool(np.all(breaks * _MIN_RUN <= len(sources)))


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
    weights: Floats = ctx.signals.weight[edge].reshape(-1, inputs)
    return weights


def _sources(ctx: LoweringContext, neurons: Ints) -> Ints:
    """The signals that neurons read, (neurons, inputs)."""
    _, edge = ctx.edges_into(neurons)
    return ctx.signals.read[edge].reshape(len(neurons), -1) if len(neurons) else edge.reshape(0, 1)


def lower_pointwise(ctx: LoweringContext, block: Block) -> None:
    """Emit one Add or Sub, or nothing but the activations."""
    if is_spread(ctx, block.neurons) or responds_alone(ctx, block.neurons):
        lower_scaled(ctx, block)
        return
    sources = _sources(ctx, block.neurons)
    weights = _weights(ctx, block.neurons[:1], sources.shape[1])[0]
    aggregation = str(ctx.net.aggregation_names[block.neurons[0]])
    modulated = aggregation == "sum" and _are_modulated(ctx, sources, weights)
    if modulated:  # the gated input comes last
        gated = ctx.signals.are_products(sources)
        sources = np.take_along_axis(sources, np.argsort(gated, axis=1), axis=1)
    order = np.argsort(-weights, kind="stable")  # the one that is taken away comes last
    parts = [exactly(ctx, column, block.level) for column in sources.T[order]]
    if modulated:
        parts[0] = _copied(ctx, block, parts[0])
    result = parts[0]
    if len(parts) > 1:
        added, stem = (Sub, "Difference") if np.any(weights < 0) else (Add, "Sum")
        operator = _OF_TWO.get(aggregation, added)
        stem = aggregation.title() if operator is not added else stem
        result = ctx.emit(operator, parts, block.tensor(stem), block.name(stem.lower()))
    elif _is_copy(ctx, block.neurons):
        result = _copied(ctx, block, result)
    result = _responded(ctx, block, result)
    bias = ctx.net.neurons.bias[block.neurons]
    waiting = len(parts) == 1 and waits(ctx, sources, _factors(ctx, block.neurons), bias)
    activate(ctx, block, result, with_identity=waiting)


def _are_modulated(ctx: LoweringContext, sources: Ints, weights: Floats) -> bool:
    """Whether neurons add one gated input to another one: import makes neurons of a copy of that,
    and gives them the gated input; of a sum alone it makes neurons of the products, too.
    """
    gated = np.count_nonzero(ctx.signals.are_products(sources), axis=1)
    return len(weights) > 1 and bool(np.all(weights == 1.0) and np.all(gated == 1))


def _copied(ctx: LoweringContext, block: Block, tensor: str) -> str:
    """A sum of one tensor, of which import makes neurons, and which optimizers leave alone."""
    return ctx.emit(Sum, [tensor], block.tensor("Copy"), block.name("copy"))


def _is_copy(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons hand on others as they are, several are one function of one other, or they
    may be taken for a part of the function that another is: where that has no name, or they are
    few, for the sake of some bytes.

    Import makes neurons of a Sum of one tensor. It makes them of biases, too, but for one number
    that is added to functions without a name: they would grow by it.
    """
    sources, genes = _sources(ctx, neurons), ctx.net.neurons
    if np.any(ctx.signals.are_products(sources)):
        return False
    if np.any(genes.bias[neurons]):
        one = bool(np.all(genes.bias[neurons] == genes.bias[neurons[0]]))
        return one and have_formulas(ctx, sources.ravel())
    if _are_of_inputs(ctx, neurons):
        return False
    plain = identities(ctx) & (genes.response == 1.0)
    different = len(distinct(sources.ravel()))
    is_small = len(neurons) * different < _MIN_WEIGHTS_IN_ORDER
    few = is_small and bool(np.all(genes.response[neurons] == 1.0))
    alike = bool(np.all(plain[neurons])) or different < len(neurons)
    return alike or few or have_formulas(ctx, sources.ravel()) or are_read_here(ctx, sources)


def _responded(ctx: LoweringContext, block: Block, tensor: str) -> str:
    """The responses and biases; one number where all responses are the same."""
    response, bias = responses(ctx, block.neurons)
    if np.any(bias) or np.any(response != response[0]) or ctx.options.fold:
        return respond(ctx, block, tensor, response, bias)
    if response[0] == 1.0:
        return tensor
    factor = ctx.scalar(float(response[0]))
    return ctx.emit(Mul, [tensor, factor], block.tensor("Response"), block.name("response"))
