"""The levels of a large network as SVG: bars of neurons by family, and arcs between them."""

from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.levels import Bundle, Layer, density
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

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
