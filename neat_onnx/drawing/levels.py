"""The levels of a large network as SVG: bars of neurons by family, and arcs between them."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.scene import families_of, named_layers
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

_WIDTH, _HEIGHT, _TOP = 960.0, 380.0, 46.0
_MIDDLE = _HEIGHT / 2
_LETTER = 6.6  # px, about
_MOST_ARCS = 200  # those of the most connections


class Level(NamedTuple):
    """The neurons of one topological level, inputs or outputs apart.

    Attributes:
        families: how many neurons are of each family of activations.
        label: the named layers that they are in, as "Conv 3×3" or "LSTM 4".
    """

    families: Counter[str]
    label: str


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
    texts = [(f"{neurons:,}", _MIDDLE + size / 2 + 18), (level.label, _MIDDLE - size / 2 - 8)]
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
    labels: list[dict[str, None]] = [{} for _ in range(count)]
    for layer in named_layers(net, order):
        for number in np.unique(column[layer.neurons]).tolist():
            labels[number][layer.label] = None
    levels = [
        Level(Counter(families[column == number].tolist()), ", ".join(labels[number]))
        for number in range(count)
    ]
    live = net.live
    pairs = column[live.source] * count + column[live.target]
    found, bundle, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    means = np.bincount(bundle, weights=live.weight, minlength=len(found)) / counts
    columns = zip(found.tolist(), counts.tolist(), means.tolist(), strict=True)
    return levels, [Bundle(pair // count, pair % count, many, mean) for pair, many, mean in columns]
