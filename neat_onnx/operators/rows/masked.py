"""Softmaxes of which elements are left out: rows of several widths, or results that nobody reads.

A causal mask leaves a row one element more than the row before. The rows are written as long as the
longest of them, with −∞ where they have no element: its softmax is 0, and nobody reads it.
Nor does anybody read a probability that was weighed with 0.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import DataType
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.cells import part_name
from neat_onnx.network.genes import Ints
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Log
from neat_onnx.operators.formulas.logic import Where
from neat_onnx.operators.layout.columns import in_shape
from neat_onnx.operators.layout.picking import pick_columns
from neat_onnx.operators.layout.shaping import Flatten
from neat_onnx.operators.rows.find import FoundRow
from neat_onnx.operators.rows.softmax import Softmax
from neat_onnx.operators.rows.tables import RESULT, SOFTMAX, X


def are_masked(rows: list[FoundRow]) -> bool:
    """Whether rows are of several widths, with one of a single element among them, or lack results.

    Without a mask there is no row of one element: nothing has to be computed for its only result.
    """
    widths = {row.width for row in rows}
    partly = max(widths) > 1 and not all(row.is_whole for row in rows)
    return rows[0].row is SOFTMAX and (partly or (1 in widths and len(widths) > 1))


class MaskedRows:
    """Lowers softmaxes of several widths, on one level and with one activation."""

    def __init__(self, rows: list[FoundRow]) -> None:
        self._rows = rows
        self._width = max(row.width for row in rows)
        self._is_there = np.arange(self._width) < np.array([[row.width] for row in rows])

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the mask and the Softmax, pick the elements that there are, and bind them."""
        softmax = self._softmax(ctx, block)
        names = block.tensor("Flat"), block.name("flatten")
        flat = Columns(
            ctx.emit(Flatten, [softmax], *names, axis=1),
            np.arange(self._is_there.size),
            block.level,
        )
        places = [k * self._width + at for k, row in enumerate(self._rows) for at in row.places]
        picked = pick_columns(ctx, flat, np.array(places))
        neurons = self._neurons(RESULT)
        if ctx.reads_state(neurons):
            ctx.bind(ctx.signals.pre_activation[neurons], picked, block.level)
        name = str(ctx.net.activation_names[neurons[0]])
        formula, output = activation_named(name).expression, block.tensor("Layer")
        layer = emit_activation(ctx, label_of(name), formula, picked, output, block.name("act"))
        ctx.bind(neurons, layer, block.level)
        for part in SOFTMAX.inner:
            ctx.bind(
                self._neurons(part.name), part_name(softmax, part.name), ctx.schedule.depth + 1
            )

    def _softmax(self, ctx: LoweringContext, block: Block) -> str:
        """The softmax of all rows, [N, rows, longest].

        Initializers are finite; −∞ is the logarithm of 0.
        """
        sources = [row.members[X] for row in self._rows]
        padded = [each + each[:1] * (self._width - len(each)) for each in sources]
        values = in_shape(ctx, np.array(padded), block.level)
        if not np.all(self._is_there):
            nothing = block.tensor("Nothing"), block.name("nothing")
            absent = ctx.emit(Log, [ctx.scalar(0.0)], *nothing)
            mask = ctx.initializer(block.weights("mask"), self._is_there, DataType.BOOL)
            names = block.tensor("Masked"), block.name("mask")
            values = ctx.emit(Where, [mask, values, absent], *names)
        return ctx.emit(Softmax, [values], block.tensor("Softmax"), block.name("softmax"), axis=-1)

    def _neurons(self, part: str) -> Ints:
        return np.concatenate([row.members[part] for row in self._rows])
