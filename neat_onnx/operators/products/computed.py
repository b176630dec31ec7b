"""Products of two computed matrices: sums of gated inputs, as attention has them.

The neuron of row i and column j sums a(i, k) · b(k, j) over k: all neurons of a row share their
values, all of a column their gates. Neurons of a product that a mask left out are computed and
dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.operators.formulas.activate import activate, groups_of, respond
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Mul
from neat_onnx.operators.layout.columns import in_shape
from neat_onnx.operators.layout.picking import pick_columns
from neat_onnx.operators.layout.shaping import Flatten
from neat_onnx.operators.spatial.layer import bind_spatial
from neat_onnx.operators.sums.dense import MatMul

_MIN_FACTORS = 4  # in all sums
_MAX_ELEMENTS_PER_NEURON = 8  # of the product; the others are dropped


@dataclass(frozen=True, eq=False)
class Product:
    """Neurons that are elements of a product of matrices, in several planes.

    Attributes:
        neurons: their positions, (n,).
        left: the signals of the values, (planes, rows, k).
        right: the signals of the gates, (planes, k, columns).
        position: of each neuron in the planes, (n,).
    """

    neurons: Ints
    left: Ints
    right: Ints
    position: Ints

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the product, the axis of planes left out where there is one."""
        shape = (len(self.left), self.left.shape[1], self.right.shape[2])
        return shape if shape[0] > 1 else shape[1:]

    @property
    def is_whole(self) -> bool:
        """Whether the neurons are all elements, one after the other."""
        return np.array_equal(self.position, np.arange(np.prod(self.shape)))

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Emit the MatMul, pick the elements that are neurons, and emit the activations."""
        planes = slice(None) if len(self.left) > 1 else 0
        factors = [in_shape(ctx, each[planes], block.level) for each in (self.left, self.right)]
        result = ctx.emit(MatMul, factors, block.tensor("MatMul"), block.name("matmul"))
        response = float(ctx.net.neurons.response[block.neurons[0]])
        if response != 1.0:
            inputs, name = [result, ctx.scalar(response)], block.name("response")
            result = ctx.emit(Mul, inputs, block.tensor("Response"), name)
        if self.is_whole and not ctx.options.fold:
            group, name = groups_of(ctx, block.neurons)[0], block.name("act")
            layer = block.tensor("Layer")
            layer = emit_activation(ctx, group.name, group.formula, result, layer, name)
            flat = (block.tensor("Flat"), block.name("flatten"))
            columns = Columns(layer, block.neurons, block.level, self.shape, flat)
            bind_spatial(ctx, block, result, columns)
            return
        names = block.tensor("Columns"), block.name("columns")
        result = ctx.emit(Flatten, [result], *names, axis=1)
        if not self.is_whole:
            everything = Columns(result, np.arange(np.prod(self.shape)), block.level)
            result = pick_columns(ctx, everything, self.position)
        one, none = np.ones(len(block.neurons)), np.zeros(len(block.neurons))
        activate(ctx, block, respond(ctx, block, result, one, none))


@lowers(Stage.LEVELS)
def plan_computed_products(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the sums of gated inputs of a level that are a product of two matrices."""
    if not ctx.options.allow_partial_connectivity or ctx.options.mixed_activations != "grouped":
        return Plan()
    claims = []
    for level, neurons in ctx.levels_of(free & _sums_of_gated(ctx)):
        for number, product in enumerate(_products(ctx, neurons), 1):
            suffix = "_product" if number == 1 else f"_product{number}"
            claims.append(Claim(Block(level, product.neurons, suffix), product.lower))
    return Plan(claims)


def _sums_of_gated(ctx: LoweringContext) -> Bools:
    """Sums of two inputs and more, all of them gated and of the weight 1, without a bias.

    Import takes a factor behind them for their response where the activation has a name.
    """
    net, signals = ctx.net, ctx.signals
    named = np.array([not name.startswith(FORMULA) for name in net.activations], np.bool_)
    plain = (net.neurons.response == 1.0) | named[net.neurons.activation]
    plain &= (net.aggregation_names == "sum") & (ctx.fan_in > 1) & (net.neurons.bias == 0.0)
    gated = signals.are_products(signals.read) & (signals.weight == 1.0)
    others = np.bincount(net.live.target[~gated], minlength=len(net)) > 0
    found: Bools = plain & ~others & ~net.is_input
    return found


def _products(ctx: LoweringContext, neurons: Ints) -> Iterator[Product]:
    """The products among neurons of a level, each of one fan-in, activation and response."""
    genes = ctx.net.neurons
    kinds = np.stack(
        [ctx.fan_in[neurons], genes.activation[neurons], genes.response[neurons]], axis=1
    )
    for kind in np.unique(kinds, axis=0):
        alike = neurons[np.all(kinds == kind, axis=1)]
        found = _product(ctx, alike)
        if found is not None:
            yield found


def _product(ctx: LoweringContext, neurons: Ints) -> Product | None:
    """The product that neurons of one fan-in are; None if they are none, or it is small.

    The terms of each sum are put in the order of their gates: a value may be read several times,
    as the probabilities are that a mask sets to 0.
    """
    _, edge = ctx.edges_into(neurons)
    values, gates, scales = ctx.signals.factors(ctx.signals.read[edge])
    if len(edge) < _MIN_FACTORS or np.any(scales != 1.0):
        return None
    left, right = (each.reshape(len(neurons), -1) for each in (values, gates))
    order = np.lexsort((left, right), axis=1)
    left, right = (np.take_along_axis(each, order, axis=1) for each in (left, right))
    row, column = _labels(left), _labels(right)
    plane = _planes(row, column)
    count, size = int(plane.max()) + 1, len(neurons)
    row, rows = _within(row, plane)
    column, columns = _within(column, plane)
    if size < count * rows * columns:  # elements are left out: not all columns begin in order
        by_gates = np.unique(right, axis=0, return_inverse=True)[1]
        column, columns = _within(by_gates.reshape(-1), plane)
    position = (plane * rows + row) * columns + column
    many = count * rows * columns > _MAX_ELEMENTS_PER_NEURON * size
    if many or max(rows, columns) < 2 or len(distinct(position)) < len(position):
        return None
    if count > 1 and min(rows, columns) < 2 and left.shape[1] == 2:
        return None  # choices by one condition, most likely: a Mul for each of two and an Add
    lefts = _filled(left, plane * rows + row, count * rows)
    rights = _filled(right, plane * columns + column, count * columns)
    if lefts is None or rights is None:
        return None
    by_column = rights.reshape(count, columns, -1)
    return Product(neurons, lefts.reshape(count, rows, -1), by_column.swapaxes(1, 2), position)


def _labels(rows: Ints) -> Ints:
    """A number for each row, the same for equal ones, counting in the order of appearance."""
    _, first, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    found: Ints = order[label.reshape(-1)]
    return found


def _planes(row: Ints, column: Ints) -> Ints:
    """The plane of each element: all of one row, or of one column, are in one plane.

    Each round hands the least number of a plane on, along rows, then along columns.
    """
    plane = row.copy()
    while True:
        least = plane.copy()
        for label in (column, row):
            of_label = np.full(int(label.max()) + 1, len(row))
            np.minimum.at(of_label, label, least)
            least = of_label[label]
        if np.array_equal(least, plane):
            return _labels(plane[:, None])
        plane = least


def _within(label: Ints, plane: Ints) -> tuple[Ints, int]:
    """The rank of each label in its plane, and the most labels of a plane."""
    width = int(label.max()) + 1
    known, rank = np.unique(plane * width + label, return_inverse=True)
    first = np.searchsorted(known, plane * width)
    found: Ints = rank.reshape(-1) - first
    return found, int(found.max()) + 1


def _filled(rows: Ints, position: Ints, count: int) -> Ints | None:
    """The row at each position; None if one has none."""
    if len(distinct(position)) < count:
        return None
    found = np.empty((count, rows.shape[1]), np.int64)
    found[position] = rows
    return found
