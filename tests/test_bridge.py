"""The page's side door, from CPython: JSON and bytes in, JSON and bytes out, never a traceback."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import neat_onnx
from neat_onnx.bridge import call

CORPORA = Path(__file__).parent / "corpora"


def ask(method: str, data: bytes = b"", **params: object) -> tuple[dict, dict[str, bytes]]:
    text, blobs = call(method, json.dumps(params), data, lambda stage, fraction: None)
    return json.loads(text), blobs


def case(name: str) -> dict:
    return json.loads((CORPORA / f"{name}.json").read_text())


@pytest.fixture(scope="module")
def source() -> bytes:
    return json.dumps(case("np-ff-19")["source"]).encode()


def test_a_network_becomes_a_model_a_report_and_three_files(source):
    reply, blobs = ask("convert", source, name="winner.json")
    result = reply["result"]
    assert (result["kind"], result["report"]["passed"]) == ("network", True)
    assert (result["summary"]["inputs"], result["summary"]["outputs"]) == (3, 3)
    assert len(result["graph"]["neurons"]) == result["summary"]["neurons"]
    net = neat_onnx.load_network(source)
    model = neat_onnx.export(net)
    assert blobs == {
        "onnx": model.to_bytes(),
        "json": model.to_json().encode(),
        "network": net.to_json().encode(),
    }


def test_the_model_runs_elsewhere_and_is_right(source):
    _, blobs = ask("convert", source, name="winner.json", options={"dtype": "float64"})
    recorded = case("np-ff-19")
    session = onnxruntime.InferenceSession(blobs["onnx"])
    feed = {session.get_inputs()[0].name: np.array(recorded["inputs"])}
    np.testing.assert_allclose(session.run(None, feed)[0], recorded["outputs"], rtol=1e-11)


@pytest.mark.parametrize("kind", ["onnx", "json"])
def test_a_model_becomes_a_network_and_is_given_back(source, kind):
    _, blobs = ask("convert", source, name="winner.json")
    ending = {"onnx": ".onnx", "json": ".onnx.json"}[kind]
    reply, again = ask("convert", blobs[kind], name=f"winner{ending}")
    assert (reply["result"]["kind"], reply["result"]["report"]["passed"]) == ("model", True)
    assert again[kind] == blobs[kind]


def test_samples_and_seed_are_used(source):
    reply, _ = ask("convert", source, name="winner.json", samples=7, seed=3)
    assert (reply["result"]["report"]["samples"], reply["result"]["report"]["seed"]) == (7, 3)


def test_progress_goes_forward_from_reading_to_writing(source):
    seen: list[tuple[str, float]] = []
    call("convert", '{"name": "x.json"}', source, lambda *step: seen.append(step))
    assert [stage for stage, _ in seen] == ["reading", "exporting", "comparing", "writing"]
    assert sorted(fraction for _, fraction in seen) == [fraction for _, fraction in seen]
    assert all(0 <= fraction <= 1 for _, fraction in seen)


@pytest.mark.parametrize(
    ("data", "name", "kind", "where"),
    [
        (b'{"nodes": [}', "x.json", "DocumentError", "line 1, column 12"),
        (b"{}", "x.json", "DocumentError", None),
        (b"[1, 2]", "x.json", "DocumentError", None),
        (b"", "x.json", "DocumentError", "line 1, column 1"),
        (b"\x89PNG\r\n", "x.json", "DocumentError", None),
        (b"\x89PNG\r\n", "x.onnx", "ModelError", None),
        (b'{"graph": 3}', "x.json", "ModelError", None),
    ],
)
def test_a_bad_file_is_an_error_in_words(data, name, kind, where):
    reply, blobs = ask("convert", data, name=name)
    error = reply["error"]
    assert blobs == {}
    assert set(error) == {"kind", "message", "where", "hint"}
    assert error["kind"] in (kind, "DocumentError")
    assert error["message"] and "Traceback" not in error["message"]
    if where:
        assert where in error["where"]


def test_a_wrong_option_is_an_error_that_names_it(source):
    reply, _ = ask("convert", source, name="x.json", options={"opset": 3})
    assert reply["error"]["kind"] == "OptionError"
    assert "opset" in json.dumps(reply["error"])


def test_an_unknown_method_is_an_error():
    reply, _ = ask("format_disk")
    assert reply["error"]["message"] == "there is no method 'format_disk'"


def test_a_mistake_of_ours_is_told_without_a_traceback(source):
    def broken(stage: str, fraction: float) -> None:
        raise ZeroDivisionError("secret\nTraceback (most recent call last)")

    text, _ = call("convert", '{"name": "x.json"}', source, broken)
    error = json.loads(text)["error"]
    assert error["kind"] == "InternalError"
    assert "\n" not in error["message"]


def test_options_are_described_by_their_schema():
    reply, _ = ask("options")
    assert reply["result"] == neat_onnx.json_schema("options")
    assert {"opset", "dtype"} <= set(reply["result"]["properties"])


def test_warming_up_says_nothing():
    assert ask("warm") == ({"result": {}}, {})


def test_numbers_that_json_cannot_hold_come_as_words(source):
    reply, _ = ask("convert", source, name="x.json")
    json.dumps(reply, allow_nan=False)
