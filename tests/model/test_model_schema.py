"""The published schema: the same verdict as ours, from validators in two languages."""

import copy
import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from sample_models import mlp
from support.examples.model_mistakes import MISTAKES, RIGHT, with_mistake
from support.harness.ajv import verdicts_of_ajv

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, load_model
from neat_onnx.model.schema import model_schema

MOST_ERRORS = 3
GEMM = ("graph", "node", 0)
W0 = ("graph", "initializer", 0)
DIM = ("graph", "inputs", 0, "type", "tensor_type", "shape", "dim", 1)
WRONG = {
    "no graph": (("graph",), None),
    "unknown key": (("colour",), 1),
    "unknown operator": ((*GEMM, "op_type"), "FooBar"),
    "too few inputs": ((*GEMM, "input"), ["input"]),
    "too many outputs": ((*GEMM, "output"), ["a", "b"]),
    "input not a name": ((*GEMM, "input"), ["input", 1]),
    "unknown node key": ((*GEMM, "colour"), 1),
    "unknown attribute": ((*GEMM, "attributes"), [{"name": "gamma", "type": "FLOAT", "f": 1.0}]),
    "attribute of wrong type": ((*GEMM, "attributes"), [{"name": "alpha", "type": "INT", "i": 1}]),
    "attribute of wrong value": (
        (*GEMM, "attributes"),
        [{"name": "transB", "type": "INT", "i": 2}],
    ),
    "attribute as text": ((*GEMM, "attributes"), [{"name": "alpha", "type": "FLOAT", "f": "1"}]),
    "attributes as object": ((*GEMM, "attributes"), {"alpha": 1.0}),
    "attribute on Tanh": (
        ("graph", "node", 1, "attributes"),
        [{"name": "alpha", "type": "FLOAT", "f": 1.0}],
    ),
    "type not supported": ((*W0, "data_type"), 8),
    "numbers under another type": ((*W0, "data_type"), 7),
    "null among numbers": ((*W0, "float_data", 0), None),
    "text among numbers": ((*W0, "float_data", 0), "0.1"),
    "raw and numbers": ((*W0, "raw_data"), "AAAA"),
    "sparse": ((*W0, "sparse"), {"coordinates": [[0, 1]], "values": [0.5]}),
    "nameless initializer": ((*W0, "name"), None),
    "negative dim": ((*W0, "dims", 0), -1),
    "fractional dim": ((*W0, "dims", 0), 3.5),
    "value and symbol": ((*DIM, "dim_param"), "M"),
    "negative extent": ((*DIM, "dim_value"), -1),
    "no version": (("opset_import",), [{"domain": ""}]),
    "metadata as object": (("metadata_props",), {"key": "value"}),
}


def changed_document(path, value):
    """The sound document with `value` at `path`; None takes the key away, but not an entry."""
    document = copy.deepcopy(mlp().to_document())
    target = document
    for step in path[:-1]:
        target = target[step]
    if value is None and isinstance(path[-1], str):
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return document


@functools.cache
def validator():
    """The schema's validator; making both takes longer than any document."""
    return jsonschema.Draft202012Validator(model_schema())


def right_documents():
    yield from model_schema()["examples"]
    yield mlp().to_document()
    yield mlp(data_type=DataType.DOUBLE).to_document()
    yield mlp().to_document(encoding="raw")
    yield {"graph": {"outputs": []}}


def test_right_documents_are_valid_and_load():
    for document in right_documents():
        validator().validate(document)
        load_model(document)


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_documents_are_neither(wrong):
    document = changed_document(*WRONG[wrong])
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(document)
    with pytest.raises(ModelError):
        load_model(document)


def test_ajv_gives_the_same_verdicts(tmp_path):
    right = list(right_documents())
    documents = right + [changed_document(*change) for change in WRONG.values()]
    lines = verdicts_of_ajv(tmp_path, model_schema(), documents)
    wanted = ["valid"] * len(right) + ["wrong"] * len(WRONG)
    assert [line.split(":")[0] for line in lines] == wanted


# --- mistakes, as people see them ---------------------------------------------------------------


def path_of(error: jsonschema.ValidationError) -> str:
    return error.json_path.removeprefix("$").removeprefix(".")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_shown_where_it_is_with_what_was_expected(name):
    """By the Python validator, in as many errors as a person reads."""
    mistake = MISTAKES[name]
    first, *others = validator().iter_errors(with_mistake(mistake))
    assert path_of(first) == mistake.where
    assert mistake.expected in first.message
    assert len(others) < MOST_ERRORS


def test_the_document_without_mistakes_is_right():
    validator().validate(RIGHT)
    load_model(RIGHT)


def test_ajv_shows_it_too(tmp_path):
    lines = verdicts_of_ajv(tmp_path, model_schema(), list(map(with_mistake, MISTAKES.values())))
    for mistake, line in zip(MISTAKES.values(), lines, strict=True):
        _, count, rest = line.split(" ", 2)
        where = "/" + re.sub(r"[.\[]", "/", mistake.where).replace("]", "")
        assert int(count) <= MOST_ERRORS, line
        assert rest.startswith(f"{where.rstrip('/')} must"), (where, line)


def test_check_jsonschema_shows_it_too(tmp_path):
    """The command that pre-commit hooks run."""
    paths = [tmp_path / f"{at}.json" for at in range(len(MISTAKES))]
    for path, mistake in zip(paths, MISTAKES.values(), strict=True):
        path.write_text(json.dumps(with_mistake(mistake)))
    (tmp_path / "schema.json").write_text(json.dumps(model_schema()))
    command = [sys.executable, "-m", "check_jsonschema", "--output-format", "json"]
    command += ["--schemafile", tmp_path / "schema.json", *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    for error in json.loads(run.stdout)["errors"]:
        found.setdefault(Path(error["filename"]).stem, []).append(error)
    for at, mistake in enumerate(MISTAKES.values()):
        first, *others = found[str(at)]
        assert first["path"].removeprefix("$").removeprefix(".") == mistake.where
        assert mistake.expected in first["message"]
        assert len(others) < MOST_ERRORS


def test_the_schema_is_small():
    assert len(json.dumps(model_schema(), separators=(",", ":"))) <= 120_000
