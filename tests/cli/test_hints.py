"""Hints of the command line: they have its flags, and what they say can be done."""

import json
import re
import shlex
from pathlib import Path

import onnx
import pytest

import neat_onnx
from neat_onnx import Network

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
    for flag, value in zip(flags[::2], flags[1::2], strict=True):
        assert f"{flag} {value}" in line
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
    assert (code, warned) == (0, ["warning: cut at h: left out are RandomNormalLike, Add"])


def registering_line(text):
    """The line that a hint shows, up to its last bracket."""
    begin = text.index("neat_onnx.register_")
    return text[begin : text.index(" (command line:", begin)]


@pytest.mark.parametrize("kind", ["activation", "aggregation"])
@pytest.mark.parametrize("library", ["neat-python", "neataptic", "neataptic-ts"])
def test_the_line_that_registers_a_function_works_as_it_is(run, kind, library):
    """Also for `step`, which is a name of ours."""
    if kind == "aggregation" and library != "neat-python":
        pytest.skip("its files name no such function")
    tanh = "neat_tanh" if library == "neat-python" else "tanh"
    output = {"id": 0, "activation": tanh}
    net = Network.build(inputs=[-1], outputs=[0], neurons=[output], connections=[(-1, 0, 2.0)])
    text = json.dumps(net.to_library(library))
    name = "stairs" if library == "neataptic-ts" else "step"
    known = '"sum"' if kind == "aggregation" else '"tanh"'
    Path("net.json").write_text(re.sub(known, f'"{name}"', text, flags=re.IGNORECASE))
    code, _, (error,) = run("inspect", "net.json")
    assert code == 2
    line = registering_line(error)
    assert f"library='{library}'" in line
    Path("plugin.py").write_text(f"import neat_onnx\n{line}\n")
    try:
        assert run("inspect", "net.json", "--plugin", "plugin.py")[0] == 0
    finally:
        unregister = getattr(neat_onnx, f"unregister_{kind}")
        unregister(name, library=library)


def test_a_word_that_is_nearly_a_command_is_suggested(run):
    code, _, (error,) = run("exprot", "a.json", "b.onnx")
    assert code == 2
    assert "Did you mean export?" in error
    assert "Did you mean" not in run("zzz")[2][0]


def test_the_library_that_a_network_came_from_is_suggested(run):
    Network.mlp([2, 1], activation="sigmoid", seed=0).save("net.json", "neataptic")
    assert run("export", "net.json", "net.onnx")[0] == 0
    code, _, (remark,) = run("import", "net.onnx", "back.json")
    assert code == 0
    flags = remark[remark.index("--to") :].split()[:2]
    assert run("import", "net.onnx", "again.json", *flags)[0] == 0
    assert "nodes" in json.loads(Path("again.json").read_text())


def test_code_in_a_language_that_is_named_has_any_ending(run):
    Network.mlp([2, 1], seed=0).save("net.json")
    code, _, (error,) = run("code", "net.json", "out.txt")
    assert code == 2
    assert ".c" in error
    assert run("code", "net.json", "out.txt", "--language", "c")[0] == 0


POLICY = """<ir_version: 8, opset_import: ["": 18]>
policy (float[N, 3] obs) => (TYPE y)
<float low = {-2.0}, float high = {2.0}, float[3, 2] w = {0.1, -0.2, 0.3, 0.4, 0.5, -0.6}>
{ z = MatMul (obs, w) logits = Tanh (z) y = LAST }"""


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("Softmax <axis = 1> (logits)", "float[N, 2]"),
        ("Clip (logits, low, high)", "float[N, 2]"),
        ("ArgMax <axis = 1, keepdims = 0> (logits)", "int64[N]"),
    ],
)
@pytest.mark.parametrize("library", ["neataptic", "brain.js", "neat-python"])
def test_the_part_of_a_policy_that_a_library_holds_is_named(run, last, kind, library):
    text = POLICY.replace("LAST", last).replace("TYPE", kind)
    onnx.save(onnx.parser.parse_model(text), "policy.onnx")
    command = ("import", "policy.onnx", "back.json", "--to", library)
    code, _, (*_, error) = run(*command)
    if code == 0:  # neat-python has clamped, brain.js nothing of the kind
        return
    name = last.split()[0].partition("(")[0]
    assert f"can hold the part before {name}: import the model with --outputs logits" in error
    code, _, remarks = run(*command, *flags_in(error[error.index("can hold the part") :]))
    assert code == 0
    assert f"cut at logits: left out are {name}" in " ".join(remarks)
