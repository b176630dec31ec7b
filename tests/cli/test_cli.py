"""The command line: every command with its options, and what it writes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from support.examples.cases import BAD, assert_within, case
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

import neat_onnx
from neat_onnx.cli.parser import parser

DAG = "nts-net-dag-01"


# --- export --------------------------------------------------------------------------------------


def test_export_then_onnxruntime(run, network):
    code, out, errors = run("export", network, "net.onnx", "--verify")
    assert (code, errors) == (0, [])
    assert "normalised MSE" in out
    assert "wrote net.onnx" in out
    session = open_session(run.folder / "net.onnx")
    peer = case(DAG)
    (got,) = session.run(None, {"input": peer.inputs.astype(np.float32)})
    assert_within(got.astype(np.float64), peer.outputs, peer.tolerance32)


def test_export_writes_what_python_writes(run, network):
    run("export", network, "net.onnx.json", "--dtype", "float64", "--opset", "15", "--fold")
    model = neat_onnx.export(network, dtype="float64", opset=15, fold=True)
    assert (run.folder / "net.onnx.json").read_text() == model.to_json()


def test_export_as_json(run, network):
    code, out, _ = run("export", network, "net.onnx", "--verify", "--json")
    reply = json.loads(out)
    assert code == 0
    assert reply["written"]
    assert reply["report"]["passed"]
    assert reply["model"]["inputs"] == {"input": "FLOAT [N, 2]"}


def test_a_failed_check_writes_nothing(run, tmp_path):
    neurons = [{"id": 1, "bias": 1e38}, 2]
    connections = [(0, 1, 1.0), (1, 2, 1e5)]
    steep = neat_onnx.Network.build(inputs=1, outputs=[2], neurons=neurons, connections=connections)
    steep.save(tmp_path / "steep.json")
    code, out, errors = run("export", tmp_path / "steep.json", "net.onnx", "--verify")
    assert code == 1
    assert out.startswith("DIFFERENT")
    assert "net.onnx is not written" in out
    assert "float32 cannot hold" in errors[0]
    assert run.left() == []
    assert run("export", tmp_path / "steep.json", "net.onnx")[0] == 0
    assert run("verify", tmp_path / "steep.json", "net.onnx")[0] == 1


OPTION_VALUES = {
    "opset": (["--opset", "14"], 14),
    "profile": (["--profile", "sonnx"], "sonnx"),
    "dtype": (["--dtype", "float64"], "float64"),
    "dialect": (["--dialect", "standard"], "standard"),
    "mixed_activations": (["--mixed-activations", "per_neuron"], "per_neuron"),
    "fold": (["--fold"], True),
    "batch_dimension": (["--batch-dimension", "false"], False),
    "encoding": (["--encoding", "raw"], "raw"),
    "include_metadata": (["--no-include-metadata"], False),
    "embed_network": (["--embed-network"], True),
    "producer_name": (["--producer-name", "me"], "me"),
    "producer_version": (["--producer-version", "7"], "7"),
    "doc_string": (["--doc-string", "100 % mine"], "100 % mine"),
    "allow_partial_connectivity": (["--allow-partial-connectivity"], True),
    "allow_mixed_activations": (["--allow-mixed-activations"], True),
    "allow_recurrent": (["--no-allow-recurrent"], False),
    "recurrent_single_step": (["--no-recurrent-single-step"], False),
    "sequence": (["--sequence"], True),
    "state": (["--state", "joined"], "joined"),
    "fused_recurrent": (["--no-fused-recurrent"], False),
    "lossy": (["--lossy"], True),
    "preset": (["--preset", "sentis"], "sentis"),
    "rename": (["--rename", "input=x", "--rename", "output=y"], {"input": "x", "output": "y"}),
    "quantize": (["--quantize", "weights"], "weights"),
    "conv2d_mappings": (["--conv2d-mappings", "[]"], []),
    "pool2d_mappings": (["--pool2d-mappings", "[]"], []),
    "flatten_after_pooling": (["--flatten-after-pooling"], True),
    "validate_conv_sharing": (["--validate-conv-sharing"], True),
    "infer_conv": (["--infer-conv"], True),
    "legacy_node_ordering": (["--no-legacy-node-ordering"], False),
}


@pytest.mark.parametrize("name", neat_onnx.ExportOptions.model_fields)
def test_every_option_is_a_flag(run, network, name):
    flags, value = OPTION_VALUES[name]
    assert run("export", network, "flag.json", *flags)[0] == 0
    assert run("export", network, "file.json", "--options", run.options({name: value}))[0] == 0
    expected = neat_onnx.export(network, options={name: value}).to_json()
    assert (run.folder / "flag.json").read_text() == expected
    assert (run.folder / "file.json").read_text() == expected


def test_flags_win_over_the_file_in_either_spelling(run, network):
    options = run.options({"mixedActivations": "grouped", "docString": "kept"})
    run("export", network, "a.json", "--options", options, "--mixed-activations", "per_neuron")
    model = neat_onnx.export(network, mixed_activations="per_neuron", doc_string="kept")
    assert (run.folder / "a.json").read_text() == model.to_json()


# --- import --------------------------------------------------------------------------------------


def test_import_gives_the_genome_back(run, network):
    run("export", network, "net.json")
    code, out, _ = run("import", "net.json", "back.json")
    assert code == 0
    assert re.search(r"wrote back.json: \d+ neurons, \d+ connections", out)
    assert neat_onnx.load_network("back.json") == neat_onnx.load_network(network)


def test_import_with_and_without_a_batch(run, network):
    run("export", network, "net.onnx", "--batch-dimension", "false", "--no-include-metadata")
    assert run("import", "net.onnx", "a.json", "--batch-axis", "auto")[0] == 0
    assert run("import", "net.onnx", "b.json", "--batch-axis", "none", "--json")[0] == 0
    assert neat_onnx.load_network("a.json").inputs[0].shape == (2,)
    assert neat_onnx.load_network("b.json").inputs[0].shape == (1, 2)
    assert run("verify", "b.json", "net.onnx", "--batch-axis", "none")[0] == 0
    assert run("verify", "a.json", "net.onnx", "--batch-axis", "none")[0] == 2


def test_import_with_shapes_and_memory(run, tmp_path):
    """A mean over steps, beside a state that no name tells: kept under its names on the way out."""
    nodes = [
        node("ReduceMean", "x steps", "seen"),
        node("Add", "seen hx", "sum"),
        node("Tanh", "sum", "hx_next"),
        node("MatMul", "hx_next w", "y"),
    ]
    weights = np.random.default_rng(0).normal(size=(2, 3))
    model = graph(nodes, x=("N", "T", 2), outputs=["y", "hx_next"], steps=[1], w=weights)
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("keepdims", 0))
    state = onnx.helper.make_tensor_value_info("hx", onnx.TensorProto.FLOAT, ["N", 2])
    model.graph.input.append(state)
    onnx.save(model, tmp_path / "policy.onnx")
    given = ("--shape", "x=N,4,2", "--memory", "hx=hx_next")
    assert run("import", tmp_path / "policy.onnx", "net.json", *given)[0] == 0
    assert run("verify", "net.json", tmp_path / "policy.onnx")[0] == 0
    assert run("verify", "net.json", tmp_path / "policy.onnx", "--memory", "hx=hx_next")[0] == 0
    assert run("export", "net.json", "again.onnx")[0] == 0
    session = open_session(run.folder / "again.onnx")
    assert [entry.name for entry in session.get_inputs()] == ["x", "hx"]
    assert [entry.name for entry in session.get_outputs()] == ["y", "hx_next"]
    for wrong in ("hx", "hx=nothing", "=y"):
        code, _, errors = run("import", tmp_path / "policy.onnx", "b.json", "--memory", wrong)
        assert (code, len(errors)) == (2, 1)


# --- networks whose step is an amount of time -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("np-ctrnn-v21-1", ["--time-step", "0.125", "--advance-time", "0.25"]),
        ("np-ctrnn-v20-1", ["--time-step", "0.125"]),
        ("np-iznn-4", ["--time-step", "1", "--advance-time", "1"]),
    ],
)
def test_times_are_flags(run, name, times):
    net = run.folder / "net.json"
    net.write_text(json.dumps(case(name).source))
    assert run("export", net, "net.onnx", *times)[0] == 0
    reply = json.loads(run("inspect", net, "--json", *times)[1])
    assert reply["network"]["library"].startswith("neat-python")
    assert reply["network"]["has_memory"]
    assert run("verify", net, "net.onnx", "--samples", "8", *times)[0] == 0


# --- inspect, validate, verify -------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["onnx", "json"])
def test_inspect_model(run, network, ending):
    run("export", network, f"net.{ending}")
    code, out, _ = run("inspect", f"net.{ending}", "--json")
    reply = json.loads(out)
    assert (code, reply["kind"]) == (0, "model")
    assert reply["model"]["opset"] == 18
    assert reply["network"]["neurons"] == len(neat_onnx.load_network(network))
    assert run("inspect", f"net.{ending}")[1].startswith(f"net.{ending}: a model\n")


def test_inspect_tells_each_obstacle_in_a_line(run, tmp_path):
    names = [f"t{k}" for k in range(12)]
    made = [node("StringNormalizer", "x", name) for name in names]
    onnx.save(graph(made, outputs=names), tmp_path / "net.onnx")
    code, out, _ = run("inspect", tmp_path / "net.onnx")
    assert code == 0
    assert re.findall(r"node make_(t\d+) \(StringNormalizer\): ", out) == names
    assert len([line for line in out.splitlines() if "node make_" in line]) == len(names)


def test_inspect_network(run, network):
    reply = json.loads(run("inspect", network, "--json")[1])
    assert reply["kind"] == "network"
    assert reply["network"] == neat_onnx.summary(neat_onnx.load_network(network)).model_dump()
    assert re.search(r"library +NeatapticTS", run("inspect", network)[1])


def test_validate(run, network):
    run("export", network, "net.onnx")
    assert run("validate", "net.onnx") == (0, "net.onnx: valid\n", [])
    wrong = BAD / "onnx-missing-tensor.json"
    code, out, _ = run("validate", "net.onnx", wrong, "--profile", "sonnx", "--json")
    good, bad = json.loads(out)
    assert code == 1
    assert good == {"file": "net.onnx", "valid": True, "findings": []}
    assert not bad["valid"]
    assert {found["code"] for found in bad["findings"]} == {"C2", "C5", "R1"}
    assert "C5: node gemm_l2 (Gemm): input 'nowhere'" in run("validate", wrong)[1]


def test_verify(run, network):
    run("export", network, "net.onnx")
    code, out, _ = run("verify", network, "net.onnx", "--runtime", "onnxruntime", "--json")
    report = json.loads(out)
    assert (code, report["passed"], report["samples"]) == (0, True, 256)
    assert report["runtime"].startswith("onnxruntime")
    other = neat_onnx.Network.mlp([2, 4, 3], seed=1)
    other.save("other.json")
    code, out, errors = run("verify", "other.json", "net.onnx", "--samples", "8", "--seed", "3")
    assert code in (1, 2)
    assert out.startswith("DIFFERENT") or errors[0].startswith("error: the model's output")


# --- draw ----------------------------------------------------------------------------------------


def test_draw_writes_a_picture(run, network):
    code, out, errors = run("draw", network, "net.svg")
    assert (code, errors) == (0, []) and "wrote net.svg" in out
    assert "</svg>" in (run.folder / "net.svg").read_text()
    code, _, errors = run("draw", network, "net.png")
    assert code == 2 and ".svg" in errors[0]


def test_the_help_in_a_file_is_the_parsers():
    """Rewritten by: COLUMNS=80 python -m neat_onnx --help > neat_onnx/cli/help.txt."""
    text = (Path(neat_onnx.__file__).parent / "cli" / "help.txt").read_text(encoding="utf-8")
    assert text.split() == parser().format_help().split()


@pytest.mark.parametrize("argument", ["--help", "-h", "--version"])
def test_version_and_help_need_no_import(argument):
    code = f"""
import sys
sys.argv = ["neat-onnx", {argument!r}]
import neat_onnx_command
assert neat_onnx_command.main() == 0
assert not {{"neat_onnx", "numpy"}} & set(sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    command = [sys.executable, "-m", "neat_onnx", argument]
    want = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == want.stdout.split()
