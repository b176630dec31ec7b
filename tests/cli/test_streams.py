"""Standard input and output in place of files, and `translate`."""

import json
import os
import subprocess
import sys

import pytest

import neat_onnx
from neat_onnx.cli import main

NET = neat_onnx.Network.mlp([2, 3, 1], seed=3)


def process(*arguments, given=b"", **keywords):
    run = [sys.executable, "-m", "neat_onnx", *arguments]
    if "stdout" not in keywords:
        keywords["stdout"] = subprocess.PIPE
    return subprocess.run(run, input=given, stderr=subprocess.PIPE, check=False, **keywords)


def test_standard_input_to_standard_output():
    made = process("export", "-", "-", "--dtype", "float64", given=NET.to_json().encode())
    assert made.returncode == 0, made.stderr
    assert b"wrote -" in made.stderr
    back = process("import", "-", "-", given=made.stdout)
    assert neat_onnx.load_network(back.stdout) == NET


def test_standard_input_is_read_once():
    reply = process("verify", "-", "-", given=NET.to_json().encode())
    assert reply.returncode == 2
    assert reply.stderr.count(b"\n") == 1
    assert b"once only" in reply.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [("inspect", "-"), ("translate", "-", "-")])
def test_a_full_standard_output_is_one_line(arguments):
    with open("/dev/full", "wb") as full:
        reply = process(*arguments, given=NET.to_json().encode(), stdout=full)
    assert reply.returncode == 2
    assert reply.stderr.splitlines()[-1].startswith(b"error: cannot write to standard output")
    assert b"mistake" not in reply.stderr


def test_translate_writes_for_a_library(tmp_path, capsys):
    (tmp_path / "net.json").write_text(NET.to_json())
    out = tmp_path / "back.json"
    assert main(["translate", str(tmp_path / "net.json"), str(out), "--json"]) == 0
    assert neat_onnx.load_network(out) == NET
    assert json.loads(capsys.readouterr().out)["network"]["hidden"] == 3


@pytest.mark.parametrize("command", ["translate", "import"])
def test_an_unknown_library_is_told_before_anything_is_read(command, tmp_path, capsys):
    assert main([command, "absent.json", str(tmp_path / "x.json"), "--to", "torch"]) == 2
    assert "there is no library named 'torch'" in capsys.readouterr().err


def test_a_closed_standard_output_is_one_line():
    line = '"$0" -m neat_onnx schema model >&-'
    reply = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, check=False)
    assert reply.returncode == 2
    assert reply.stderr.splitlines()[-1].startswith(b"error: standard output is closed")


def test_a_name_that_is_too_long_is_one_line(tmp_path, capsys):
    NET.save(tmp_path / "net.json")
    long = tmp_path / ("x" * 300 + ".onnx")
    assert main(["export", str(tmp_path / "net.json"), str(long)]) == 2
    assert capsys.readouterr().err.startswith("error: cannot write the file: File name too long")
