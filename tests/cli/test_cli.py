"""The command line: every command, every exit code, and no traceback whatever the file."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from cases import BAD, assert_within, bad_files, case

import neat_onnx
from neat_onnx.cli import main

DAG = "nts-net-dag-01"
REFUSED, PASSED = 2, 0
MAY_REFUSE = {"refuse", "refuse-or-warn", "either"}
MUST_WARN = {"refuse-or-warn", "accept-with-warning"}


@pytest.fixture
def network(tmp_path):
    """A NeatapticTS network in a file of its own."""
    path = tmp_path / "net.json"
    path.write_text(json.dumps(case(DAG).source))
    return path


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs a command in an empty directory: (exit code, standard output, lines of its errors)."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def command(*arguments):
        code = main([str(argument) for argument in arguments])
        reply = capsys.readouterr()
        return code, reply.out, reply.err.splitlines()

    command.folder = folder
    return command


def left_in(run):
    return sorted(path.name for path in run.folder.iterdir())


def process(*arguments, **keywords):
    return subprocess.run(
        [sys.executable, "-m", "neat_onnx", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **keywords,
    )


# --- export --------------------------------------------------------------------------------------


def test_export_then_onnxruntime(run, network):
    code, out, errors = run("export", network, "net.onnx", "--verify")
    assert (code, errors) == (0, [])
    assert "normalised MSE" in out
    assert "wrote net.onnx" in out
    session = onnxruntime.InferenceSession(run.folder / "net.onnx")
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
    steep = neat_onnx.Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 1, "bias": 1e38}, 2],
        connections=[(0, 1, 1.0), (1, 2, 1e5)],
    )
    steep.save(tmp_path / "steep.json")
    code, out, errors = run("export", tmp_path / "steep.json", "net.onnx", "--verify")
    assert code == 1
    assert out.startswith("DIFFERENT")
    assert "net.onnx is not written" in out
    assert errors == []
    assert left_in(run) == []
    assert run("export", tmp_path / "steep.json", "net.onnx")[0] == 0
    assert run("verify", tmp_path / "steep.json", "net.onnx")[0] == 1


OPTION_VALUES = {
    "opset": (["--opset", "14"], 14),
    "profile": (["--profile", "sonnx"], "sonnx"),
    "dtype": (["--dtype", "float64"], "float64"),
    "dialect": (["--dialect", "standard"], "standard"),
    "mixed_activations": (["--mixed-activations", "per_neuron"], "per_neuron"),
    "functions": (["--functions"], True),
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
    "fused_recurrent": (["--no-fused-recurrent"], False),
    "lossy": (["--lossy"], True),
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
    assert (
        run("export", network, "file.json", "--options", options_file(run, {name: value}))[0] == 0
    )
    expected = neat_onnx.export(network, options={name: value}).to_json()
    assert (run.folder / "flag.json").read_text() == expected
    assert (run.folder / "file.json").read_text() == expected


def options_file(run, options):
    path = run.folder.parent / "options.json"
    path.write_text(json.dumps(options))
    return path


def test_flags_win_over_the_file_in_either_spelling(run, network):
    options = options_file(run, {"mixedActivations": "grouped", "docString": "kept"})
    run("export", network, "a.json", "--options", options, "--mixed-activations", "per_neuron")
    model = neat_onnx.export(network, mixed_activations="per_neuron", doc_string="kept")
    assert (run.folder / "a.json").read_text() == model.to_json()


def test_raw_encoding_is_base64(run, network):
    run("export", network, "a.json", "--encoding", "raw")
    tensors = json.loads((run.folder / "a.json").read_text())["graph"]["initializer"]
    floats = [tensor for tensor in tensors if tensor["data_type"] == 1]
    assert floats
    assert all("raw_data" in tensor for tensor in floats)


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


# --- networks whose step is an amount of time -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("np-ctrnn-v21-3", ["--time-step", "0.125", "--advance-time", "0.5"]),
        ("np-ctrnn-v20-1", ["--time-step", "0.125"]),
        ("np-iznn-4", ["--time-step", "1", "--advance-time", "1"]),
    ],
)
def test_times_are_flags(run, name, times):
    net = run.folder / "net.json"
    net.write_text(json.dumps(case(name).source))
    assert run("export", net, "net.onnx", "--verify", *times)[0] == 0
    reply = json.loads(run("inspect", net, "--json", *times)[1])
    assert reply["network"]["library"].startswith("neat-python")
    assert reply["network"]["has_memory"]
    assert run("verify", net, "net.onnx", "--samples", "8", *times)[0] == 0


@pytest.mark.parametrize("command", ["inspect", "export", "verify"])
def test_without_a_time_step_it_is_one_line(run, command):
    net = run.folder / "net.json"
    net.write_text(json.dumps(case("np-iznn-4").source))
    code, out, errors = run(command, net, *([] if command == "inspect" else ["net.onnx"]))
    assert (code, out, len(errors)) == (2, "", 1)
    assert "does not say their time step (time_step). Give time_step" in errors[0]
    assert "--time-step" in errors[0]
    assert left_in(run) == ["net.json"]


def test_times_for_what_has_none(run, network):
    run("export", network, "net.onnx")
    run("export", network, "model.json")
    for file in (network, "net.onnx", "model.json"):
        code, _, errors = run("inspect", file, "--advance-time", "1")
        assert code == 2
        assert errors == [
            "error: time_step and advance_time are for ctrnn and iznn networks (advance_time)"
        ]


# --- inspect, validate, verify, schema -----------------------------------------------------------


@pytest.mark.parametrize("ending", ["onnx", "json"])
def test_inspect_model(run, network, ending):
    run("export", network, f"net.{ending}")
    code, out, _ = run("inspect", f"net.{ending}", "--json")
    reply = json.loads(out)
    assert (code, reply["kind"]) == (0, "model")
    assert reply["model"]["opset"] == 18
    assert reply["network"]["neurons"] == len(neat_onnx.load_network(network))
    assert run("inspect", f"net.{ending}")[1].startswith(f"net.{ending}: a model\n")


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


def test_validate_checks_the_files_after_one_it_cannot_read(run, network):
    run("export", network, "net.onnx")
    code, out, errors = run("validate", "nothing.onnx", "net.onnx")
    assert (code, out) == (2, "net.onnx: valid\n")
    assert errors == ["error: cannot read the file: No such file or directory (nothing.onnx)"]


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


@pytest.mark.parametrize("name", ["model", "network", "options"])
def test_schema(run, name):
    assert json.loads(run("schema", name)[1]) == neat_onnx.json_schema(name)


# --- usage and files -----------------------------------------------------------------------------

USAGE = {
    "error: the following arguments are required: COMMAND. See neat-onnx --help": [],
    "error: the following arguments are required: OUT. See neat-onnx export --help": [
        "export",
        "a",
    ],
    "error: invalid int value: 'x' (--opset). See neat-onnx export --help": [
        *["export", "a", "b.onnx", "--opset", "x"]
    ],
    "error: unrecognized arguments: --col. See neat-onnx --help": ["inspect", "a", "--col"],
    "error: cannot write a file that ends in '.txt' (b.txt). Use .onnx or .json": [
        *["export", "a", "b.txt"]
    ],
    "error: cannot tell the format of a file without an ending (b). Use .onnx or .json": [
        *["export", "a", "b"]
    ],
    "error: cannot write a file that ends in '.onnx' (b.onnx). Use .json": [
        *["import", "a", "b.onnx"]
    ],
    "error: cannot write the file: there is no directory 'no' (no/b.onnx)": [
        *["export", "a", "no/b.onnx"]
    ],
    "error: cannot read the file: No such file or directory (a)": ["export", "a", "b.onnx"],
    "error: cannot read a directory: not a file (.)": ["inspect", "."],
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_one_line(run, line):
    assert run(*USAGE[line]) == (2, "", [line])
    assert left_in(run) == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"opset": 99}, r"opset is 99, expected at most 28 \(opset\)"),
        ({"colour": 1}, r"colour is not a known key \(colour\)"),
        ({"conv2dMappings": [{}]}, r"kernelHeight is missing \(conv2dMappings"),
        ([], "options should be an object"),
    ],
)
def test_wrong_options(run, network, options, line):
    code, out, errors = run("export", network, "a.onnx", "--options", options_file(run, options))
    assert (code, out, len(errors)) == (2, "", 1)
    assert re.match(f"error: {line}", errors[0])
    assert left_in(run) == []


def test_the_file_that_is_read_is_not_overwritten(run, network):
    before = network.read_bytes()
    code, _, errors = run("export", network, network)
    assert code == 2
    assert errors[0].startswith("error: the result would overwrite the file that is read")
    assert network.read_bytes() == before


def test_what_was_there_stays_where_export_fails(run):
    (run.folder / "a.onnx").write_text("mine")
    assert run("export", BAD / "net-weight-null.json", "a.onnx")[0] == 2
    assert (run.folder / "a.onnx").read_text() == "mine"


@pytest.mark.parametrize("command", ["export", "import", "verify"])
def test_help_tells_every_flag(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert "--json" in capsys.readouterr().out


# --- hostile files -------------------------------------------------------------------------------


def assert_verdict(code, errors, entry):
    """The exit code and standard error are what the index's verdict allows."""
    assert code in (PASSED, REFUSED)
    if code == REFUSED:
        assert entry["verdict"] in MAY_REFUSE
        assert errors[-1].startswith("error: ")
        assert len(errors[-1]) < 1000
        assert errors[-1].isprintable()
    else:
        assert entry["verdict"] != "refuse"
        assert entry["verdict"] not in MUST_WARN or errors
    warned = errors[:-1] if code else errors
    assert all(line.startswith("warning: ") for line in warned)


@pytest.mark.parametrize(
    ("path", "entry"),
    bad_files("network-json", "neat-python"),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_bad_networks(run, path, entry):
    for arguments in (["export", path, "out.onnx", "--verify"], ["inspect", path]):
        code, _, errors = run(*arguments)
        assert_verdict(code, errors, entry)
    assert left_in(run) == ([] if code else ["out.onnx"])
    code, _, errors = run("validate", path)
    assert code == 1 or errors[0].startswith("error: ")  # it is no model in any case
    assert run("import", path, "out.json")[0] == REFUSED


@pytest.mark.parametrize(
    ("path", "entry"),
    bad_files("onnx-json", "onnx-binary"),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_bad_models(run, path, entry):
    shown, out, _ = run("inspect", path)
    assert shown or (entry["verdict"] == "refuse") == ("obstacles" in out)
    code, _, errors = run("import", path, "out.json")
    assert_verdict(code, errors, entry)
    assert left_in(run) == ([] if code else ["out.json"])
    if not code:
        expected = entry["if_accepted"]
        got = neat_onnx.load_network("out.json").activate(expected["inputs"])
        np.testing.assert_allclose(got, expected["outputs"], rtol=1e-12, atol=1e-12)
    code, _, errors = run("validate", path)
    assert code in (1, 2) or entry["verdict"] != "refuse"
    assert len(errors) <= 1
    code, _, errors = run("export", path, "no.onnx")
    assert (code, len(errors)) == (REFUSED, 1)


def test_names_in_files_do_not_reach_the_terminal(run):
    for arguments in (["import", "out.json"], ["inspect"], ["validate"]):
        _, out, errors = run(arguments[0], BAD / "onnx-ansi-names.json", *arguments[1:])
        assert all(line.isprintable() for line in (out.splitlines() + errors))


# --- as a process --------------------------------------------------------------------------------


def test_as_a_process(network, tmp_path):
    done = process("export", network, tmp_path / "a.onnx", "--verify")
    assert (done.returncode, done.stderr) == (0, "")
    refused = process("import", BAD / "bin-deep-subgraphs.onnx", tmp_path / "b.json")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")
    assert refused.stderr.count("\n") == 1
    assert process("--version").stdout == f"neat-onnx {neat_onnx.__version__}\n"


def test_a_reader_that_stops_reading_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "neat_onnx", "schema", "model"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


def test_names_that_the_terminal_cannot_show(tmp_path):
    net = neat_onnx.Network.mlp([1, 1], seed=0)
    net.save(tmp_path / "neuron-é-☃.json")
    shown = process(
        "inspect", tmp_path / "neuron-é-☃.json", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "neuron-\\xe9-\\u2603.json: a network" in shown.stdout
