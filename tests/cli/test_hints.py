"""Hints of the command line: they have its flags, and what they say can be done."""

import shlex

import onnx
import pytest

MIXED = """<ir_version: 8, opset_import: ["": 18]>
agraph (float[N, T, 3] x, float[N, T, 3] c) => (y) <int64[1] one = {1}> {
    a = ReduceSum <keepdims = 0> (x, one)
    b = ReduceSum <keepdims = 0> (c, one)
    y = Add (a, b)
}"""
GATHERED = """<ir_version: 8, opset_import: ["": 18]>
agraph (float[N, 4] x) => (y) <int64 k = {0}> { a = Gather <axis = 0> (x, k) y = Tanh (a) }"""
PARTLY = """<ir_version: 8, opset_import: ["": 18]>
agraph (float[N, 4] x) => (y, z) { y = Tanh (x) z = NonZero (x) }"""


def flags_in(hint: str) -> list[str]:
    """The flags that a hint shows, with their values."""
    words = shlex.split(hint)
    places = [at for at, word in enumerate(words) if word.startswith("--")]
    return [word for at in places for word in words[at : at + 2]]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (MIXED, ["--shape", "x=N,16,3", "--shape", "c=N,16,3"]),
        (GATHERED, ["--batch-axis", "none"]),
        (PARTLY, ["--outputs", "y"]),
    ],
)
def test_a_hint_can_be_typed(run, text, flags):
    onnx.save(onnx.parser.parse_model(text), "model.onnx")
    code, _, (line,) = run("import", "model.onnx", "back.json")
    assert code == 2
    assert flags_in(line) == flags
    code, told, _ = run("inspect", "model.onnx")
    assert code == 0
    assert all(flag in told for flag in flags)
    assert run("import", "model.onnx", "back.json", *flags)[0] == 0


def test_a_name_that_no_flag_can_have_is_shown_as_python_has_it(run):
    model = onnx.parser.parse_model(PARTLY)
    model.graph.output[0].name = model.graph.node[0].output[0] = "left, right"
    onnx.save(model, "model.onnx")
    _, _, (line,) = run("import", "model.onnx", "back.json")
    assert line.endswith("outputs=['left, right']")


def test_a_warning_shows_flags_where_python_has_arguments(run):
    text = """<ir_version: 8, opset_import: ["": 18]>
    agraph (float[N, 4] x) => (y) { h = Tanh (x) n = RandomNormalLike (h) y = Add (h, n) }"""
    onnx.save(onnx.parser.parse_model(text), "model.onnx")
    code, _, (line,) = run("import", "model.onnx", "back.json")
    assert code == 0
    assert line.startswith("warning: every output is constant or random: ")
    assert line.endswith("The tensors before the chance are imported: --outputs h")
    code, _, warned = run("import", "model.onnx", "back.json", *flags_in(line))
    assert (code, warned) == (0, [])
