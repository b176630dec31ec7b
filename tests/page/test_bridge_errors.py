"""Errors as the page gets them: in words for visitors, with a way out, and never a traceback."""

import json

import onnx.parser
import pytest
from support.harness.page import ask, convert, files

import neat_onnx
from neat_onnx import errors
from neat_onnx.errors import Hint, ImportAdvice
from neat_onnx.page import bridge
from neat_onnx.page.bridge import call
from neat_onnx.page.wording import for_visitors


@pytest.mark.parametrize(
    ("data", "name", "kind", "where"),
    [
        (b'{"nodes": [}', "x.json", "DocumentError", "line 1, column 12"),
        (b"{}", "x.json", "DocumentError", None),
        (b"[1, 2]", "x.json", "DocumentError", None),
        (b"", "x.json", "DocumentError", None),
        (b"\x89PNG\r\n", "x.json", "DocumentError", None),
        (b"\x89PNG\r\n", "x.onnx", "ModelError", None),
        (b'{"graph": 3}', "x.json", "ModelError", None),
    ],
)
def test_a_bad_file_is_an_error_in_words(data, name, kind, where):
    reply, blobs = convert(data, name=name)
    error = reply["error"]
    assert blobs == {}
    assert set(error) == {"kind", "message", "where", "hint", "import", "obstacles"}
    assert error["kind"] == kind
    assert error["message"] and "Traceback" not in error["message"]
    if where:
        assert where in error["where"]


def test_every_obstacle_is_told():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
        mixed (float[N, 3] x) => (float[N, 3] y) {
            r = StringNormalizer (x)
            s = StringNormalizer (x)
            y = Add (r, s)
        }""")
    error = convert(model.SerializeToString(), name="m.onnx")[0]["error"]
    assert error["message"] == "2 nodes are not supported"
    told = "the operator StringNormalizer is not supported"
    assert [each.partition(" (r")[0].partition(" (s")[0] for each in error["obstacles"]] == [
        f"node {name} (StringNormalizer): {told}" for name in "rs"
    ]


ALONG_THE_BATCH = """<ir_version: 8, opset_import: ["": 18]>
    rows (float[N, 2] x) => (y, z) {
        y = Softmax <axis=0> (x)
        z = Tanh (x)
    }"""


@pytest.mark.parametrize(
    ("declared", "node", "said", "options"),
    [
        ("float[N, 2] x", "Softmax <axis=0> (x)", "“No batch”", {"batch_axis": "none"}),
        ("float[N, 2] x", "NonZero (x)", "be imported: z", {"outputs": ["z"]}),
        ("float[N, 2, L] x", "Relu (x)", "x: N × 2 × 16", {"shapes": {"x": ["N", 2, 16]}}),
    ],
)
def test_a_hint_can_be_taken_in_the_form_of_an_import(declared, node, said, options):
    text = ALONG_THE_BATCH.replace("float[N, 2] x", declared).replace("Softmax <axis=0> (x)", node)
    data = onnx.parser.parse_model(text).SerializeToString()
    error = convert(data, name="m.onnx")[0]["error"]
    assert said in error["hint"]
    assert error["import"] == options
    result = convert(data, name="m.onnx", **{"import": error["import"]})[0]["result"]
    assert result["report"]["passed"]
    ports = ask("model_ports", data, name="m.onnx")[0]["result"]
    assert ports["inputs"] == result["model_ports"]["inputs"]
    assert [each["name"] for each in ports["outputs"]] == ports["imported"] == ["y", "z"]
    assert result["model_ports"]["imported"] == options.get("outputs", ["y", "z"])


def test_options_are_whole_where_their_text_is_cut_off():
    names = [f"output_of_a_head_{k:03}" for k in range(40)]
    heads = " ".join(f"{name} = Tanh (x)" for name in names)
    text = f"""<ir_version: 8, opset_import: ["": 18]>
        heads (float[N, 2] x) => ({", ".join(names)}, z) {{ {heads} z = NonZero (x) }}"""
    error = convert(onnx.parser.parse_model(text).SerializeToString(), name="m.onnx")[0]["error"]
    assert error["hint"].endswith("…")
    assert error["import"] == {"outputs": names}


@pytest.mark.parametrize(
    "odd", [[1], {"x": 1}, {"batch_axis": "no"}, {"shapes": 3}, {"outputs": [1]}], ids=str
)
def test_what_a_damaged_link_says_of_an_import_is_refused(odd):
    data = onnx.parser.parse_model(ALONG_THE_BATCH).SerializeToString()
    reply, _ = convert(data, name="m.onnx", **{"import": odd})
    assert reply["error"]["kind"] == "OptionError"


def test_a_wrong_option_is_an_error_that_names_it(source):
    reply, _ = convert(source, name="x.json", options={"opset": 3})
    assert reply["error"]["kind"] == "OptionError"
    assert "opset" in json.dumps(reply["error"])


@pytest.mark.parametrize("odd", [{"facts": [1]}, {"genome": [1]}, {"samples": 2**70}], ids=str)
def test_what_a_damaged_link_asks_for_is_refused(source, odd):
    reply, _ = convert(source, name="x.json", **odd)
    assert reply["error"]["kind"] == "OptionError"


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


def test_a_refused_file_leaves_the_last_good_one(source):
    _, blobs = convert(source, name="winner.json")
    assert "error" in convert(b"{}", name="bad.json")[0]
    assert "error" in convert(source, name="winner.json", options={"opset": 3})[0]
    assert files() == blobs


def test_what_a_library_cannot_hold_is_told_in_a_list_of_bounded_length(source, monkeypatch):
    convert(source, name="net.json")
    obstacles = ask("file", kind="library-brain.js", file="net.json")[0]["error"]["obstacles"]
    assert len(obstacles) > 1
    monkeypatch.setattr(errors, "_MAX_OBSTACLES_LISTED", 1)
    bounded = ask("file", kind="library-brain.js", file="net.json")[0]["error"]["obstacles"]
    assert bounded == [obstacles[0], f"and {len(obstacles) - 1} more"]


def test_a_network_too_large_to_play_with_says_so(monkeypatch):
    monkeypatch.setattr(bridge, "MAX_CONNECTIONS", 1000)
    wide = neat_onnx.Network.mlp([50, 20, 1], activation="tanh", seed=0)
    convert(wide.to_json().encode(), name="wide.json")
    assert "too many to play with" in ask("plan")[0]["error"]["message"]


def test_hints_speak_to_visitors():
    hints: list[Hint] = [
        "Known: tanh; register your own with neat_onnx.register_activation",
        "Give a path, bytes, JSON text, a dict or a ModelProto",
        "Unpack it first; to turn a network into a model use load_network, or `neat-onnx export`",
        "Leave this step out. It is one of register_activation",
        ImportAdvice("Leave the check out with {}", {"check": False}),
    ]
    assert [for_visitors([hint]) for hint in hints] == [
        "Known: tanh",
        None,
        "Unpack it first",
        "Leave this step out",
        None,
    ]
