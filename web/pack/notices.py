"""The licences and notices of all that the site ships, as one text.

A wheel carries its own; npm's Pyodide carries none, so that the texts for it and for what is linked
into it are kept in web/licenses. Nothing is shipped without one.
"""

import json
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from pack import archive

_KEPT = Path(__file__).parent.parent / "licenses"
_TEXT = re.compile(r"(.*/)?(LICEN[CS]E|COPYING|NOTICE)[^/]*$")
_BILL = re.compile(r"[^/]+\.dist-info/sboms/.*\.json$")
_LINE = "=" * 80


class Component(NamedTuple):
    """Something that is shipped under a licence.

    Attributes:
        name: with its version.
        license: its name, SPDX's where there is one.
        texts: the licence, and the notices that go with it.
    """

    name: str
    license: str
    texts: list[str]


def text(root: Path, wheels: list[Path]) -> str:
    """Return the notices of a site: a list of its components, then the texts of each.

    Args:
        root: of the project, with its LICENSE and node_modules.
        wheels: as they were published, ours excepted.
    """
    components = [_own(root), *_engine(root, wheels), *map(of_wheel, wheels)]
    components.append(of_installed("mkdocs-material"))  # scripts and icons of the documentation
    parts = ["What this site ships, and under which licences."]
    parts.append("\n".join(f"- {each.name}: {each.license}" for each in components))
    seen: dict[str, str] = {}
    for each in components:
        parts.append(f"{_LINE}\n{each.name} ({each.license})\n{_LINE}")
        for part in map(str.strip, each.texts):
            first = seen.setdefault(part, each.name)
            parts.append(part if first == each.name else f"The same text as under {first}.")
    return "\n\n".join(parts) + "\n"


def of_wheel(path: Path) -> Component:
    """Return the name, licence and notices of a published wheel.

    Raises:
        SystemExit: it carries no licence.
    """
    files = dict(archive.members(path))
    (about,) = (data for name, data in files.items() if name.endswith(".dist-info/METADATA"))
    facts = message_from_bytes(about)
    texts = {data.decode(): None for name, data in files.items() if _is_text(name)}
    if not texts:
        raise SystemExit(f"{path.name} carries no licence: it cannot be shipped")
    linked = [_linked(data) for name, data in sorted(files.items()) if _BILL.fullmatch(name)]
    return Component(f"{facts['Name']} {facts['Version']}", _license(facts), [*texts, *linked])


def of_installed(name: str) -> Component:
    """Return the name, licence and notices of an installed package."""
    package = metadata.distribution(name)
    paths = [path for path in package.files or () if _is_text(path.as_posix())]
    texts = dict.fromkeys(path.read_text() for path in paths)
    return Component(f"{name} {package.version}", "MIT, and the licences of its icons", [*texts])


def _is_text(name: str) -> bool:
    return _TEXT.match(name) is not None and not name.endswith(".py")


def _license(facts: Message) -> str:
    return str(facts["License-Expression"] or facts["License"]).splitlines()[0]


def _linked(bill: bytes) -> str:
    """The components that a wheel's bill of materials names (CycloneDX)."""
    lines = []
    for part in json.loads(bill)["components"]:
        names = [
            entry.get("expression") or entry["license"].get("id") or entry["license"]["name"]
            for entry in part.get("licenses", [])
        ]
        author = f", by {part['author']}" if part.get("author") else ""
        lines.append(f"    {part['name']} {part['version']}: {' and '.join(names)}{author}")
    return "\n".join(
        ["It contains, under licences of which each has its text in this file:", *lines]
    )


def _own(root: Path) -> Component:
    return Component("neat_onnx", "MIT", [(root / "LICENSE").read_text()])


def _engine(root: Path, wheels: list[Path]) -> Iterator[Component]:
    folder = root / "node_modules" / "pyodide"
    package = json.loads((folder / "package.json").read_text())
    python = json.loads((folder / "pyodide-lock.json").read_text())["info"]["python"]
    (micropip,) = (path for path in wheels if path.name.startswith("micropip-"))
    (mozilla,) = (each for each in of_wheel(micropip).texts if each.startswith("Mozilla Public"))
    source = f"Its source: https://github.com/pyodide/pyodide/tree/{package['version']}"
    yield Component(f"Pyodide {package['version']}", package["license"], [source, mozilla])
    changed = "Its standard library is shipped without some modules, compiled, without docstrings."
    terms = (_KEPT / "cpython.txt").read_text()
    yield Component(f"CPython {python}", "PSF-2.0", [changed, terms])
    runtime = json.loads((root / "node_modules/onnxruntime-web/package.json").read_text())
    notice = (_KEPT / "onnxruntime.txt").read_text()
    yield Component(f"onnxruntime-web {runtime['version']}", runtime["license"], [notice])
    linked = (_KEPT / "linked.txt").read_text()
    yield Component("Libraries linked into Pyodide", "as listed below", [linked])
