"""The table of operators in docs/operators.md, from the signatures of their functions.

A restriction is a difference between ONNX's schema of an operator and its function in this package:
attributes, values, and inputs that have to be constants.
"""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import onnx

import neat_onnx
import neat_onnx.operators.families
from neat_onnx.lifting.operator import OPERATORS, Operator
from neat_onnx.model.graph import NEWEST_OPSET
from neat_onnx.network.cells import RECOGNISED
from neat_onnx.network.expression import PRIMITIVES
from neat_onnx.network.spatial import Kind

PACKAGE = Path(neat_onnx.__file__).parent
ML_OPSET = 3  # the last one with trees as scikit-learn's converter writes them
UNUSED = {"momentum", "seed", "stash_type", "precision", "overwrite", "consumed_inputs"}


def rows() -> Iterator[list[str]]:
    """Yield a file and its operators; those that export writes are bold."""
    written, files = written_operators(), defaultdict(list)
    for name, operator in _own():
        files[file_of(operator)].append(f"**{name}**" if name in written else name)
    for file, names in sorted(files.items()):
        yield [file, ", ".join(names)]


def restrictions() -> Iterator[list[str]]:
    """Yield the operators that have the same restrictions, and these."""
    shared = defaultdict(list)
    for name, operator in _own():
        if operator.domain in ("", "ai.onnx.ml"):
            found = _restrictions(operator, _schema(operator.domain, name))
            shared["; ".join(found)].append(name)
    for found, names in shared.items():
        if found:
            yield [", ".join(names), found]


def _own() -> Iterator[tuple[str, Operator]]:
    """Yield this package's operators by their names, with the domain where it is no common one."""
    for (domain, name), operator in sorted(OPERATORS.items(), key=lambda pair: pair[0][::-1]):
        if operator.function.__module__.startswith("neat_onnx."):
            yield (name if domain in ("", "ai.onnx.ml") else f"{domain}.{name}"), operator


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


def written_operators() -> set[str]:
    """Operators whose names stand in the code of export, apart from their declarations; and those
    of primitives, windows and cells, which the network's tables name.
    """
    found = {*get_args(Kind), *(cell.operator for cell in RECOGNISED)}
    found |= {name.capitalize() for name in PRIMITIVES}
    folders = ("operators/export", "lowering", "population")
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    for path in (*files, PACKAGE / "quantization.py"):
        if path.name != "nodes.py":
            found |= set(_texts(ast.parse(path.read_text(encoding="utf-8"))))
    return found & {name for _, name in OPERATORS}


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts in code, but for names of tensors."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("tensor", "names")):
        for inner in ast.iter_child_nodes(node):
            yield from _texts(inner)
