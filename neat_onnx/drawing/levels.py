"""A network of many neurons as its layers, and how densely each is wired to each."""

from collections import Counter
from typing import TypedDict

import numpy as np

from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.layers import NamedLayer, named_layers
from neat_onnx.drawing.scene import family
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, schedule


class Layer(TypedDict):
    """The neurons of one topological level, inputs or outputs apart, by family of activation.

    `label` says which kind of layer they are, "Conv 3×3", "LSTM 4" or "dense"; it is empty if they
    are none. `shape` is that of the output of a convolution or a pool. Levels of one recurrent
    layer have the same `unit`, a number; of others it is None.
    """

    neurons: int
    families: dict[str, int]
    label: str
    shape: list[int]
    unit: int | None


class Bundle(TypedDict):
    """The enabled connections from one layer to another."""

    source: int
    target: int
    count: int
    mean: float


class Density(TypedDict):
    """Layers in the order in which they are computed, and the bundles between them."""

    layers: list[Layer]
    bundles: list[Bundle]


def density(net: Network, levels: Schedule) -> Density:
    """Return the layers of `net`, inputs first and outputs last, and the bundles between them."""
    column = levels.level.copy()
    column[net.output_neurons] = column.max() + 1
    column[net.input_neurons] = -1
    used, column = np.unique(column, return_inverse=True)
    families = np.array([family(name) for name in net.activations] or [""], object)
    names = np.where(net.is_input, "input", families[net.neurons.activation])
    kinds = _kinds(net, levels, column)
    layers = []
    for number in range(len(used)):
        members = names[column == number].tolist()
        counts = dict(Counter(members).most_common())
        label, shape, unit = kinds[number]
        layers.append(
            Layer(neurons=len(members), families=counts, label=label, shape=shape, unit=unit)
        )
    return Density(layers=layers, bundles=_bundles(net, column, len(used)))


def _kinds(net: Network, levels: Schedule, column: Ints) -> list[tuple[str, list[int], int | None]]:
    """Return label, shape and unit of each column of neurons."""
    named = named_layers(net, levels)
    layer = np.full(len(net), -1)
    for number, each in enumerate(named):
        layer[each.neurons] = number
    dense = _dense(net, column)
    kinds = []
    for number in range(column.max() + 1):
        counts = Counter(layer[column == number].tolist())
        inside = [named[each] for each, _ in counts.most_common() if each >= 0]
        whole = inside[0] if len(counts) == len(inside) == 1 else None
        label = ", ".join(dict.fromkeys(each.label for each in inside))
        shape, unit = [], None
        if whole is not None and _columns(whole, column) == 1:
            shape = list(whole.neurons.shape) if whole.neurons.ndim > 1 else []
        elif whole is not None:
            unit = next(iter(counts))
        kinds.append((label or ("dense" if number in dense else ""), shape, unit))
    return kinds


def _columns(layer: NamedLayer, column: Ints) -> int:
    return len(np.unique(column[layer.neurons]))


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


def _bundles(net: Network, column: np.ndarray, width: int) -> list[Bundle]:
    live = net.live
    pairs = column[live.source] * width + column[live.target]
    found, bundle, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    means = np.bincount(bundle, weights=live.weight, minlength=len(found)) / counts
    columns = zip(found.tolist(), counts.tolist(), means.tolist(), strict=True)
    return [
        Bundle(source=pair // width, target=pair % width, count=count, mean=mean)
        for pair, count, mean in columns
    ]


_WIDTH, _HEIGHT, _TOP = 960.0, 380.0, 46.0
_MIDDLE = _HEIGHT / 2
_LETTER = 6.6  # px, about
_MOST_ARCS = 200  # those of the most connections


def levels_svg(net: Network) -> str:
    """Draw the levels of a network as bars of neurons by family, and the connections between."""
    found = density(net, schedule(net))
    layers, bundles = found["layers"], found["bundles"]
    gap = _WIDTH / len(layers)
    tallest = max(layer["neurons"] for layer in layers)
    most = max([1, *(each["count"] for each in bundles)])
    by_size = sorted(bundles, key=lambda each: -each["count"])
    parts = [_arc(each, gap, most) for each in by_size[:_MOST_ARCS]]
    for place, layer in enumerate(layers):
        parts += _bar(layer, gap * (place + 0.5), gap, tallest)
    used = [name for name in TITLES if any(name in layer["families"] for layer in layers)]
    entries = [(f'<circle cx="6" cy="-4" r="5" class="f-{name}"/>', TITLES[name]) for name in used]
    entries += [(stroke("p", 2), "positive mean weight"), (stroke("m", 2), "negative mean weight")]
    rows = legend(entries, _WIDTH, _HEIGHT)
    label = f"Levels of a network of {len(net)} neurons and {len(net.connections)} connections"
    return document(label, _WIDTH, _HEIGHT + 22 * len(rows) + 8, "".join([*parts, *rows]))


def _half_bar(gap: float) -> float:
    return min(28.0, gap * 0.5) / 2


def _arc(each: Bundle, gap: float, most: int) -> str:
    """Return the connections of two levels: straight to the next, above to later ones, else below.

    None reaches out of the picture: a cubic curve goes three quarters of the way to its controls.
    """
    source, target = each["source"], each["target"]
    span, half = target - source, _half_bar(gap)
    left = gap * (source + 0.5) + half
    across = gap * span - 2 * half
    reach = min(_MIDDLE - 12, 20 + 14 * abs(span)) / 0.75
    bow = 0.0 if span == 1 else -reach if span > 1 else reach
    aside = 30 if span > 0 else -30 - 4 * half
    wide = 1 + 18 * (each["count"] / most) ** 0.5 * (1 if span == 1 else 0.4)
    sign = "m" if each["mean"] < 0 else "p"
    return (
        f'<path class="{sign}" opacity=".3" stroke-width="{wide:.1f}" d="M{left:.0f} {_MIDDLE:.0f}'
        f'c{aside:.0f} {bow:.0f} {across - aside:.0f} {bow:.0f} {across:.0f} 0"><title>'
        f"level {source} to level {target}: {each['count']} connections, mean weight "
        f"{each['mean']:.2g}</title></path>"
    )


def _bar(layer: Layer, x: float, gap: float, tallest: int) -> list[str]:
    """Return one level: its families over each other, its size below, its name above."""
    half = _half_bar(gap)
    size = max(6.0, (layer["neurons"] / tallest) ** 0.5 * (_HEIGHT - 2 * _TOP))
    y, parts = _MIDDLE - size / 2, []
    for name, count in layer["families"].items():
        part = size * count / layer["neurons"]
        parts.append(
            f'<rect x="{x - half:.1f}" y="{y:.1f}" width="{2 * half:.1f}" height="{part:.1f}" '
            f'class="f-{name}"><title>{TITLES[name]}: {count}</title></rect>'
        )
        y += part
    below = _MIDDLE + size / 2 + 18
    texts = [
        (f"{layer['neurons']:,}", below),
        ("×".join(map(str, layer["shape"])), below + 15),
        (layer["label"], _MIDDLE - size / 2 - 8),
    ]
    for text, at in texts:
        if text and gap >= 16 and len(text) * _LETTER < gap:
            parts.append(
                f'<text x="{x:.0f}" y="{at:.0f}" text-anchor="middle">{escape(text)}</text>'
            )
    return parts
