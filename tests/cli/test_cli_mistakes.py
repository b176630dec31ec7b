"""Mistakes on the command line: one line and an exit code, no traceback whatever the file."""

import os
import re
import subprocess
import sys

import pytest
from support.examples.cases import BAD, bad_files

import neat_onnx

REFUSED, PASSED = 2, 0
MAY_REFUSE = {"refuse", "refuse-or-warn", "either"}
MUST_WARN = {"refuse-or-warn", "accept-with-warning"}


# --- usage and files -----------------------------------------------------------------------------

USAGE = {
    "": "the following arguments are required: COMMAND. See neat-onnx --help",
    "export a": "the following arguments are required: OUT. See neat-onnx export --help",
    "export a b.onnx --opset x":
        "invalid int value: 'x' (--opset). See neat-onnx export --help",
    "inspect a --col": "unrecognized arguments: --col. See neat-onnx inspect --help",
    "export a b.txt": "cannot write a file that ends in '.txt' (b.txt). Use .onnx or .json",
    "export a b":
        "cannot tell the format of a file without an ending (b). Use .onnx or .json",
    "import a b.onnx":
        "no library has networks in .onnx files (b.onnx). Write ONNX with neat_onnx.export(net)"
        ".save(path), or neat-onnx export",
    "export a no/b.onnx": "cannot write the file: there is no directory 'no' (no/b.onnx)",
    "export a b.onnx": "cannot read the file: No such file or directory (a)",
    "inspect .": "cannot read a directory: not a file (.)",
}  # fmt: skip


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_one_line(run, line):
    assert run(*line.split()) == (2, "", [f"error: {USAGE[line]}"])
    assert run.left() == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"opset": 99}, r"opset is 99, expected at most 28 \(.*options.json, opset\)"),
        ({"opset": 18.0}, r"opset is not an integer, got 18\.0 \("),
        ({"opset": 10**40}, "opset is a number out of range, expected at most 28"),
        ({"dtyp": "x"}, r"dtyp is not a known option \(.*, dtyp\)\. docs/options.md"),
        ({"includeMetadata": False, "include_metadata": True},
         r"include_metadata is given twice, also as includeMetadata \(.*options.json"),
        ({"conv2dMappings": [{}]}, r"kernelHeight is missing \(.*options.json, conv2dMappings"),
        ([], "options should be an object"),
    ],
)  # fmt: skip
def test_wrong_options(run, network, options, line):
    code, out, errors = run("export", network, "a.onnx", "--options", run.options(options))
    assert (code, out, len(errors)) == (2, "", 1)
    assert re.match(f"error: {line}", errors[0])
    assert not errors[0].endswith("…")
    assert run.left() == []


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--opset", "12"], "opset is 12, expected at least 13 (opset)"),
        (["--conv2d-mappings", "[{}]"],
         "kernelHeight is missing (conv2d_mappings[0].kernelHeight)"),
        (["--batch-dimension", "T"],
         "batch_dimension should be a name as 'N' is, and not 'T', which says time "
         "(batch_dimension)"),
    ],
)  # fmt: skip
def test_a_wrong_value_does_not_list_the_options(run, network, flags, line):
    assert run("export", network, "x.onnx", *flags) == (2, "", [f"error: {line}"])


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("export ff.json x.onnx --options ", "cannot read the file: No such file or directory"),
        ("code ff.json x.py --name pilot", "name is for C and C#; this is python (name). Leave it"),
        ("code ff.json x.mjs --name pilot", "name is for C and C#; this is javascript (name)."),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(run, line, error):
    neat_onnx.Network.mlp([2, 1], activation="sigmoid", seed=0).save("ff.json", "neat-python")
    code, _, errors = run(*line.split(" "))
    assert (code, run.left()) == (2, ["ff.json"])
    assert errors[-1].startswith(f"error: {error}")


FILES = {
    "empty.json": b"",
    "cut.json": b"{",
    "text.json": b"I am no model\x00",
    "weight.json": b'{"format": "neat-onnx", "version": 1}',
}


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("bad", FILES)
@pytest.mark.parametrize(
    "line",
    [
        "export BAD out.onnx",
        "export net.json out.onnx --options BAD",
        "import BAD out.json",
        "translate BAD out.json",
        "code BAD out.c",
        "convert BAD out.onnx",
        "canonicalize BAD out.onnx",
        "inspect BAD",
        "verify BAD net.onnx",
        "verify net.json BAD",
        "certify BAD net.onnx out.json",
        "certify net.json BAD out.json",
        "replay BAD net.json net.onnx",
        "replay net.json BAD net.onnx",
        "replay net.json net.json BAD",
        "export win.pkl out.onnx --config BAD",
    ],
)
def test_an_error_names_the_file_that_it_is_about(run, bad, line):
    net = neat_onnx.Network.mlp([2, 1], activation="sigmoid", seed=0)
    for name in ("net.json", "win.pkl"):
        net.save(name)
    neat_onnx.export(net).save("net.onnx")
    (run.folder / bad).write_bytes(FILES[bad])
    code, _, errors = run(*line.replace("BAD", bad).split())
    (error,) = (line for line in errors if line.startswith("error: "))
    assert code == 2
    assert error.count(f"({bad}") == error.count(bad) == 1
    assert not re.search(r"net\.json|net\.onnx|win\.pkl", error)
    if bad == "empty.json" and "--" not in line:
        assert error.startswith("error: the file is empty")


@pytest.mark.parametrize(
    ("command", "ending", "flag"),
    [
        ("export", ".json", "--options"),
        ("export", ".json", "--config"),
        ("translate", ".json", "--config"),
        ("code", ".c", "--config"),
        ("certify", ".json", "--config"),
    ],
)
def test_no_file_that_is_read_is_overwritten(run, network, command, ending, flag):
    given = run.folder / f"given{ending}"
    given.write_text("{}")
    files = [network, network] if command == "certify" else [network]
    code, _, errors = run(command, *files, f"../here/given{ending}", flag, given)
    assert code == 2
    assert errors[0].startswith("error: the result would overwrite a file that is read (../here")
    assert given.read_text() == "{}"


def test_what_was_there_stays_where_export_fails(run):
    (run.folder / "a.onnx").write_text("mine")
    assert run("export", BAD / "net-weight-null.json", "a.onnx")[0] == 2
    assert (run.folder / "a.onnx").read_text() == "mine"


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
    assert run.left() == ([] if code else ["out.onnx"])
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
    assert run.left() == ([] if code else ["out.json"])
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


def test_as_a_process(process, network, tmp_path):
    done = process("export", network, tmp_path / "a.onnx")
    assert (done.returncode, done.stderr) == (0, b"")
    refused = process("import", BAD / "bin-deep-subgraphs.onnx", tmp_path / "b.json")
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"error: ")
    assert refused.stderr.count(b"\n") == 1
    assert process("--version").stdout.decode() == f"neat-onnx {neat_onnx.__version__}\n"


def test_a_reader_that_stops_reading_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "neat_onnx", "schema", "model"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


def test_names_that_the_terminal_cannot_show(process, tmp_path):
    net = neat_onnx.Network.mlp([1, 1], seed=0)
    net.save(tmp_path / "neuron-é-☃.json")
    shown = process(
        "inspect", tmp_path / "neuron-é-☃.json", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"neuron-\\xe9-\\u2603.json: a network" in shown.stdout
