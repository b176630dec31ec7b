"""Every package that building and testing installs is pinned, by name and version alone."""

import importlib.metadata
import re
import tomllib

from generate.lock import FILE, ROOT, installed
from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINES = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
PINS = dict(line.split("==") for line in LINES)
INSTALLED = installed(PROJECT)


def name_of(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


def needed(names: list[str]) -> set[str]:
    """The packages that these need, as the installed ones tell."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        each = waiting.pop()
        if name_of(each) in found or (each.marker and not each.marker.evaluate({"extra": ""})):
            continue
        found.add(name_of(each))
        waiting += map(Requirement, importlib.metadata.requires(each.name) or [])
    return found


def test_everything_that_is_installed_is_pinned():
    assert needed(INSTALLED) - set(PINS) == set()


def test_pins_are_what_the_project_asks_for():
    for each in map(Requirement, [*PROJECT["build-system"]["requires"], *INSTALLED]):
        assert each.specifier.contains(PINS[name_of(each)]), each


def test_pins_are_names_and_versions():
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in LINES)
    assert sorted(PINS) == list(PINS)
    assert len(PINS) == len(LINES)
