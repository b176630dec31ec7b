"""The published schema: the same verdict as ours, from validators in two languages."""

import copy
import functools
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from sample_models import mlp

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, load_model
from neat_onnx.model.schema import model_schema

ROOT = Path(__file__).parents[2]
GEMM = ("graph", "node", 0)
W0 = ("graph", "initializer", 0)
DIM = ("graph", "inputs", 0, "type", "tensor_type", "shape", "dim", 1)
SPARSE = {
    "name": "W0",
    "data_type": 1,
    "dims": [3, 2],
    "sparse": {"coordinates": [[0, 1]], "values": [0.5]},
}
WRONG = {
    "no graph": (("graph",), None),
    "unknown key": (("colour",), 1),
    "unknown operator": ((*GEMM, "op_type"), "FooBar"),
    "too few inputs": ((*GEMM, "input"), ["input"]),
    "too many outputs": ((*GEMM, "output"), ["a", "b"]),
    "input not a name": ((*GEMM, "input"), ["input", 1]),
    "foreign domain": ((*GEMM, "domain"), "com.example"),
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
    "sparse and numbers": ((*W0, "sparse"), {"coordinates": [[0, 1]], "values": [0.5]}),
    "sparse and raw": (W0, {**SPARSE, "raw_data": "AAAA"}),
    "sparse whole numbers": (W0, {**SPARSE, "data_type": 7}),
    "sparse without coordinates": (W0, {**SPARSE, "sparse": {"values": []}}),
    "sparse with more": (W0, {**SPARSE, "sparse": {**SPARSE["sparse"], "dims": [3, 2]}}),
    "sparse as list": (W0, {**SPARSE, "sparse": []}),
    "coordinates in one list": (
        W0,
        {**SPARSE, "sparse": {"coordinates": [0, 1], "values": [0.5, 1.0]}},
    ),
    "a negative coordinate": (
        W0,
        {**SPARSE, "sparse": {"coordinates": [[0, -1]], "values": [0.5]}},
    ),
    "a sparse null": (W0, {**SPARSE, "sparse": {"coordinates": [[0, 1]], "values": [None]}}),
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
    yield changed_document(W0, SPARSE)
    yield mlp(np.eye(30), DataType.DOUBLE).to_document(encoding="sparse")
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
    if not (ROOT / "node_modules" / "ajv").is_dir() and "CI" not in os.environ:
        pytest.skip("ajv is not installed: npm ci")
    verdicts = [(document, "valid") for document in right_documents()]
    verdicts += [(changed_document(*change), "wrong") for change in WRONG.values()]
    (tmp_path / "schema.json").write_text(json.dumps(model_schema()))
    paths = []
    for at, (document, _) in enumerate(verdicts):
        paths.append(tmp_path / f"{at}.json")
        paths[-1].write_text(json.dumps(document))
    run = subprocess.run(
        ["node", Path(__file__).with_name("check_schema.mjs"), tmp_path / "schema.json", *paths],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.stderr == ""  # ajv's strict mode has nothing to say
    lines = run.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [verdict for _, verdict in verdicts]
    assert run.returncode == 1
