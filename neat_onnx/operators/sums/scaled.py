"""Neurons that weigh one input each, or two: a Mul by the weights, and an Add of the biases.

Where they respond to their input by a factor besides, as import makes it of x / 255 - mean over
deviation, a Sum of one tensor stands between the two factors: import makes neurons of it.

The pixels of a channel often share a weight and a bias, as after a normalization. Then the tensor
has an axis for the channels, and the weights and biases are one number for each.
"""

import math
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.window import Sizes
from neat_onnx.operators.formulas.activate import activate, multiplied, shift, slopes
from neat_onnx.operators.formulas.elementwise import Add, Mul
from neat_onnx.operators.formulas.several import Sum
from neat_onnx.operators.layout.columns import exactly, in_shape
from neat_onnx.operators.layout.shaping import Flatten

_MIN_NUMBERS_SAVED = 64
_MAX_PERIODS = 32  # that are tried


@dataclass(frozen=True)
class _Layout:
    """The axes of a tensor along one of which weights and biases differ.

    Attributes:
        shape: the sizes of both axes.
        of_parameters: the shape of the parameters, which broadcast.
    """

    shape: Sizes
    of_parameters: Sizes

    def parameters(self, values: Floats) -> Floats:
        """One number for each channel, in the shape of parameters."""
        found: Floats = np.take(values.reshape(self.shape), 0, 1 - self._axis)
        return found.reshape(self.of_parameters)

    def spread(self, sources: Ints) -> Ints:
        """Sources in this shape, or once each where all parameters meet the same ones: a tensor of
        these broadcasts.
        """
        shaped = sources.reshape(self.shape)
        first = np.take(shaped, [0], self._axis)
        return first if np.all(shaped == first) else shaped

    @property
    def _axis(self) -> int:
        """The axis along which parameters differ."""
        return 0 if len(self.of_parameters) == 2 else 1


def lower_scaled(ctx: LoweringContext, block: Block) -> None:
    """Emit a Mul by the weights of each input, one number where all are the same, an Add of two
    inputs, a Mul by the responses, and an Add of the biases.
    """
    neurons, steep = block.neurons, slopes(ctx, block.neurons)
    _, edge = ctx.edges_into(neurons)
    sources = ctx.signals.read[edge].reshape(len(neurons), -1)
    response, bias = ctx.net.neurons.response[neurons], ctx.net.neurons.bias[neurons] * steep
    if ctx.options.fold:
        response, steep = np.ones(len(neurons)), response * steep
    factors = ctx.signals.weight[edge].reshape(sources.shape) * steep[:, None]
    responds = bool(np.any(response != 1.0))
    layout = _layout([*factors.T, response, bias])
    parts = [
        _times(ctx, block, *each, layout, whole=responds)
        for each in zip(sources.T, factors.T, strict=True)
    ]
    result = parts[0]
    if len(parts) > 1:
        result = ctx.emit(Add, parts, block.tensor("Sum"), block.name("sum"))
    elif responds:
        result = ctx.emit(Sum, parts, block.tensor("Copy"), block.name("copy"))
    result = multiplied(ctx, block, result, _in_layout(response, layout))
    result = shift(ctx, block, result, _in_layout(bias, layout))
    if layout is not None:
        result = ctx.emit(Flatten, [result], block.tensor("Flat"), block.name("flat"), axis=1)
    waiting = len(parts) == 1 and not responds and waits(ctx, sources, factors, bias)
    activate(ctx, block, result, with_identity=waiting)


def responds_alone(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons have one input each, and factors of their own beside its weight."""
    _, edge = ctx.edges_into(neurons)
    factors = ctx.net.neurons.response[neurons]
    return len(edge) == len(neurons) and bool(np.any(factors != 1.0))


def is_spread(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons add each of some biases to each of some signals that are fewer than they."""
    _, edge = ctx.edges_into(neurons)
    genes = ctx.net.neurons
    if len(edge) != len(neurons) or np.any(genes.response[neurons] != 1.0):
        return False
    layout = _layout([genes.bias[neurons]])
    return layout is not None and layout.spread(ctx.signals.read[edge]).size < len(neurons)


def waits(ctx: LoweringContext, sources: Ints, factors: Floats, bias: Floats) -> bool:
    """Whether import makes neurons only once something reads them, unless an Identity does.

    It makes them of an Add of biases. After a factor or a product alone it waits until something
    reads them; a tensor that is rearranged before that is not found.
    """
    scaled = np.any(factors != 1.0) or np.any(ctx.signals.are_products(sources))
    return bool(scaled and not np.any(bias))


def _times(
    ctx: LoweringContext,
    block: Block,
    sources: Ints,
    factor: Floats,
    layout: _Layout | None,
    *,
    whole: bool,
) -> str:
    """One input of each neuron times its weight.

    Args:
        whole: the result has an element for each neuron, and does not broadcast.
    """
    if layout is None:
        tensor = exactly(ctx, sources, block.level)
    else:
        alone = whole and _is_uniform(factor)
        shaped = sources.reshape(layout.shape) if alone else layout.spread(sources)
        tensor = in_shape(ctx, shaped, block.level)
    if np.all(factor == 1.0):
        return tensor
    if _is_uniform(factor):
        factor = factor[:1]
    elif layout is not None:
        factor = layout.parameters(factor)
    weights = ctx.initializer(block.weights("W"), factor)
    return ctx.emit(Mul, [tensor, weights], block.tensor("Scaled"), block.name("scale"))


def _in_layout(values: Floats, layout: _Layout | None) -> Floats:
    """Numbers of all neurons as they broadcast in a layout."""
    if layout is None:
        return values
    return values[:1] if _is_uniform(values) else layout.parameters(values)


def _layout(columns: list[Floats]) -> _Layout | None:
    """The axes along one of which all columns are constant; None if that saves little."""
    varied = [each for each in columns if not _is_uniform(each)]
    if not varied:
        return None
    values = np.stack(varied)
    count = values.shape[1]
    run, period = _run(values), _period(values)
    channels = min(count // run, period)
    if (count - channels) * len(varied) < _MIN_NUMBERS_SAVED:
        return None
    if count // run <= period:
        return _Layout((count // run, run), (count // run, 1))
    return _Layout((count // period, period), (period,))


def _run(values: Floats) -> int:
    """The length of equal runs in which all rows are constant."""
    changes = np.flatnonzero(np.any(values[:, 1:] != values[:, :-1], axis=0)) + 1
    return math.gcd(int(values.shape[1]), *changes.tolist())


def _period(values: Floats) -> int:
    """The number of columns after which all rows begin anew; all of them if they do not."""
    count: int = values.shape[1]
    first = np.all(values == values[:, :1], axis=0)
    starts: list[int] = (np.flatnonzero(first[1 : count // 2 + 1]) + 1).tolist()
    tried = (at for at in starts if count % at == 0)
    for period, _ in zip(tried, range(_MAX_PERIODS), strict=False):
        if np.array_equal(values[:, period:], values[:, :-period]):
            return period
    return count


def _is_uniform(values: Floats) -> bool:
    return bool(np.all(values == values[0]))
