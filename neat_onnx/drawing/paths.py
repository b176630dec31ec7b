"""The curves of connections, as SVG path data: level at every place, a gentle S between two."""

from collections.abc import Iterator

import numpy as np

from neat_onnx.drawing.scene import Scene

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
