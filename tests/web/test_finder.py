"""Tables of modules, as the page imports them: packages, namespaces, what is in no table."""

import base64
import gzip
import hashlib
import importlib
import importlib.util
import json
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


def entry(path, data, modules):
    """A file as the lock names it, and what a server sends for it."""
    packed = gzip.compress(data, mtime=0)
    digest = base64.b64encode(hashlib.sha256(packed).digest()).decode()
    facts = {"file": f"packages/{path}.gz", "integrity": f"sha256-{digest}"}
    return {**facts, "path": path, "modules": modules}, packed


def test_a_table_is_fetched_when_one_of_its_modules_is_asked_for(finder):
    data = table(rare="answer = 42", rarer="from rare import answer").to_bytes()
    described, packed = entry("rare.modules", data, ["rare", "rarer"])
    fetched = []

    def fetch(file, integrity):
        fetched.append(file)
        return SimpleNamespace(to_bytes=lambda: packed)

    finder.add_seldom(json.dumps([described]))
    finder.fetch_with(fetch)
    assert fetched == []
    assert importlib.import_module("rarer").answer == 42
    assert fetched == ["packages/rare.modules.gz"]


def test_another_file_than_the_lock_names_is_refused(finder):
    described, _ = entry("odd.modules", table(odd="").to_bytes(), ["odd"])
    finder.add_seldom(json.dumps([described]))
    finder.fetch_with(lambda *_: SimpleNamespace(to_bytes=lambda: b"x"))
    with pytest.raises(ImportError, match=r"packages/odd\.modules\.gz: it is another file"):
        importlib.import_module("odd")

    def missing(file, integrity):
        raise OSError("the server answered 404")

    finder.add_seldom(json.dumps([described]))
    finder.fetch_with(missing)
    with pytest.raises(ImportError, match="the server answered 404"):
        importlib.import_module("odd")


def test_a_library_is_loaded_when_a_function_of_it_is_asked_for(finder):
    source = importlib.util.find_spec("_bisect").origin  # a shared library, or built in
    if not source or not source.endswith(".so"):
        pytest.skip("this Python has no module in a shared library to try")
    described, packed = entry("_bisect.so", Path(source).read_bytes(), ["_bisect"])
    finder.add_seldom(json.dumps([described]))
    finder.fetch_with(lambda *_: SimpleNamespace(to_bytes=lambda: packed))
    sys.modules.pop("_bisect", None)
    library = importlib.import_module("_bisect")
    assert not (finder.SITE / "_bisect.so").exists()
    assert library.bisect_left([1, 2, 3], 2) == 1
    assert (finder.SITE / "_bisect.so").exists()
