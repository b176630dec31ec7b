"""Tables of modules, as the page imports them: packages, namespaces, what is in no table."""

import importlib
import importlib.util
import marshal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

FINDER = Path(__file__).absolute().parents[2] / "web" / "pack" / "finder.py"


def table(**sources):
    """What bundle.py makes of modules; a name's dots are written as two underscores."""
    modules = {}
    for key, source in sources.items():
        name = key.replace("__", ".")
        is_package = any(other.startswith(f"{key}__") for other in sources)
        code = b"" if source is None else marshal.dumps(compile(source, name, "exec"))
        modules[name] = (is_package, code)
    data = marshal.dumps(modules, 2)
    return SimpleNamespace(to_bytes=lambda: data)


@pytest.fixture
def finder(tmp_path, monkeypatch):
    """finder.py as it stands in site-packages."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "finder.py").write_text(FINDER.read_text())
    spec = importlib.util.spec_from_file_location("finder", tmp_path / "finder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_and_its_module(finder, tmp_path):
    finder.add(table(tabled="from tabled.inner import here", tabled__inner="here = __name__"))
    tabled = importlib.import_module("tabled")
    assert tabled.here == "tabled.inner"
    assert tabled.__file__ == f"{tmp_path}/tabled/__init__.py"
    assert sys.modules["tabled.inner"].__package__ == "tabled"


def test_a_namespace_has_no_code(finder):
    finder.add(table(spaced=None, spaced__inner="answer = 42"))
    assert importlib.import_module("spaced.inner").answer == 42
    assert importlib.import_module("spaced").__file__ is None


def test_what_is_no_module_of_the_table_is_found_as_a_file(finder, tmp_path):
    finder.add(table(mixed="", mixed__inner=""))
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "library.py").write_text("answer = 42")
    assert importlib.import_module("mixed.library").answer == 42


def test_tables_add_up(finder):
    finder.add(table(one="answer = 1"))
    finder.add(table(two="from one import answer"))
    assert importlib.import_module("two").answer == 1
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("three")
