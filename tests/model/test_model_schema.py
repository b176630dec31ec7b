"""The published schema: the same verdict as ours, from validators in two languages."""

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from sample_models import mlp
from support.examples.model_mistakes import GEMM, MISTAKES, RIGHT, W0, Mistake, with_mistake
from support.harness.ajv import verdicts_of_ajv

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, load_model
from neat_onnx.model.schema import model_schema

MOST_ERRORS = 3
OTHERS = {  # whose errors nobody has to read
    "input not a name": ((*GEMM, "input"), ["x", 1]),
    "attribute as text": ((*GEMM, "attributes"), [{"name": "alpha", "type": "FLOAT", "f": "1"}]),
    "type not supported": ((*W0, "data_type"), 8),
    "sparse": ((*W0, "sparse"), {"coordinates": [[0, 1]], "values": [0.5]}),
    "negative dim": ((*W0, "dims", 0), -1),
}
WRONG = MISTAKES | {name: Mistake(*change, "", "") for name, change in OTHERS.items()}
LENIENT = ("a version as text", "an attribute that is missing")
"""Mistakes that are read all the same."""


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
    yield RIGHT


def test_right_documents_are_valid_and_load():
    for document in right_documents():
        validator().validate(document)
        load_model(document)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_documents_are_neither(name):
    document = with_mistake(WRONG[name])
    assert not validator().is_valid(document)
    if name not in LENIENT:
        with pytest.raises(ModelError):
            load_model(document)


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


def test_ajv_gives_the_same_verdicts_and_shows_mistakes_too(tmp_path):
    right = list(right_documents())
    documents = [*map(with_mistake, WRONG.values()), *right]
    lines = verdicts_of_ajv(tmp_path, model_schema(), documents)
    assert lines[len(WRONG) :] == ["valid"] * len(right)
    assert all(line.startswith("wrong:") for line in lines[: len(WRONG)])
    for mistake, line in zip(MISTAKES.values(), lines, strict=False):
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
