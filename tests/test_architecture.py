"""The shape of the code: who imports whom, and that nothing is forgotten."""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import onnx
from support.silent_handlers import SILENT

import neat_onnx
import neat_onnx.operators.export.families
import neat_onnx.operators.families
from neat_onnx.lifting.operator import OPERATORS
from neat_onnx.model import node_classes

PACKAGE = Path(neat_onnx.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

# a package or folder on the left imports of this package only the modules on the right, with all
# that is in them, its own, and those of EVERYWHERE; docs/architecture.md says why
BOUNDARIES = {
    "network": (),
    "model": (),
    "options": ("network",),
    "passes": ("model", "lifting"),
    "codegen": ("network",),
    "libraries": ("network",),
    "libraries/neataptic_ts/onnx": ("network", "libraries", "model", "operators.export", "options"),
    "lifting": ("network", "model", "operators", "runtimes"),
    "lowering": ("network", "model", "options", "operators", "genome", "conversion"),
    "operators": ("network", "model", "lifting"),
    "operators/export": (
        *("network", "model", "options", "operators"),
        *("lowering.builder", "lowering.context", "lowering.placement", "lowering.registry"),
        "lowering.signals",
        *("lifting.axes", "lifting.custom"),
    ),
    "genome": (
        *("network", "model", "lifting.trace", "lifting.axes", "lifting.recognition"),
        "lowering.context",
        "libraries.neataptic_ts.onnx",
    ),
    "population": ("network", "libraries.load", "libraries.neat_python"),
    "drawing": ("network", "operators.export.recogniser"),
    "training": ("network",),
    "runtimes": ("network", "model", "lifting.axes", "genome", "codegen"),
    "verification": ("network", "model", "lifting", "genome", "runtimes"),
    "cli": ("__init__", "network", "model", "options", "libraries", "codegen", "runtimes",
            "verification", "drawing", "schemas"),
    "page": ("__init__", "network", "model", "options", "libraries", "genome",
             "drawing", "lowering.checks", "runtimes", "verification"),
}  # fmt: skip
EVERYWHERE = ("errors", "files", "parsing", "arguments", "collector", "version", "schema_links",
              "progress")  # fmt: skip
CORES = ("lowering",)


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


def place(path: Path, node: ast.stmt | ast.ExceptHandler | None = None) -> str:
    """The file, and the line of the node in it, for a failed check."""
    name = path.relative_to(PACKAGE.parent).as_posix()
    return name if node is None else f"{name}:{node.lineno}"


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix().split("/")[0]


@functools.cache
def imports(path: Path) -> tuple[str, ...]:
    """The modules of this package that a file imports when it is used, without the package's name.

    Imports for type checkers only do not count.
    """
    skipped = {
        inner
        for node in nodes_of(path)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    used = [node for node in nodes_of(path) if isinstance(node, ast.Import | ast.ImportFrom)]
    return tuple(
        name.removeprefix("neat_onnx.") if name != "neat_onnx" else "__init__"
        for node in used
        if node not in skipped
        for name in names_in(node)
        if name == "neat_onnx" or name.startswith("neat_onnx.")
    )


def names_in(node: ast.Import | ast.ImportFrom) -> list[str]:
    """What a statement imports: modules, or perhaps modules of a package."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not node.module:
        return []
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


def dotted(path: Path) -> str:
    """The module's name within the package; of a package, the package's."""
    name = path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
    return name.removesuffix(".__init__")


def own_operators() -> set[str]:
    """The op_types of the package; other tests may have registered some of their own."""
    classes = node_classes().items()
    return {name for name, kind in classes if kind.__module__.startswith("neat_onnx.")}


def row_of(path: Path) -> str:
    """The row of BOUNDARIES for a file: that of the innermost folder."""
    folders = path.relative_to(PACKAGE).parents
    return next(name for folder in folders if (name := folder.as_posix()) in BOUNDARIES)


def test_layers():
    wrong = [
        f"{place(path)} imports {name}"
        for path in SOURCES
        if path.parent != PACKAGE
        for name in imports(path)
        if not is_within(name, (module_of(path), *EVERYWHERE, *BOUNDARIES[row_of(path)]))
    ]
    assert wrong == []


def is_within(name: str, modules: Iterable[str]) -> bool:
    return any(f"{name}.".startswith(f"{module}.") for module in modules)


def test_every_boundary_is_needed():
    """No row allows an import that is not there."""
    used: dict[str, set[str]] = {who: set() for who in BOUNDARIES}
    for path in SOURCES:
        if path.parent != PACKAGE:
            used[row_of(path)].update(imports(path))
    for who, allowed in BOUNDARIES.items():
        for module in allowed:
            assert any(is_within(name, [module]) for name in used[who]), f"{who}: {module}"


def cores() -> list[Path]:
    return [
        path
        for path in SOURCES
        if module_of(path) in CORES and path.name != "weights.py"  # of written models
    ]


def test_the_cores_name_no_operator():
    names = own_operators() | {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    for path in cores():
        used = {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}
        texts = {node.value for node in nodes_of(path) if isinstance(node, ast.Constant)}
        assert not names & used, path
        assert not names & {text for text in texts if isinstance(text, str)}, path


def test_the_cores_import_nothing_of_the_operators():
    """Only the modules whose import fills the registries."""
    allowed = {"operators.export", "operators.export.families", "operators.families"}
    for path in cores():
        found = {name for name in imports(path) if name.startswith("operators.")}
        assert found <= allowed, path


def test_an_export_loads_nothing_of_import_or_verification():
    """A process that only exports need not wait for the others."""
    program = (
        "import sys, neat_onnx\n"
        "neat_onnx.export(neat_onnx.Network.mlp([2, 1])).to_bytes()\n"
        "print(*(name.removeprefix('neat_onnx.') for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = set(run.stdout.decode().split())
    assert "lowering.core" in loaded
    assert not loaded & {"lifting.trace", "operators.families", "genome.read", "codegen.plan"}
    assert not loaded & {"verification.report", "verification.compare", "population.population"}


def test_no_import_closes_a_circle():
    """Imports inside functions count as well."""
    modules = {dotted(path): path for path in SOURCES}
    leads = {name: used_modules(path, modules) for name, path in modules.items()}
    while True:  # take away who imports nothing that is left: circles, and who leads there, remain
        done = {name for name, others in leads.items() if not others & leads.keys()}
        if not done:
            break
        leads = {name: others - done for name, others in leads.items() if name not in done}
    assert leads == {}


def used_modules(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules that a file imports; `from package import module` uses the module only."""
    found = set(imports(path)) & modules.keys()
    uses_more = {name.rpartition(".")[0] for name in set(imports(path)) - modules.keys()}
    parents = {name.rpartition(".")[0] for name in found}
    return {name for name in found if name not in parents or name in uses_more}


def test_what_tests_share_stands_in_rooms_of_its_own():
    """Beside the tests of the whole package stand only their settings."""
    names = {path.name for path in Path(__file__).parent.iterdir() if path.is_file()}
    assert {name for name in names if not name.startswith("test_")} == {"conftest.py"}


def test_errors_are_not_swallowed():
    found = []
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"a bare except in {place(path, node)}"
            if drops_an_error(node):
                name = path.relative_to(PACKAGE).as_posix()
                found.append(f"{name}:{function_of(path, node)}")
    assert sorted(found) == sorted(where for where, _ in SILENT)


def drops_an_error(node: ast.AST) -> bool:
    """Whether a handler neither raises, nor reads the error, nor calls anything to tell of it."""
    if not isinstance(node, ast.ExceptHandler):
        return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")
    inner = [each for statement in node.body for each in ast.walk(statement)]
    speaks = any(
        isinstance(each, ast.Raise)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call))
        or (isinstance(each, ast.Name) and each.id == node.name)
        for each in inner
    )
    return not speaks


def function_of(path: Path, node: ast.AST) -> str:
    """The name of the innermost function around a node."""
    around = [
        each
        for each in nodes_of(path)
        if isinstance(each, ast.FunctionDef) and each.lineno <= node.lineno <= each.end_lineno
    ]
    return max(around, key=lambda each: each.lineno).name if around else "-"


def test_the_public_names():
    public = {
        name
        for name, value in vars(neat_onnx).items()
        if not name.startswith("_") and type(value).__name__ != "module"
    }
    later = set(neat_onnx._IMPORTED_WHEN_USED)
    assert public | {"__version__"} | later == set(neat_onnx.__all__)
    assert neat_onnx.__all__ == sorted(neat_onnx.__all__)


def test_every_operator_that_has_a_class_has_a_function():
    assert own_operators() <= {name for _, name in OPERATORS}


def test_every_file_says_what_it_is_for():
    for path in SOURCES:
        assert not text_of(path).strip() or ast.get_docstring(tree_of(path)), place(path)
        assert not re.search(r"\b(TODO|FIXME|XXX)\b", text_of(path)), place(path)
