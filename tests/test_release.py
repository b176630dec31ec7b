"""A release: versions agree, install lines are true, issues can be acted on."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import neat_onnx

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ON_INDEX = PROJECT["tool"]["neat_onnx"]["on-index"]
FROM_AN_INDEX = re.compile(r"(pip3? install|uvx|pipx (run|install)) ('|\")?neat[-_]onnx(?![-_]\d)")
TEXTS = [
    path
    for pattern in ("*.md", "docs/*.md", "docs/*.ipynb", "neat_onnx/**/*.py", "web/**/*.js")
    for path in ROOT.glob(pattern)
    if "dist" not in path.relative_to(ROOT).parts
]


def loaded(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_versions_agree():
    assert PROJECT["project"]["version"] == neat_onnx.__version__
    assert loaded("CITATION.cff")["version"] == neat_onnx.__version__
    assert f"[{neat_onnx.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_nobody_is_sent_to_an_index_that_does_not_have_the_project():
    """A name that is not taken may be taken by anyone."""
    named = [path for path in TEXTS if FROM_AN_INDEX.search(path.read_text(encoding="utf-8"))]
    assert bool(named) == ON_INDEX, named


def test_publishing_turns_the_switch():
    steps = loaded(".github/workflows/publish.yml")["jobs"]["switch"]["steps"]
    (command,) = re.findall(r"sed -i '([^']+)' pyproject.toml", steps[-1]["run"])
    _, before, after, _ = command.split("/")
    line = before if not ON_INDEX else re.escape(after)
    assert re.search(line, (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("job", ["package", "whole"])
def test_what_the_metadata_promises_is_tested(job):
    matrix = loaded(".github/workflows/tests.yml")["jobs"][job]["strategy"]["matrix"]
    if job == "whole":
        assert matrix["node"] == ["20", "22"]
        return
    label = "Programming Language :: Python :: "
    known = [each.removeprefix(label) for each in PROJECT["project"]["classifiers"]]
    assert set(matrix["python"]) <= set(known)
    assert matrix["python"][0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_an_issue_asks_for_the_file_and_the_verdict():
    fields = {
        each["id"]: each for each in loaded(".github/ISSUE_TEMPLATE/wrong-result.yml")["body"]
    }
    for field in ("file", "command", "verdict"):
        assert fields[field]["validations"]["required"]
