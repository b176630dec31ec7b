"""web/icon.svg → PNG icons for home screens: a square, strokes and discs, with smooth edges."""

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

_POINTS = 200  # of a curve
_SAFE = 0.8  # of its width: what no mask of a platform cuts away


def png(svg: Path, size: int, *, maskable: bool = False) -> bytes:
    """Return the icon as a PNG of `size` pixels; a maskable one fills its square."""
    root = ElementTree.parse(svg).getroot()
    side = float(root.attrib["viewBox"].split()[2])
    centre = side / 2
    axis = ((np.arange(size) + 0.5) / size * side - centre) / (_SAFE if maskable else 1) + centre
    x, y = np.meshgrid(axis, axis)
    pixel = axis[1] - axis[0]
    image = np.zeros((size, size, 4))
    for distance, colour, whole in _shapes(root, x, y):
        cover = np.clip(0.5 - distance / pixel, 0, 1)[..., None]
        rgba = np.array([*bytes.fromhex(colour[1:]), 255.0])
        image += (np.ones_like(cover) if maskable and whole else cover) * (rgba - image)
    return _encoded(np.round(image).astype(np.uint8))


def _shapes(
    root: ElementTree.Element, x: np.ndarray, y: np.ndarray
) -> Iterator[tuple[np.ndarray, str, bool]]:
    """Yield each shape's signed distance, its colour, and whether it is the background."""
    parents = {child: parent for parent in root.iter() for child in parent}
    for element in root.iter():
        tag, own = element.tag.rpartition("}")[2], element.attrib
        said = {**parents[element].attrib, **own} if element in parents else own
        if tag == "rect":
            half, radius = float(own["width"]) / 2, float(own["rx"])
            dx, dy = abs(x - half) - half + radius, abs(y - half) - half + radius
            outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
            yield outside + np.minimum(np.maximum(dx, dy), 0) - radius, said["fill"], True
        elif tag == "circle":
            away = np.hypot(x - float(own["cx"]), y - float(own["cy"]))
            yield away - float(own["r"]), said["fill"], False
        elif tag == "path":
            squared = np.full(x.shape, np.inf)
            for px, py in _curve(own["d"]):
                squared = np.minimum(squared, (x - px) ** 2 + (y - py) ** 2)
            yield np.sqrt(squared) - float(said["stroke-width"]) / 2, said["stroke"], False


def _curve(path: str) -> np.ndarray:
    """Return points (_POINTS, 2) of a path that is one cubic Bézier curve, `M x y C …`."""
    corners = np.array(re.findall(r"[\d.]+", path), float).reshape(4, 2)
    t = np.linspace(0, 1, _POINTS)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.asarray(weights @ corners)


def _encoded(image: np.ndarray) -> bytes:
    height, width, _ = image.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(b"\0" + row.tobytes() for row in image)
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", head),
            chunk(b"IDAT", zlib.compress(rows, 9)),
            chunk(b"IEND", b""),
        ]
    )
