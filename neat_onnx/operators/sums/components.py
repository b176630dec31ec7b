"""Connected components of a level: neurons that read signals which no other neuron of it reads.

So do the branches of a network, and the copies of one network over parts of the inputs. One matrix
for all of a level would be zeros but for a block of weights of each.
"""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Ints, ranked

_MIN_WEIGHTS_SAVED = 1 << 8
_WEIGHTS_PER_MATRIX = 125  # as many as have the bytes of one more matrix product
_MIN_NEURONS = 8  # genomes that evolved have smaller ones, and one Gemm is faster than several
_MAX_ELEMENTS_PER_WEIGHT = 2  # of a block
_MIN_RATIO = 4 / 3  # of the weights of the whole matrix to those of its blocks


def by_component(ctx: LoweringContext, neurons: Ints) -> tuple[list[Ints], list[Ints]]:
    """The components where one matrix is much larger than several, and the neurons left over."""
    whole: tuple[list[Ints], list[Ints]] = [], [neurons]
    row, edge = ctx.edges_into(neurons)
    if len(neurons) < _MIN_NEURONS or not edge.size:
        return whole
    sources, column = ranked(ctx.signals.read[edge], ctx.signals.count)
    count, width = len(neurons), len(sources)
    if count * width - len(edge) < _MIN_WEIGHTS_SAVED:
        return whole
    label = _components(row, column, width)
    of_neuron = np.full(count, width, np.int64)  # the last is of those that read nothing
    of_neuron[row] = label[column]
    rows = np.bincount(of_neuron, minlength=width + 1)[:width]
    columns = np.bincount(label, minlength=width)
    dense = rows * columns <= _MAX_ELEMENTS_PER_WEIGHT * np.bincount(label[column], minlength=width)
    separable = np.flatnonzero((rows >= _MIN_NEURONS) & dense)
    separable = separable[np.argsort(-rows[separable] * columns[separable], kind="stable")]
    left_rows = count - np.append(0, np.cumsum(rows[separable]))
    left_columns = width - np.append(0, np.cumsum(columns[separable]))
    blocks = np.append(0, np.cumsum(rows[separable] * columns[separable] + _WEIGHTS_PER_MATRIX))
    weights = blocks + left_rows * left_columns + _WEIGHTS_PER_MATRIX * (left_rows > 0)
    best = int(np.flatnonzero(weights == weights.min())[-1])
    if weights[0] - weights[best] < _MIN_WEIGHTS_SAVED or weights[best] * _MIN_RATIO > weights[0]:
        return whole
    components = [neurons[of_neuron == each] for each in np.sort(separable[:best]).tolist()]
    rest = neurons[~np.isin(of_neuron, separable[:best])]
    return components, [rest] if rest.size else []


def _components(row: Ints, column: Ints, width: int) -> Ints:
    """The least column of each column's component.

    Each round hands the least known column on, along rows, then along columns, and doubles how far
    each of them has come.
    """
    label = np.arange(width)
    while True:
        of_row = np.full(int(row.max()) + 1, width)
        np.minimum.at(of_row, row, label[column])
        least = label.copy()
        np.minimum.at(least, column, of_row[row])
        np.minimum.at(least, label, least.copy())
        least = least[least]
        if np.array_equal(least, label):
            return label
        label = least
