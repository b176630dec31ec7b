"""A network as SVG: neurons by family, weights by sign and width, memory, gates and idle genes.

The text stands alone: its colours are inside, for light and dark. The same network gives the same
bytes.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from neat_onnx.arguments import instance_of, takes
from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.layout import CELL
from neat_onnx.drawing.levels import levels_svg
from neat_onnx.drawing.scene import Scene, scene
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network
from neat_onnx.network.summary import summary

MOST_NEURONS = 400  # drawn one by one; of a larger network, its levels are
_PITCH = (9.0, 26.0)  # px of a row
_HEIGHT = 640  # px to aim at
_MARGIN, _NAMES = 26, 112  # px around, and for the names of ports
_MOST_BARS = 400  # negative connections that a bar marks besides the colour
_WIDTHS = 4  # of connections
_LETTERS = 15  # of a name


@takes(net=instance_of(Network, "a Network"))
def to_svg(net: Network) -> str:
    """Draw a network: its neurons and connections, or of more than 400 neurons its levels.

    Returns:
        SVG text of a picture about 640 px high, with a legend.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    if len(net) > MOST_NEURONS:
        return levels_svg(net)
    shown = scene(net)
    pitch = _pitch(shown)
    body, width, height = _body(shown, pitch, _NAMES)
    entries = _legend_entries(shown)
    rows = legend(entries, width, height)
    label = f"Network of {len(net)} neurons and {len(net.connections)} connections"
    return document(label, width, height + 22 * len(rows) + 8, body + "".join(rows))


def small_multiples(nets: Mapping[str, Network], columns: int = 4) -> str:
    """Draw many networks beside each other, each with its title."""
    width, height, parts = 300, 220, []
    for place, (title, net) in enumerate(nets.items()):
        row, column = divmod(place, columns)
        inside, w, h = "", 1.0, 1.0
        if len(net) <= MOST_NEURONS:
            shown = scene(net)
            inside, w, h = _body(shown, _pitch(shown), _MARGIN)
        scale = min((width - 16) / w, (height - 40) / h, 1.6)
        x = column * width + (width - scale * w) / 2
        y = row * height + 30 + (height - 40 - scale * h) / 2
        parts.append(
            f'<text x="{column * width + 12}" y="{row * height + 20}" class="n">{escape(title)}'
            f'</text><g transform="translate({x:.1f} {y:.1f}) scale({scale:.3f})">{inside}</g>'
        )
    rows = -(-len(nets) // columns)
    wide = width * min(columns, max(1, len(nets)))
    return document(f"{len(nets)} networks", wide, height * rows, "".join(parts))


def _pitch(shown: Scene) -> float:
    return min(_PITCH[1], max(_PITCH[0], _HEIGHT / (shown.layout.height + 1)))


def _body(shown: Scene, pitch: float, aside: float) -> tuple[str, float, float]:
    """Return the drawing without its legend, and its width and height in px."""
    where = shown.layout
    radius = max(2.0, min(9.0, 0.36 * pitch))
    above = pitch * 1.6 + 14
    x, y = pitch * where.x, pitch * where.y
    lowest = float(np.max(where.place_y, initial=where.height)) * pitch
    width = 2 * aside + pitch * where.width
    height = above + lowest + _MARGIN
    drawn = list(paths(shown, pitch))
    parts = [f'<g transform="translate({aside:.0f} {above:.0f})">']
    parts += _layers(shown, x, y, radius)
    parts += _connections(shown, drawn)
    parts += _marks(shown, x, y, pitch)
    parts += _neurons(shown, x, y, radius)
    if aside >= _NAMES:
        parts += _port_names(shown, x, y, pitch, radius)
    return "".join([*parts, "</g>"]), width, height


def _connections(shown: Scene, drawn: list[str]) -> list[str]:
    """Return one path for all connections of one look, the disabled and the weak ones first."""
    genes = shown.net.connections
    width = np.ceil(np.abs(shown.strength) * _WIDTHS).astype(int).clip(1, _WIDTHS)
    crowd = min(1.0, 18 / (len(genes) + 1) ** 0.5)
    looks: dict[tuple[bool, int, bool, bool], list[str]] = defaultdict(list)
    columns = (genes.enabled.tolist(), width.tolist(), (shown.strength < 0).tolist())
    for path, enabled, size, negative, delay in zip(
        drawn, *columns, genes.delay.tolist(), strict=True
    ):
        looks[(True, size, negative, delay > 0) if enabled else (False, 0, False, False)].append(
            path
        )
    found = []
    for (enabled, size, negative, late), some in sorted(looks.items()):
        wide = 0.6 + 2.4 * size / _WIDTHS * (0.4 + 0.6 * crowd)
        alpha = (0.3 + 0.6 * size / _WIDTHS) * (0.35 + 0.65 * crowd)
        name = ("m" if negative else "p") + (" late" if late else "") if enabled else "off"
        style = f'stroke-width="{wide:.2f}" opacity="{alpha:.2f}"' if enabled else 'opacity=".5"'
        found.append(f'<path class="{name}" {style} d="{"".join(some)}"/>')
    return found


def _marks(shown: Scene, x: np.ndarray, y: np.ndarray, pitch: float) -> list[str]:
    """Return bars across negative connections, and a diamond on each gated one."""
    genes, found = shown.net.connections, []
    middle_x, middle_y, across, down = _middles(shown, x, y, pitch)
    negative = np.flatnonzero(genes.enabled & (shown.strength < 0))
    if len(genes) <= _MOST_BARS and negative.size:
        size = 4 / np.maximum(np.hypot(across, down), 1e-9)
        bars = (
            f"M{middle_x[k] - down[k] * size[k]:.1f} {middle_y[k] + across[k] * size[k]:.1f}"
            f"l{2 * down[k] * size[k]:.1f} {-2 * across[k] * size[k]:.1f}"
            for k in negative.tolist()
        )
        found.append(f'<path class="bar" stroke-width="1.2" opacity=".8" d="{"".join(bars)}"/>')
    gated = np.flatnonzero(genes.enabled & (genes.gater != NONE)).tolist()
    if gated:
        threads = (
            f"M{x[genes.gater[k]]:.0f} {y[genes.gater[k]]:.0f}L{middle_x[k]:.0f} {middle_y[k]:.0f}"
            for k in gated
        )
        gates = (f"M{middle_x[k]:.1f} {middle_y[k] - 5:.1f}l5 5l-5 5l-5-5Z" for k in gated)
        found.append(f'<path class="thread" d="{"".join(threads)}"/>')
        found.append(f'<path class="gate" style="fill:revert-layer" d="{"".join(gates)}"/>')
    return found


def _middles(
    shown: Scene, x: np.ndarray, y: np.ndarray, pitch: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the middle of the last curve of each connection, and its direction there."""
    where, genes = shown.layout, shown.net.connections
    has_places = np.diff(where.first) > 0
    last = np.where(has_places, where.first[1:] - 1, 0)
    none = len(where.place_x) == 0
    from_x = (
        x[genes.source]
        if none
        else np.where(has_places, pitch * where.place_x[last], x[genes.source])
    )
    from_y = (
        y[genes.source]
        if none
        else np.where(has_places, pitch * where.place_y[last], y[genes.source])
    )
    across, down = x[genes.target] - from_x, y[genes.target] - from_y
    bend = 0.9 * pitch * where.twin
    middle_x, middle_y = from_x + across / 2, from_y + down / 2 + 0.75 * bend
    turn = across == 0
    side = np.where(has_places, -1.0, np.sign(down))
    reach = side * (pitch + np.where(has_places, 0, 0.3 * np.abs(down)))
    middle_x = np.where(turn, middle_x + 0.75 * reach, middle_x)
    itself = genes.source == genes.target
    middle_y = np.where(itself, y[genes.source] - 0.75 * (1.3 + 0.4 * where.twin) * pitch, middle_y)
    middle_x = np.where(itself, x[genes.source], middle_x)
    return middle_x, middle_y, np.where(itself, 1.0, across), np.where(itself, 0.0, 1.5 * down)


def _neurons(shown: Scene, x: np.ndarray, y: np.ndarray, radius: float) -> list[str]:
    found = []
    sizes = np.where(shown.layout.is_cell, CELL * radius, radius)
    columns = (x.tolist(), y.tolist(), sizes.tolist(), shown.kind, shown.family)
    words = (shown.is_idle.tolist(), shown.label, shown.net.activation_names.tolist())
    rows = zip(*columns, *words, strict=True)
    for across, down, size, kind, family, idle, label, activation in rows:
        names = f"f-{family}" + (" output" if kind == "output" else "") + (" idle" if idle else "")
        what = label if kind == "input" else f"{label}: {activation}"
        found.append(
            f'<circle cx="{across:.0f}" cy="{down:.0f}" r="{size:.1f}" class="{names}">'
            f"<title>{escape(what)}</title></circle>"
        )
    return found


def _port_names(
    shown: Scene, x: np.ndarray, y: np.ndarray, pitch: float, radius: float
) -> list[str]:
    found = []
    size = min(12.0, pitch)
    style = "" if size == 12 else f'style="font-size:{size:.1f}px" '
    in_column = np.isclose(x, x.min())
    for neuron, (kind, label) in enumerate(zip(shown.kind, shown.label, strict=True)):
        if kind == "hidden" or (kind == "input" and not in_column[neuron]):
            continue
        text = label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"
        end, aside = ("end", -radius - 7) if kind == "input" else ("start", radius + 7)
        found.append(
            f'<text x="{x[neuron] + aside:.0f}" y="{y[neuron] + 0.33 * size:.0f}" {style}'
            f'text-anchor="{end}">'
            f"{escape(text)}</text>"
        )
    return found


def _layers(shown: Scene, x: np.ndarray, y: np.ndarray, radius: float) -> list[str]:
    """Return an outline around each named layer, column by column, so that it holds no others."""
    found, pad = [], radius + 5
    for each in shown.layers:
        members = each.neurons.ravel()
        columns = np.unique(shown.layout.column[members])
        upper, lower = [], []
        for column in columns.tolist():
            some = members[shown.layout.column[members] == column]
            left, right = x[some].min() - pad, x[some].max() + pad
            top, bottom = y[some].min() - pad, y[some].max() + pad
            upper += [(left, top), (right, top)]
            lower += [(left, bottom), (right, bottom)]
        corners = " ".join(f"{a:.0f},{b:.0f}" for a, b in [*upper, *lower[::-1]])
        left, top = min(upper, key=lambda corner: corner[1])
        found.append(f'<polygon class="layer" points="{corners}"/>')
        found.append(f'<text x="{left:.0f}" y="{top - 4:.0f}">{escape(each.label)}</text>')
    return found


def _legend_entries(shown: Scene) -> list[tuple[str, str]]:
    """Return (mark, words) of everything that the drawing shows."""
    genes = shown.net.connections
    live = genes.enabled
    used = [name for name in TITLES if np.any(shown.family == name)]
    entries = [
        (f'<circle cx="6" cy="-4" r="5" class="f-{name}"/>',
         f"{TITLES[name]} {int(np.sum(shown.family == name))}")
        for name in used
    ]  # fmt: skip
    for name, sign, words in (("p", 1, "positive weight"), ("m", -1, "negative weight")):
        if np.any(live & (np.sign(shown.strength) == sign)):
            entries.append((stroke(name, 2), words))
    if np.any(live & (genes.delay > 0)):
        entries.append((stroke("late p", 1.5), "reads an earlier step"))
    if not np.all(live):
        entries.append((stroke("off", 1.5), "disabled"))
    if np.any(live & (genes.gater != NONE)):
        entries.append(('<path class="gate" d="M6-9l5 5l-5 5l-5-5Z"/>', "multiplied by a gate"))
    if np.any(shown.is_idle):
        entries.append(
            ('<circle cx="6" cy="-4" r="5" class="f-linear idle"/>', "reaches no output")
        )
    return entries


_BOW = 0.3  # how far a curve in one column reaches aside, of its height
_LOOP = 1.3  # the reach of a connection to itself, in rows


def paths(scene: Scene, pitch: float) -> Iterator[str]:
    """Yield the path of each connection; `pitch` is the size of a row in px.

    The page draws the same curves: web/views/scene.js.
    """
    where = scene.layout
    x, y, place_x, place_y = (
        np.rint(pitch * each).astype(int).tolist()
        for each in (where.x, where.y, where.place_x, where.place_y)
    )
    first, twin = where.first.tolist(), where.twin.tolist()
    genes = scene.net.connections
    ends = zip(genes.source.tolist(), genes.target.tolist(), strict=True)
    for place, (source, target) in enumerate(ends):
        along = slice(first[place], first[place + 1])
        xs = [x[source], *place_x[along], x[target]]
        ys = [y[source], *place_y[along], y[target]]
        aside = round(0.9 * pitch * twin[place])
        if source == target:
            reach = round((_LOOP + 0.4 * twin[place]) * pitch)
            yield f"M{xs[0]} {ys[0]}c{reach}-{reach}-{reach}-{reach} 0 0"
        else:
            yield _path(xs, ys, aside, round(pitch))


def _path(xs: list[int], ys: list[int], aside: int, pitch: int) -> str:
    path = f"M{xs[0]} {ys[0]}"
    last = len(xs) - 2
    level = 0  # px to go on at the same height
    for k in range(last + 1):
        across, down = xs[k + 1] - xs[k], ys[k + 1] - ys[k]
        bend = aside if k == last else 0
        if across and not (down or bend):
            level += across
            continue
        if level:
            path += f"h{level}"
            level = 0
        if across:
            path += f"c{across // 2} {bend} {across // 2} {down + bend} {across} {down}"
            continue
        side = (1 if down > 0 else -1) if last == 0 else (1 if k == 0 else -1)
        reach = side * (pitch + bend + (round(_BOW * abs(down)) if last == 0 else 0))
        path += f"c{reach} 0 {reach} {down} 0 {down}"
    if level:
        path += f"h{level}"
    return path.replace(" -", "-")


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>body {{ margin: 2rem; font-family: system-ui, sans-serif; }}
svg {{ max-width: 100%; height: auto; }}</style>
</head>
<body>
<h1>{title}</h1>
{body}</body>
</html>
"""


def fragment(net: Network) -> str:
    """Return the drawing of a network and its summary as a table, as HTML inside a page."""
    found = summary(net)
    rows = {
        "Written by": found.library,
        "Shape": f"{found.inputs} → {found.outputs}, {found.hidden} hidden",
        "Connections": f"{found.connections}, and {found.disabled} disabled",
        "Levels": found.levels,
        "Memory": "yes" if found.has_memory else "none",
    }
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left">{name}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f"{to_svg(net)}<table>{cells}</table>\n"


def page(title: str, body: str) -> str:
    """Return an HTML document around the text of a body."""
    return _PAGE.format(title=escape(title), body=body)
