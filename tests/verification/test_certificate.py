"""Certificates: what is honest is replayed, and each change of network, model or certificate fails.

By hand the tampers are run with other seeds, in hundreds: `tamper` takes any.
"""

import copy
import json
import os
import subprocess
import sys

import jsonschema
import numpy as np
import pytest
from support.examples.networks import NETWORKS

import neat_onnx
from neat_onnx import Certificate, DocumentError, Network, OptionError, certify, export, replay
from neat_onnx.cli import main
from neat_onnx.verification.certificate import load_certificate, seal

NET = Network.mlp([3, 4, 2], activation="tanh", seed=3)
MODEL = export(NET)
CERTIFICATE = certify(NET, MODEL, samples=16, options={"opset": 18})


def leaves(document, path=()):
    """The path of every number, text and truth value of a document."""
    if isinstance(document, dict | list):
        entries = document.items() if isinstance(document, dict) else enumerate(document)
        return [found for key, value in entries for found in leaves(value, (*path, key))]
    return [path]


def changed(value, rng):
    """Another value of the same kind, as near as can be for numbers."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, rng.choice([-np.inf, np.inf])))
    at = int(rng.integers(len(value) + 1))
    return f"{value[:at]}{rng.choice(list('abcdef0123456789'))}{value[at:]}"


def tamper(seed):
    """The three documents, one leaf of one of them changed; and which."""
    rng = np.random.default_rng(seed)
    documents = {
        "network": json.loads(NET.to_json()),
        "model": json.loads(MODEL.to_json()),
        "certificate": json.loads(CERTIFICATE.to_json()),
    }
    which = list(documents)[seed % 3]
    paths = leaves(documents[which])
    path = paths[int(rng.integers(len(paths)))]
    document = owner = copy.deepcopy(documents[which])
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = changed(owner[path[-1]], rng)
    return {**documents, which: document}, (which, path)


def caught(documents):
    try:
        report = replay(documents["certificate"], documents["network"], documents["model"])
    except neat_onnx.NeatOnnxError:
        return True
    return not report.passed


@pytest.mark.parametrize("seed", range(30))
def test_each_change_is_caught(seed):
    documents, where = tamper(seed)
    assert caught(documents), where


@pytest.mark.parametrize("name", ["evolved_mixed", "every_aggregation_on_a_level", "shaped_ports"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_honest_is_replayed_from_every_form_of_the_files(name, dtype, tmp_path):
    net = NETWORKS[name]
    model = export(net, dtype=dtype)
    certificate = certify(net, model, samples=8, seed=5)
    for ending in ("onnx", "json"):
        model.save(tmp_path / f"model.{ending}")
    model.save(tmp_path / "protobuf.json", spelling="protobuf")
    certificate.save(tmp_path / "certificate.json")
    net.save(tmp_path / "net.json")
    for file in ("model.onnx", "model.json", "protobuf.json"):
        report = replay(tmp_path / "certificate.json", tmp_path / "net.json", tmp_path / file)
        assert report.verdict == certificate.verdict == "equal"
        assert report.seed == 5


def test_it_says_what_was_measured_and_how():
    found = certify(NET, MODEL, samples=16, seed=2, runtimes=("reference", "onnxruntime"))
    assert [*found.runs] == ["reference", "onnxruntime"]
    run = found.runs["onnxruntime"]
    assert run.runtime.startswith("onnxruntime ")
    assert (run.samples, run.seed, run.steps, run.bound) == (16, 2, 1, 1e-12)
    assert found.versions["neat_onnx"] == neat_onnx.__version__
    assert certify(NET, MODEL, samples=16, options={"opset": 17}).options == {"opset": 17}
    schema = neat_onnx.json_schema("certificate")
    jsonschema.Draft202012Validator(schema).validate(json.loads(found.to_json()))


def test_a_weight_that_float32_does_not_show_is_seen_in_json():
    document = json.loads(MODEL.to_json())
    values = document["graph"]["initializer"][0]["float_data"]
    values[0] = float(np.nextafter(values[0], np.inf))
    with pytest.raises(DocumentError, match="not the model of the certificate"):
        replay(CERTIFICATE, NET, document)


def test_the_command_line_says_no_to_another_model(tmp_path, capsys):
    NET.save(tmp_path / "net.json")
    MODEL.save(tmp_path / "net.onnx")
    other = Network.mlp([3, 4, 2], activation="tanh", seed=4)
    export(other).save(tmp_path / "other.onnx")
    net, model, wrong = (str(tmp_path / name) for name in ("net.json", "net.onnx", "other.onnx"))
    out = str(tmp_path / "certificate.json")
    assert main(["certify", net, model, out, "--samples", "8", "--runtime", "onnxruntime"]) == 0
    assert main(["replay", out, net, model]) == 0
    capsys.readouterr()
    assert main(["replay", out, net, wrong]) == 1
    assert "DIFFERENT: this is not the model of the certificate" in capsys.readouterr().out
    assert main(["certify", net, wrong, str(tmp_path / "no.json")]) == 1
    assert not (tmp_path / "no.json").exists()


def test_another_process_issues_the_same_certificate(tmp_path):
    MODEL.save(tmp_path / "net.json")
    NET.save(tmp_path / "own.json")
    code = "import neat_onnx, sys; print(neat_onnx.certify(*sys.argv[1:], samples=16).to_json())"
    other = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "own.json", tmp_path / "net.json"],
        env=os.environ | {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    files = tmp_path / "own.json", tmp_path / "net.json"
    assert other.rstrip("\n") == certify(*files, samples=16).to_json().rstrip("\n")
    assert replay(json.loads(other), NET, MODEL).passed


def test_what_is_no_certificate_is_refused():
    for source in ([], b"{}", '{"format": "neat-onnx certificate"}'):
        with pytest.raises(DocumentError, match=r"not a certificate|is missing"):
            replay(source, NET, MODEL)


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("seed", "0", "seed is not an integer, got the string '0' (runs.reference.seed)"),
        ("drawn", 5, "drawn is not a known key (runs.reference.drawn)"),
    ],
)
def test_a_wrong_field_is_named(field, value, message):
    document = json.loads(certify(NET, MODEL, samples=16).to_json())
    document["runs"]["reference"][field] = value
    with pytest.raises(DocumentError) as caught:
        load_certificate(document)
    assert str(caught.value) == f"{message}. Is it a certificate? `neat-onnx certify` writes them"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["verdict"], "equal within float32", "and its runs 'equal'"),
        (["runs", "reference", "verdict"], "different", "and its runs 'different'"),
        (["runs", "reference", "normalised_mse"], None, "a normalised MSE of no finite number"),
        (["runs", "reference", "not_finite"], 3, "says not_finite 3, repeated it is 0"),
        (["runs", "reference", "long_steps"], 9, "says long_steps 9, repeated it is 0"),
    ],
)
def test_a_claim_that_was_sealed_again_is_repeated(path, value, message):
    document = json.loads(certify(NET, MODEL, samples=16).to_json())
    owner = document
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    document["sha256"] = seal(document)
    with pytest.raises(neat_onnx.NeatOnnxError, match=message):
        replay(document, NET, MODEL)


def test_a_certificate_needs_a_runtime():
    with pytest.raises(OptionError, match="no runtime is given"):
        certify(NET, MODEL, runtimes=())
    assert isinstance(CERTIFICATE, Certificate)
