"""The levels of a large network as SVG: bars of neurons by family, and arcs between them."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.layers import named_layers
from neat_onnx.drawing.scene import families_of
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, schedule

_WIDTH, _HEIGHT, _TOP = 960.0, 380.0, 46.0
_MIDDLE = _HEIGHT / 2
_LETTER = 6.6  # px, about
_MOST_ARCS = 200  # those of the most connections


class Level(NamedTuple):
    """The neurons of one topological level, inputs or outputs apart.

    Attributes:
        families: how many neurons are of each family of activations.
        label: which kind of layer they are, "Conv 3×3", "LSTM 4" or "dense"; "" if they are none.
        shape: of the output of a convolution or a pool.
    """

    families: Counter[str]
    label: str
    shape: tuple[int, ...]


class Bundle(NamedTuple):
    """The enabled connections from one level to another, and their mean weight."""

    source: int
    target: int
    connections: int
    mean: float


def levels_svg(net: Network) -> str:
    """Draw the levels of a network as bars of neurons by family, and the connections between."""
    levels, bundles = density(net)
    gap, half = _WIDTH / len(levels), min(28.0, _WIDTH / len(levels) * 0.5) / 2
    tallest = max(level.families.total() for level in levels)
    most = max([1, *(each.connections for each in bundles)])
    by_size = sorted(bundles, key=lambda each: -each.connections)
    parts = [_arc(each, gap, half, most) for each in by_size[:_MOST_ARCS]]
    for place, level in enumerate(levels):
        parts += _bar(level, gap * (place + 0.5), gap, half, tallest)
    used = [name for name in TITLES if any(name in level.families for level in levels)]
    entries = [(f'<circle cx="6" cy="-4" r="5" class="f-{name}"/>', TITLES[name]) for name in used]
    entries += [(stroke("p", 2), "positive mean weight"), (stroke("m", 2), "negative mean weight")]
    rows = legend(entries, _WIDTH, _HEIGHT)
    label = f"Levels of a network of {len(net)} neurons and {len(net.connections)} connections"
    return document(label, _WIDTH, _HEIGHT + 22 * len(rows) + 8, "".join([*parts, *rows]))


def _arc(each: Bundle, gap: float, half: float, most: int) -> str:
    """Return the connections of two levels: straight to the next, above to later ones, else below.

    None reaches out of the picture: a cubic curve goes three quarters of the way to its controls.
    """
    span = each.target - each.source
    left = gap * (each.source + 0.5) + half
    across = gap * span - 2 * half
    reach = min(_MIDDLE - 12, 20 + 14 * abs(span)) / 0.75
    bow = 0.0 if span == 1 else -reach if span > 1 else reach
    aside = 30 if span > 0 else -30 - 4 * half
    wide = 1 + 18 * (each.connections / most) ** 0.5 * (1 if span == 1 else 0.4)
    return (
        f'<path class="{"m" if each.mean < 0 else "p"}" opacity=".3" stroke-width="{wide:.1f}" '
        f'd="M{left:.0f} {_MIDDLE:.0f}c{aside:.0f} {bow:.0f} {across - aside:.0f} {bow:.0f} '
        f'{across:.0f} 0"><title>level {each.source} to level {each.target}: {each.connections} '
        f"connections, mean weight {each.mean:.2g}</title></path>"
    )


def _bar(level: Level, x: float, gap: float, half: float, tallest: int) -> list[str]:
    """Return one level: its families over each other, its size below, its name above."""
    neurons = level.families.total()
    size = max(6.0, (neurons / tallest) ** 0.5 * (_HEIGHT - 2 * _TOP))
    y, parts = _MIDDLE - size / 2, []
    for name, count in level.families.most_common():
        part = size * count / neurons
        parts.append(
            f'<rect x="{x - half:.1f}" y="{y:.1f}" width="{2 * half:.1f}" height="{part:.1f}" '
            f'class="f-{name}"><title>{TITLES[name]}: {count}</title></rect>'
        )
        y += part
    below = _MIDDLE + size / 2 + 18
    texts = [
        (f"{neurons:,}", below),
        ("×".join(map(str, level.shape)), below + 15),
        (level.label, _MIDDLE - size / 2 - 8),
    ]
    parts += [
        f'<text x="{x:.0f}" y="{at:.0f}" text-anchor="middle">{escape(text)}</text>'
        for text, at in texts
        if text and gap >= 16 and len(text) * _LETTER < gap
    ]
    return parts


def density(net: Network) -> tuple[list[Level], list[Bundle]]:
    """Return the levels of a network, inputs first and outputs last, and the bundles between."""
    order = schedule(net)
    column = order.level.copy()
    column[net.output_neurons] = column.max() + 1
    column[net.input_neurons] = -1
    column = np.unique(column, return_inverse=True)[1]
    count, families = int(column.max()) + 1, families_of(net)
    labels = _labels(net, order, column)
    levels = [
        Level(Counter(families[column == number].tolist()), *labels[number])
        for number in range(count)
    ]
    live = net.live
    pairs = column[live.source] * count + column[live.target]
    found, bundle, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    means = np.bincount(bundle, weights=live.weight, minlength=len(found)) / counts
    columns = zip(found.tolist(), counts.tolist(), means.tolist(), strict=True)
    return levels, [Bundle(pair // count, pair % count, many, mean) for pair, many, mean in columns]


def _labels(net: Network, order: Schedule, column: Ints) -> list[tuple[str, tuple[int, ...]]]:
    """Return label and shape of each column of neurons."""
    named = named_layers(net, order)
    layer = np.full(len(net), -1)
    for number, each in enumerate(named):
        layer[each.neurons] = number
    dense, found = _dense(net, column), []
    for number in range(int(column.max()) + 1):
        counts = Counter(layer[column == number].tolist())
        inside = [named[each] for each, _ in counts.most_common() if each >= 0]
        label = ", ".join(dict.fromkeys(each.label for each in inside))
        shape: tuple[int, ...] = ()
        if len(counts) == len(inside) == 1 and inside[0].neurons.ndim > 1:
            shape = inside[0].neurons.shape
        found.append((label or ("dense" if number in dense else ""), shape))
    return found


def _dense(net: Network, column: Ints) -> set[int]:
    """Return the columns of which each neuron reads every neuron of one other column, and no more.

    A column that reads a single neuron is not called a layer.
    """
    live, sizes = net.live, np.bincount(column)
    target, source = np.divmod(np.unique(live.target * len(net) + live.source), len(net))
    between, counts = np.unique(column[target] * len(sizes) + column[source], return_counts=True)
    targets, sources = np.divmod(between, len(sizes))
    read = np.bincount(targets, minlength=len(sizes))
    full = (counts == sizes[targets] * sizes[sources]) & (read[targets] == 1)
    return set(targets[full & (sizes[sources] > 1)].tolist())
