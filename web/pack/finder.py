"""Runs inside Pyodide: imports modules from tables, so that a package is one file and not hundreds.

A table, made by bundle.py, is a marshalled dict: a module's name → whether it is a package, and its
code, which a namespace has none of. A package gets the folder that its wheel would give it, so that
the import system finds its shared libraries there.
"""

import importlib
import marshal
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

SITE = Path(__file__).parent


class _Finder(MetaPathFinder, Loader):
    def __init__(self) -> None:
        self.modules: dict[str, tuple[bool, bytes]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        is_package, code = self.modules[name]
        place = f"{SITE}/{name.replace('.', '/')}"
        spec = ModuleSpec(name, self if code else None, is_package=is_package)
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(place)
        if code:
            spec.origin = f"{place}/__init__.py" if is_package else f"{place}.py"
            spec.has_location = True  # so that the module gets its __file__
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(marshal.loads(self.modules[module.__name__][1]), module.__dict__)


_finder = _Finder()
sys.meta_path.insert(0, _finder)


def add(table: Any) -> None:
    """Make the modules of a table, a buffer of JavaScript's, importable."""
    _finder.modules.update(marshal.loads(table.to_bytes()))
    importlib.invalidate_caches()  # shared libraries may have come with it
