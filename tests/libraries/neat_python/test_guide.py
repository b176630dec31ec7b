"""The guide of libraries runs: its Python in one process, its commands in another."""

import base64
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from neat_onnx.cli import main

GUIDE = (Path(__file__).parents[3] / "docs" / "libraries.md").read_text(encoding="utf-8")
RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
FILES = {
    "winner.pkl": "ff-xor0-2.0.0",
    "neat-checkpoint-5": "checkpoint-population-2.0.0",
    "ctrnn.pkl": "ctrnn-ctrnn0-1.1.0",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with the files that the guide speaks of."""
    cases = {case["name"]: case for case in RECORDED["cases"]}
    for name, case in FILES.items():
        (tmp_path / name).write_bytes(base64.b64decode(cases[case]["file"]))
    config = RECORDED["configs"][cases[FILES["winner.pkl"]]["config"]]
    (tmp_path / "config-feedforward").write_text(config)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


def test_the_python(folder):
    code = "\n".join(blocks("python"))
    run = [sys.executable, "-c", code]
    reply = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert reply.returncode == 0, reply.stderr
    assert {"back.pkl", "back.ini"} <= {path.name for path in folder.iterdir()}


def test_the_commands(folder):
    for line in "".join(blocks("sh")).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "neat-onnx"
        assert main(arguments) == 0
