"""The table of operators in docs/operators.md, from the code and from ONNX's own schemas.

A restriction is a difference between ONNX's schema of an operator and its class in this package
(attributes, values, inputs, outputs), an input that lifting asks to be constant, or a line of
`NOTES`, for limits that no declaration holds.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import onnx

import neat_onnx
from neat_onnx.model.data_type import DataType
from neat_onnx.model.graph import NEWEST_OPSET
from neat_onnx.model.node import Node, node_classes

PACKAGE = Path(neat_onnx.__file__).parent
OPSET = NEWEST_OPSET
ML_OPSET = 3  # the last one with trees as scikit-learn's converter writes them
NOTES = {
    "BatchNormalization": "variance plus epsilon above 0",
    "Clip": "bounds are single numbers",
    "Dropout": "`training_mode` false",
    "Einsum": "letters, ellipses, commas and an arrow",
    "GRU": "along the first axis; sequences of one length where it is open",
    "Gather": "computed `indices` of a constant, or of what has no batch",
    "GatherElements": "constant indices that are there for each sample",
    "If": "a condition of constants and shapes, or a computed one between results of one shape",
    "LSTM": "along the first axis; sequences of one length where it is open",
    "LRN": "`size` odd",
    "AveragePool": "no `dilations` with `auto_pad` SAME",
    "LpPool": "no `dilations` with `auto_pad` SAME",
    "MaxPool": "its second output, the indices, is not read; no `dilations` with `auto_pad` SAME",
    "Mod": "`fmod` 1 where the divisor is computed",
    "QGemm": "constant scales and zero points; one scale of the result",
    "RNN": "along the first axis; sequences of one length where it is open",
    "GatherND": "constant indices without a batch, or computed ones of one axis",
    "LinearRegressor": "`post_transform` for several targets only",
    "LinearClassifier": "a score for each label",
    "ScatterElements": "constant indices that are there for each sample",
    "ScatterND": "constant indices, not along the batch, or computed ones without a batch",
    "TreeEnsemble": "no `BRANCH_MEMBER`",
    "TreeEnsembleClassifier": "a score for each label, or one for two",
    "SVMClassifier": "`post_transform` of two labels NONE",
    "Slice": "computed ones between which all elements are reduced",
    "Scan": "forward, along the first axis of graph inputs or of fixed length",
}
BEFORE_LIFTING = {"Constant"}  # every form of it has become an initializer
_LOOKUPS_OF_CONSTANTS = ("constant", "integers", "integer_of", "single")
TRAINING_OR_UNUSED = {"momentum", "seed", "stash_type", "precision", "overwrite"}


def rows() -> Iterator[list[str]]:
    """Yield name, file, whether export writes it, and its restrictions."""
    written, constants = written_operators(), constant_inputs()
    for name, kind in node_classes().items():
        if not kind.__module__.startswith("neat_onnx."):
            continue
        domain = kind.model_fields["domain"].default
        exported = "yes" if name in written else "–"
        if domain not in ("", "ai.onnx.ml"):  # onnx has no schema of it
            yield [f"`{domain}.{name}`", file_of(kind), exported, NOTES.get(name, "–")]
            continue
        version = 5 if name == "TreeEnsemble" else ML_OPSET if domain else OPSET
        schema = onnx.defs.get_schema(name, version, domain)
        found = [*_attributes(kind, schema), *_arity(kind, schema)]
        if positions := constants.get(name):
            names = [schema.inputs[at].name for at in sorted(positions) if at < len(schema.inputs)]
            found += [f"constant {', '.join(f'`{each}`' for each in names)}"] if names else []
        found += [NOTES[name]] if name in NOTES else []
        yield [f"`{name}`", file_of(kind), exported, "; ".join(found) or "–"]


def file_of(kind: type[Node]) -> str:
    """The file that holds an operator, under neat_onnx/operators."""
    path = kind.__module__.removeprefix("neat_onnx.operators.export.").replace(".", "/")
    return f"`{path}.py`"


def _attributes(kind: type[Node], schema: Any) -> Iterator[str]:
    declared = kind.model_fields["attributes"].annotation.model_fields  # type: ignore[union-attr]
    left_out = sorted(schema.attributes.keys() - declared.keys() - TRAINING_OR_UNUSED)
    if left_out and kind.__name__ not in BEFORE_LIFTING:
        yield f"no {', '.join(f'`{name}`' for name in left_out)}"
    for name, field in declared.items():
        values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        if name == "to":
            yield f"`to` {', '.join(DataType(value).name for value in values)}"
        elif len(values) == 1 and name not in TRAINING_OR_UNUSED:
            yield f"`{name}` {values[0]}"


def _arity(kind: type[Node], schema: Any) -> Iterator[str]:
    for what, (_, most), possible in (
        ("input", kind.inputs, schema.max_input),
        ("output", kind.outputs, schema.max_output),
    ):
        if most is not None and most < min(possible, 1 << 20):
            yield f"at most {most} {what}{'s' if most > 1 else ''}"


@cache
def _functions(folder: str) -> list[tuple[Path, ast.FunctionDef]]:
    return [
        (path, node)
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]


def _lifted(function: ast.FunctionDef) -> list[str] | None:
    """The operators that a function lifts, where its decorator names them; None for others."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "lifts":
            return [part.id for part in decorator.args if isinstance(part, ast.Name)]
    return None


def constant_inputs() -> dict[str, set[int]]:
    """Positions of the inputs that each operator's lifting reads as constants in any case."""
    found: dict[str, set[int]] = {}
    for _, function in _functions("operators"):
        for name in _lifted(function) or ():
            for statement in function.body:  # not under a condition
                if not isinstance(statement, ast.If | ast.For | ast.While):
                    found.setdefault(name, set()).update(_constants_read(statement))
    return found


def _constants_read(statement: ast.AST) -> Iterator[int]:
    for node in ast.walk(statement):
        if isinstance(node, ast.IfExp | ast.FunctionDef):
            return
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in _LOOKUPS_OF_CONSTANTS
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Constant)
        ):
            yield node.args[1].value


def written_operators() -> set[str]:
    """Operators whose classes stand in functions that do not lift, or in a table that these use;
    and the ones that frames make nodes of, by their names.
    """
    names = set(node_classes())
    found = names & set(_named("operators"))
    for folder in ("operators", "lowering", "population"):
        for path, function in _functions(folder):
            if _lifted(function) is None and not function.name.startswith(("lift", "_lift")):
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
