"""The rows of measured tables, and the place of such a table in a document."""

import re
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).absolute().parents[2] / "docs"


class Row(NamedTuple):
    """A line of a table: `value` has to be at least, or at most, `bound`; None: it is only told."""

    what: str
    value: float
    bound: float | None
    at_least: bool
    detail: str = ""

    @property
    def met(self) -> bool:
        if self.bound is None:
            return True
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| what | measured | bound | |", "|---|---|---|---|"]
    for row in rows:
        bound, met = "–", ""
        if row.bound is not None:
            bound = f"{'≥' if row.at_least else '≤'} {row.bound:g}"
            met = "met" if row.met else "**missed**"
        detail = f" ({row.detail})" if row.detail else ""
        lines.append(f"| {row.what} | {row.value:.3g}{detail} | {bound} | {met} |")
    return "\n".join(lines) + "\n"


def replaced(document: str, name: str, text: str) -> None:
    """Write a text into a document of docs/, between `<!-- measured: NAME -->` and `<!-- end -->`.

    Raises:
        LookupError: there is no such place.
    """
    path = DOCS / document
    place = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    fresh, count = place.subn(lambda found: found[1] + text + found[2], path.read_text("utf-8"))
    if count != 1:
        raise LookupError(f"docs/{document} has no place for the table '{name}'")
    path.write_text(fresh, encoding="utf-8")
