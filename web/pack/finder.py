"""Runs inside Pyodide: imports modules from tables, so that a package is one file and not hundreds.

A table, made by bundle.py, is a marshalled dict: a module's name → whether it is a package, and its
code, which a namespace has none of. A package gets the folder that its wheel would give it, so that
the import system finds its shared libraries there.

Modules that hardly anybody imports are in tables that are fetched when one of them is asked for,
and a shared library of that kind when one of its functions is.
"""

import base64
import hashlib
import importlib
import json
import marshal
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

SITE = Path(__file__).parent
_GZIP = 31  # the window of zlib that stands for a gzip file


class _Finder(MetaPathFinder, Loader):
    def __init__(self) -> None:
        self.modules: dict[str, tuple[bool, bytes]] = {}
        self.seldom: dict[str, Callable[[], None]] = {}  # module → what adds its table
        self.libraries: dict[str, Callable[[], Path]] = {}  # module → what gives its file
        self.fetch: Callable[[str, str], Any] | None = None  # gives a gzipped file of the lock

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self.libraries:
            return ModuleSpec(name, _Deferred(self.libraries[name]))
        if name not in self.modules and name in self.seldom:
            self.seldom[name]()
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


class _Deferred(Loader):
    """Loads a shared library when the first of its functions is asked for."""

    def __init__(self, fetch: Callable[[], Path]) -> None:
        self._fetch = fetch

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Library(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__fetch__"] = self._fetch


class _Library(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = spec_from_file_location(self.__name__, self.__dict__["__fetch__"]())
        assert found is not None and isinstance(found.loader, ExtensionFileLoader)
        library = module_from_spec(found)
        found.loader.exec_module(library)
        self.__dict__.update(vars(library))
        return vars(library)[name]


_finder = _Finder()
sys.meta_path.insert(0, _finder)


def add(table: Any) -> None:
    """Make the modules of a table, a buffer of JavaScript's, importable."""
    _finder.modules.update(marshal.loads(table.to_bytes()))
    importlib.invalidate_caches()  # shared libraries may have come with it


def add_seldom(entries: str) -> None:
    """Make modules importable whose files are fetched only then, as `fetch_with` says.

    Args:
        entries: JSON, a list of `{file, integrity, path, modules}` as the lock has them.
    """
    for entry in json.loads(entries):
        if entry["path"].endswith(".so"):
            _finder.libraries[entry["modules"][0]] = partial(_written, entry)
        else:
            for name in entry["modules"]:
                _finder.seldom[name] = partial(_added, entry)


def fetch_with(fetch: Callable[[str, str], Any] | None) -> None:
    """Fetch files with a function of JavaScript's: the content, gzipped, by `file` and `integrity`.

    None lets go of it: a snapshot of Python's memory can hold nothing of JavaScript's.
    """
    _finder.fetch = fetch


def _added(entry: dict[str, Any]) -> None:
    _finder.modules.update(marshal.loads(_content(entry)))


def _written(entry: dict[str, Any]) -> Path:
    target = SITE / str(entry["path"])
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_content(entry))
    return target


def _content(entry: dict[str, Any]) -> bytes:
    """The content of a file of the lock.

    Raises:
        ImportError: it cannot be fetched, or is not the file that the lock names.
    """
    if _finder.fetch is None:
        raise ImportError(f"could not load {entry['file']}: nothing fetches it")
    try:
        packed = _finder.fetch(entry["file"], entry["integrity"]).to_bytes()
    except Exception as error:
        raise ImportError(f"could not load {entry['file']}: {error}") from error
    digest = base64.b64encode(hashlib.sha256(packed).digest()).decode()
    if entry["integrity"] != f"sha256-{digest}":
        raise ImportError(f"could not load {entry['file']}: it is another file than expected")
    return zlib.decompress(packed, _GZIP)
