"""The table of operators in docs/operators.md, from the signatures of their functions.

A restriction is a difference between ONNX's schema of an operator and its function in this package:
attributes, values, and inputs that have to be constants.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import onnx

import neat_onnx
import neat_onnx.operators.families
from neat_onnx.lifting.operator import OPERATORS, Operator
from neat_onnx.model.graph import NEWEST_OPSET
from neat_onnx.model.node import node_classes

PACKAGE = Path(neat_onnx.__file__).parent
ML_OPSET = 3  # the last one with trees as scikit-learn's converter writes them
UNUSED = {"momentum", "seed", "stash_type", "precision", "overwrite", "consumed_inputs"}


def rows() -> Iterator[list[str]]:
    """Yield name, file, whether export writes it, and its restrictions."""
    written = written_operators()
    for (domain, name), operator in sorted(OPERATORS.items(), key=lambda pair: pair[0][::-1]):
        if not operator.function.__module__.startswith("neat_onnx."):
            continue
        known = domain in ("", "ai.onnx.ml")
        found = _restrictions(operator, _schema(domain, name)) if known else []
        exported = "yes" if known and name in written else "–"
        shown = name if known else f"{domain}.{name}"
        yield [f"`{shown}`", file_of(operator), exported, "; ".join(found) or "–"]


def _schema(domain: str, name: str) -> Any:
    version = 5 if name == "TreeEnsemble" else ML_OPSET if domain else NEWEST_OPSET
    try:
        return onnx.defs.get_schema(name, version, domain)
    except onnx.defs.SchemaError:  # newer than this version of onnx, or gone from ONNX
        return None


def file_of(operator: Operator) -> str:
    """The file that holds an operator, under neat_onnx/operators."""
    path = operator.function.__module__.removeprefix("neat_onnx.operators.").replace(".", "/")
    return f"`{path}.py`"


def _restrictions(operator: Operator, schema: Any) -> list[str]:
    found = []
    if schema is not None:
        known = {*operator.attributes, *operator.inputs} | UNUSED
        if left_out := sorted(schema.attributes.keys() - known):
            found.append(f"no {', '.join(f'`{name}`' for name in left_out)}")
    for name, attribute in operator.attributes.items():
        if attribute.allowed and name not in UNUSED and not _has_all(schema, name, attribute):
            found.append(f"`{name}` {' or '.join(map(str, attribute.allowed))}")
    parameters = inspect.signature(operator.function).parameters
    constant = [
        name for name in operator.inputs if str(parameters[name].annotation).startswith(_ARRAYS)
    ]
    if constant:
        found.append(f"constant {', '.join(f'`{name}`' for name in constant)}")
    return found


_ARRAYS = ("Array", "numpy.ndarray")


def _has_all(schema: Any, name: str, attribute: Any) -> bool:
    """Whether the values that are supported are ONNX's two of a flag, or text of a known few."""
    return (
        schema is not None and len(attribute.allowed) > 1 and isinstance(attribute.allowed[0], str)
    )


@cache
def _functions(folder: str) -> list[tuple[Path, ast.FunctionDef]]:
    return [
        (path, node)
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]


def written_operators() -> set[str]:
    """Operators whose classes stand in functions of export, or in a table that these use; and the
    ones that frames make nodes of, by their names.
    """
    names = set(node_classes())
    found = {name for _, name in OPERATORS} & set(_named("operators/export"))
    for folder in ("operators/export", "lowering", "population"):
        for path, function in _functions(folder):
            tables = _tables(path)
            for name in _emitted(function):
                found |= names & {name, *tables.get(name, ())}
    return found


def _named(folder: str) -> Iterator[str]:
    """Yield the operators that the functions of a folder make nodes of, by their names."""
    for _, function in _functions(folder):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "node":
                yield from _texts(node.args[:1])


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


@cache
def _tables(path: Path) -> dict[str, set[str]]:
    """The names in the value of each constant of a module, and in the constants that it names."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
            found[getattr(target, "id", "")] = used.union(*(found.get(name, ()) for name in used))
    return found


def _emitted(function: ast.FunctionDef) -> Iterator[str]:
    """Names in a function, those that it only tests the type of, or annotates with, excepted."""
    tested = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "cast")
        for part in ast.walk(node)
    }
    notes = [function.args, function.returns, *function.decorator_list]
    notes += [node.annotation for node in ast.walk(function) if isinstance(node, ast.AnnAssign)]
    for note in filter(None, notes):
        tested |= {id(part) for part in ast.walk(note)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and id(node) not in tested:
            yield node.id
