"""A network as HTML: its drawing above a few numbers, for a notebook or as a page of its own."""

from neat_onnx.drawing.frame import escape
from neat_onnx.drawing.svg import to_svg
from neat_onnx.network.network import Network
from neat_onnx.network.summary import summary

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
