"""The frame of every drawing: colours for light and dark, and a legend, in one SVG document."""

from collections.abc import Sequence
from itertools import accumulate

# name, light, dark
COLOURS = (
    ("card", "#fff", "#17181b"),
    ("ink", "#191814", "#f0eee8"),
    ("soft", "#68645b", "#a19d94"),
    ("accent", "#2f4bd8", "#8ea2ff"),
    ("positive", "#2b6cb0", "#6aa8f7"),
    ("negative", "#d4591f", "#f2935c"),
    ("sigmoid", "#7c5cd6", "#a58bf0"),
    ("tanh", "#138a8a", "#3fb8b3"),
    ("rectifier", "#d09a0a", "#e8b93c"),
    ("wave", "#c2468b", "#e877b2"),
    ("step", "#6b8f2a", "#9bc052"),
    ("curve", "#9a6240", "#c98f6a"),
    ("linear", "#8c8a84", "#a3a19b"),
)
TITLES = {
    "input": "input",
    "sigmoid": "sigmoid",
    "tanh": "tanh-like",
    "rectifier": "rectifiers",
    "wave": "waves and bumps",
    "step": "steps",
    "curve": "other curves",
    "linear": "linear",
}


_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def escape(text: str) -> str:
    """Return text that stands in SVG or HTML for itself."""
    return text.translate(_ESCAPES)


def document(label: str, width: float, height: float, body: str) -> str:
    """Return a whole SVG document of a size in px; its class scopes the style in a page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="neat-onnx" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(label)}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" class="card"/>{body}</svg>\n'
    )


def _rules(column: int) -> str:
    colour = {row[0]: row[column] for row in COLOURS}
    rules = {
        ".card,.f-input": f"fill:{colour['card']}",
        ".f-input,.output": f"stroke:{colour['ink']}",
        "text": f"fill:{colour['soft']}",
        ".p": f"stroke:{colour['positive']}",
        ".m,.bar": f"stroke:{colour['negative']}",
        ".off": f"stroke:{colour['soft']}",
        ".layer": f"fill:{colour['accent']};stroke:{colour['accent']}",
        ".gate": f"fill:{colour['card']};stroke:{colour['accent']}",
        ".thread": f"stroke:{colour['accent']}",
    }
    rules |= {f".f-{name}": f"fill:{colour[name]}" for name in TITLES if name in colour}
    return "".join(
        ",".join(f".neat-onnx {part}" for part in names.split(",")) + "{" + rule + "}"
        for names, rule in rules.items()
    )


_STYLE = (
    ".neat-onnx text{font:12px system-ui,sans-serif}.neat-onnx path{fill:none}"
    ".neat-onnx .late{stroke-dasharray:6 4}.neat-onnx .off{stroke-dasharray:1.5 4}"
    ".neat-onnx .layer{fill-opacity:.1;stroke-opacity:.55;stroke-linejoin:round}"
    ".neat-onnx .gate{stroke-width:1.4}"
    ".neat-onnx .thread{stroke-width:.8;stroke-dasharray:2 3;opacity:.45}"
    ".neat-onnx .idle{opacity:.3}.neat-onnx .output,.neat-onnx .f-input{stroke-width:1.6}"
    + _rules(1)
    + "@media (prefers-color-scheme:dark){"
    + _rules(2)
    + "}"
)


def stroke(name: str, width: float) -> str:
    """Return the mark of a legend's entry for connections of a class."""
    return f'<path class="{name}" stroke-width="{width}" d="M0-4h22"/>'


def legend(entries: Sequence[tuple[str, str]], width: float, top: float) -> list[str]:
    """Return the rows of a legend, which begins at a height."""
    sizes = [(26 if "h22" in mark else 16) + 6.6 * len(words) + 18 for mark, words in entries]
    ends = list(accumulate(sizes))
    rows: list[str] = []
    row: list[str] = []
    begin = 0.0
    for (mark, words), end, size in zip(entries, ends, sizes, strict=True):
        if row and end - begin > width - 24:
            rows.append("".join(row))
            begin, row = end - size, []
        x = 12 + end - size - begin
        text = f'<text x="{26 if "h22" in mark else 16}">{escape(words)}</text>'
        row.append(
            f'<g transform="translate({x:.0f} {top + 22 * len(rows) + 10:.0f})">{mark}{text}</g>'
        )
    return [*rows, "".join(row)]
