"""A network as SVG: neurons by family, weights by sign and width, memory, gates and idle genes.

The text stands alone: its colours are inside, for light and dark. The same network gives the same
bytes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from neat_onnx.arguments import instance_of, takes
from neat_onnx.drawing.frame import TITLES, document, escape, legend, stroke
from neat_onnx.drawing.layout import CELL
from neat_onnx.drawing.levels import levels_svg
from neat_onnx.drawing.scene import Scene, scene
from neat_onnx.network.genes import NONE, Floats
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
    picture = _Picture(scene(net))
    width = picture.width(_NAMES)
    rows = legend(picture.legend_entries(), width, picture.height)
    label = f"Network of {len(net)} neurons and {len(net.connections)} connections"
    body = "".join([picture.body(_NAMES, picture.port_names()), *rows])
    return document(label, width, picture.height + 22 * len(rows) + 8, body)


def small_multiples(nets: Mapping[str, Network], columns: int = 4) -> str:
    """Draw many networks beside each other, each with its title."""
    width, height, parts = 300, 220, []
    for place, (title, net) in enumerate(nets.items()):
        row, column = divmod(place, columns)
        left, top = column * width + 12, row * height + 20
        parts.append(f'<text x="{left}" y="{top}" class="n">{escape(title)}</text>')
        if len(net) > MOST_NEURONS:
            continue
        picture = _Picture(scene(net))
        w, h = picture.width(_MARGIN), picture.height
        scale = min((width - 16) / w, (height - 40) / h, 1.6)
        x = column * width + (width - scale * w) / 2
        y = row * height + 30 + (height - 40 - scale * h) / 2
        parts.append(
            f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.3f})">'
            f"{picture.body(_MARGIN)}</g>"
        )
    wide = width * min(columns, max(1, len(nets)))
    return document(
        f"{len(nets)} networks", wide, height * -(-len(nets) // columns), "".join(parts)
    )


class _Picture:
    """A scene in px; each method gives a part of the text, behind those that follow."""

    def __init__(self, shown: Scene) -> None:
        self._shown, self._genes, where = shown, shown.net.connections, shown.layout
        self._pitch = min(_PITCH[1], max(_PITCH[0], _HEIGHT / (where.height + 1)))
        self._radius = max(2.0, min(9.0, 0.36 * self._pitch))
        self._x, self._y = self._pitch * where.x, self._pitch * where.y
        self._above = self._pitch * 1.6 + 14
        lowest = float(np.max(where.place_y, initial=where.height))
        self.height = self._above + self._pitch * lowest + _MARGIN

    def width(self, aside: float) -> float:
        """Return the width with a margin."""
        return 2 * aside + self._pitch * self._shown.layout.width

    def body(self, aside: float, last: Iterable[str] = ()) -> str:
        """Return the drawing without its legend."""
        parts = [*self._layers(), *self._connections(), *self._marks(), *self._neurons(), *last]
        return f'<g transform="translate({aside:.0f} {self._above:.0f})">{"".join(parts)}</g>'

    def _layers(self) -> Iterator[str]:
        """An outline around each named layer, column by column, so that it holds no others."""
        pad = self._radius + 5
        for each in self._shown.layers:
            members = each.neurons.ravel()
            upper, lower = [], []
            column = self._shown.layout.column[members]
            for number in np.unique(column).tolist():
                x, y = self._x[members[column == number]], self._y[members[column == number]]
                left, right = x.min() - pad, x.max() + pad
                upper += [(left, y.min() - pad), (right, y.min() - pad)]
                lower += [(left, y.max() + pad), (right, y.max() + pad)]
            corners = " ".join(f"{a:.0f},{b:.0f}" for a, b in [*upper, *lower[::-1]])
            left, top = min(upper, key=lambda corner: corner[1])
            yield f'<polygon class="layer" points="{corners}"/>'
            yield f'<text x="{left:.0f}" y="{top - 4:.0f}">{escape(each.label)}</text>'

    def _connections(self) -> Iterator[str]:
        """One path for all connections of one look, the disabled and the weak ones first."""
        genes, strength = self._genes, self._shown.strength
        width = np.ceil(np.abs(strength) * _WIDTHS).astype(int).clip(1, _WIDTHS)
        crowd = min(1.0, 18 / (len(genes) + 1) ** 0.5)
        live = genes.enabled
        columns = (live, np.where(live, width, 0), live & (strength < 0), live & (genes.delay > 0))
        looks: dict[tuple[Any, ...], list[str]] = defaultdict(list)
        for path, *look in zip(self._paths(), *(each.tolist() for each in columns), strict=True):
            looks[tuple(look)].append(path)
        for (enabled, size, negative, late), some in sorted(looks.items()):
            wide = 0.6 + 2.4 * size / _WIDTHS * (0.4 + 0.6 * crowd)
            alpha = (0.3 + 0.6 * size / _WIDTHS) * (0.35 + 0.65 * crowd)
            name = ("m" if negative else "p") + (" late" if late else "") if enabled else "off"
            style = (
                f'stroke-width="{wide:.2f}" opacity="{alpha:.2f}"' if enabled else 'opacity=".5"'
            )
            yield f'<path class="{name}" {style} d="{"".join(some)}"/>'

    def _marks(self) -> Iterator[str]:
        """Bars across negative connections, and a diamond on each gated one."""
        genes = self._genes
        middle_x, middle_y, across, down = self._middles()
        negative = np.flatnonzero(genes.enabled & (self._shown.strength < 0))
        if len(genes) <= _MOST_BARS and negative.size:
            size = 4 / np.maximum(np.hypot(across, down), 1e-9)
            bars = (
                f"M{middle_x[k] - down[k] * size[k]:.1f} {middle_y[k] + across[k] * size[k]:.1f}"
                f"l{2 * down[k] * size[k]:.1f} {-2 * across[k] * size[k]:.1f}"
                for k in negative.tolist()
            )
            yield f'<path class="bar" stroke-width="1.2" opacity=".8" d="{"".join(bars)}"/>'
        gated = np.flatnonzero(genes.enabled & (genes.gater != NONE))
        if gated.size:
            x, y = self._x[genes.gater], self._y[genes.gater]
            threads = (
                f"M{x[k]:.0f} {y[k]:.0f}L{middle_x[k]:.0f} {middle_y[k]:.0f}"
                for k in gated.tolist()
            )
            gates = (
                f"M{middle_x[k]:.1f} {middle_y[k] - 5:.1f}l5 5l-5 5l-5-5Z" for k in gated.tolist()
            )
            yield f'<path class="thread" d="{"".join(threads)}"/>'
            yield f'<path class="gate" style="fill:revert-layer" d="{"".join(gates)}"/>'

    def _middles(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The middle of the last curve of each connection, and its direction there."""
        where, genes, pitch = self._shown.layout, self._genes, self._pitch
        has_places = np.diff(where.first) > 0
        last = np.where(has_places, where.first[1:] - 1, NONE)
        from_x, from_y = (
            np.where(has_places, pitch * np.append(places, 0.0)[last], ends[genes.source])
            for places, ends in ((where.place_x, self._x), (where.place_y, self._y))
        )
        across, down = self._x[genes.target] - from_x, self._y[genes.target] - from_y
        side = np.where(has_places, -1.0, np.sign(down))
        reach = side * (pitch + np.where(has_places, 0, 0.3 * np.abs(down)))
        middle_x = from_x + np.where(across == 0, 0.75 * reach, across / 2)
        middle_y = from_y + down / 2 + 0.675 * pitch * where.twin
        itself = genes.source == genes.target
        above = from_y - 0.75 * (_LOOP + 0.4 * where.twin) * pitch
        middle_x, middle_y = np.where(itself, from_x, middle_x), np.where(itself, above, middle_y)
        return middle_x, middle_y, np.where(itself, 1.0, across), np.where(itself, 0.0, 1.5 * down)

    def _neurons(self) -> Iterator[str]:
        shown = self._shown
        sizes = np.where(shown.layout.is_cell, CELL * self._radius, self._radius)
        columns = (self._x.tolist(), self._y.tolist(), sizes.tolist(), shown.kind, shown.family)
        words = (shown.is_idle.tolist(), shown.label, shown.net.activation_names.tolist())
        rows = zip(*columns, *words, strict=True)
        for x, y, size, kind, family, idle, label, activation in rows:
            names = f"f-{family}{' output' * (kind == 'output')}{' idle' * idle}"
            what = label if kind == "input" else f"{label}: {activation}"
            yield (
                f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{size:.1f}" class="{names}">'
                f"<title>{escape(what)}</title></circle>"
            )

    def port_names(self) -> Iterator[str]:
        """The names of the outputs, and of the inputs in the first column."""
        size = min(12.0, self._pitch)
        style = "" if size == 12 else f'style="font-size:{size:.1f}px" '
        in_column = np.isclose(self._x, self._x.min())
        for neuron, (kind, label) in enumerate(
            zip(self._shown.kind, self._shown.label, strict=True)
        ):
            if kind == "hidden" or (kind == "input" and not in_column[neuron]):
                continue
            text = label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"
            away = self._radius + 7
            end, aside = ("end", -away) if kind == "input" else ("start", away)
            yield (
                f'<text x="{self._x[neuron] + aside:.0f}" '
                f'y="{self._y[neuron] + 0.33 * size:.0f}" {style}text-anchor="{end}">'
                f"{escape(text)}</text>"
            )

    def legend_entries(self) -> list[tuple[str, str]]:
        """Return (mark, words) of everything that the drawing shows."""
        shown, genes, live = self._shown, self._genes, self._genes.enabled
        dot = '<circle cx="6" cy="-4" r="5" class="f-{}"/>'
        entries = [
            (dot.format(name), f"{title} {count}")
            for name, title in TITLES.items()
            if (count := int(np.sum(shown.family == name)))
        ]
        sign = np.sign(shown.strength)
        others = (
            (live & (sign == 1), stroke("p", 2), "positive weight"),
            (live & (sign == -1), stroke("m", 2), "negative weight"),
            (live & (genes.delay > 0), stroke("late p", 1.5), "reads an earlier step"),
            (~live, stroke("off", 1.5), "disabled"),
            (live & (genes.gater != NONE), '<path class="gate" d="M6-9l5 5l-5 5l-5-5Z"/>',
             "multiplied by a gate"),
            (shown.is_idle, dot.format("linear idle"), "reaches no output"),
        )  # fmt: skip
        return [*entries, *((mark, words) for which, mark, words in others if np.any(which))]

    def _paths(self) -> Iterator[str]:
        """The path of each connection. The page draws the same curves: web/views/scene.js."""
        where, pitch = self._shown.layout, self._pitch
        x, y, place_x, place_y = (
            np.rint(pitch * each).astype(int).tolist()
            for each in (where.x, where.y, where.place_x, where.place_y)
        )
        ends = zip(self._genes.source.tolist(), self._genes.target.tolist(), strict=True)
        places = zip(pairwise(where.first.tolist()), where.twin.tolist(), strict=True)
        for (source, target), (along, twin) in zip(ends, places, strict=True):
            if source == target:
                reach = round((_LOOP + 0.4 * twin) * pitch)
                yield f"M{x[source]} {y[source]}c{reach}-{reach}-{reach}-{reach} 0 0"
                continue
            xs = [x[source], *place_x[slice(*along)], x[target]]
            ys = [y[source], *place_y[slice(*along)], y[target]]
            yield _path(xs, ys, round(0.9 * pitch * twin), round(pitch))


_BOW = 0.3  # how far a curve in one column reaches aside, of its height
_LOOP = 1.3  # the reach of a connection to itself, in rows


def _path(xs: list[int], ys: list[int], aside: int, pitch: int) -> str:
    """Return a smooth line through points, level at each; the last part is bent aside."""
    path, last = f"M{xs[0]} {ys[0]}", len(xs) - 2
    level = 0  # px to go on at the same height
    for k in range(last + 1):
        across, down = xs[k + 1] - xs[k], ys[k + 1] - ys[k]
        bend = aside if k == last else 0
        if across and not (down or bend):
            level += across
            continue
        path += f"h{level}" if level else ""
        level = 0
        if across:
            path += f"c{across // 2} {bend} {across // 2} {down + bend} {across} {down}"
            continue
        side = (1 if down > 0 else -1) if last == 0 else (1 if k == 0 else -1)
        reach = side * (pitch + bend + (round(_BOW * abs(down)) if last == 0 else 0))
        path += f"c{reach} 0 {reach} {down} 0 {down}"
    path += f"h{level}" if level else ""
    return path.replace(" -", "-")


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
