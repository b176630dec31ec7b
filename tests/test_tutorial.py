"""The tutorial is one story: it is followed from an empty folder, as a new user would."""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from generate.notebook import NOTEBOOK, TUTORIAL, cells, notebook, printed

from neat_onnx.cli import main

ROOT = Path(__file__).parents[1]
TEXT = TUTORIAL.read_text(encoding="utf-8")


def test_every_step_runs_and_the_notebook_has_what_it_prints(tmp_path):
    outputs = printed(tmp_path)
    (command,) = re.findall(r"^```console\nneat-onnx (.*)\n```$", TEXT, re.MULTILINE)
    with contextlib.chdir(tmp_path):
        assert main(command.split()) == 0
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert kept == notebook(outputs)
    first, last = re.findall(r"fitness (\S+)", "\n".join(outputs))
    assert 3.9 < float(first) < float(last)


def test_the_notebook_has_the_blocks_of_the_tutorial():
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert [(each["cell_type"], "".join(each["source"])) for each in kept] == [
        (kind, text.strip("\n")) for kind, text in cells()
    ]
    assert any(each.get("outputs") for each in kept)


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_the_page_of_the_tutorial_runs(tmp_path):
    """In Node, with the package where the page has an address."""
    if not (ROOT / "node_modules" / "onnxruntime-web").is_dir() and "CI" not in os.environ:
        pytest.skip("onnxruntime-web is not installed: npm ci")
    import neat_onnx

    neat_onnx.export(neat_onnx.Network.mlp([2, 2, 1], seed=0)).save(tmp_path / "winner.onnx")
    (script,) = re.findall(r'<script type="module">\n(.*?)</script>', TEXT, re.DOTALL)
    address = re.search(r'from "(https://\S+)"', script)[1]
    assert "onnxruntime-web@" in address
    script = script.replace(address, "onnxruntime-web")
    script = script.replace("winner.onnx", str(tmp_path / "winner.onnx"))
    script = (
        f"globalThis.document = {{body: {{}}}};\n{script}\nconsole.log(document.body.textContent);"
    )
    command = ["node", "--input-type=module", "--eval", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.split(", ")) == 4
