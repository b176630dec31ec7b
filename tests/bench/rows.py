"""The rows of measured tables, and the place of such a table in a document."""

import argparse
import re
from collections.abc import Callable
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


def measured(document: str, name: str, made: Callable[[int], str], what: str | None) -> None:
    """Print the table that is made of every network, and write it into its document; with
    `--every N`, of each Nth, printed alone.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
    text = made(every)
    print(text)
    if every == 1:
        replaced(document, name, text)
