"""The documentation runs: its Python, its commands, its JSON; and its tables are the code's."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import neat_onnx
from neat_onnx.cli import main
from neat_onnx.genome.document import GENOME, NETWORK
from neat_onnx.libraries.neataptic_ts.onnx.spec import SHAPES
from neat_onnx.model.graph import NEWEST_OPSET
from neat_onnx.model.ports import KEYS_OF_PORTS
from neat_onnx.model.states import STATE_IN_WORDS

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "web" / "samples" / "neat-python.json"
CORPORA = ROOT / "tests" / "corpora"
FILES = {
    "net.json": ("nap-net-lstm-1", "source"),
    "lstm.json": ("nts-net-lstm-2", "source"),
    "conv.json": ("nts-onnx-conv1ch-1", "source_network"),
    "old.onnx.json": ("nts-onnx-conv1ch-1", "source"),
}


def blocks(document, language):
    """The fenced blocks of that language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def python(code, folder):
    """Runs it in a process of its own, as it registers what is global; a warning is an error."""
    strict = (
        "import warnings, neat_onnx\nwarnings.simplefilter('error', neat_onnx.NeatOnnxWarning)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", strict + code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def filled(folder):
    """The directory, with an evolved network in winner.json and the other files."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SAMPLE, folder / "winner.json")
    for name, (case, key) in FILES.items():
        document = json.loads((CORPORA / f"{case}.json").read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps(document[key]), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(filled(tmp_path))
    return tmp_path


def test_the_commands_of_the_readme(folder):
    (commands,) = blocks("README.md", "console")
    for line in commands.splitlines():
        program, *arguments = line.split()
        assert program == "neat-onnx"
        assert main(arguments) == 0
    assert neat_onnx.load_network("back.json").library


DOCS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "docs").glob("*.md"))
    if path.name not in ("libraries.md", "tutorial.md")  # their files and tests are elsewhere
    and (path.name != "training.md" or find_spec("torch"))  # an extra
]


CODE = {name: "\n".join(blocks(name, "python")) for name in (*DOCS, "README.md", "CONTRIBUTING.md")}


WITHOUT_GELU = """
import neat_onnx.operators.families, neat_onnx.operators.export.families
from neat_onnx.lifting.operator import OPERATORS
from neat_onnx.model.node import _REGISTRY, node_classes
from neat_onnx.operators.export.formula import WHOLE
node_classes()
del OPERATORS["", "Gelu"], _REGISTRY["Gelu"]
WHOLE.clear()
"""
"""CONTRIBUTING.md adds it again."""


def test_the_python_of_the_documents(tmp_path):
    """All in one process, as starting one takes longer than most of them do; those that register
    come last.
    """
    together = ["import os", WITHOUT_GELU]
    for document in sorted(CODE, key=lambda name: ("register" in CODE[name], name)):
        code = f"compile({CODE[document]!r}, {document!r}, 'exec')"
        together.append(f"os.chdir({str(filled(tmp_path / document))!r})")
        together.append(f"exec({code}, {{'__name__': 'docs'}})")
    assert "normalised MSE" in python("\n".join(together), tmp_path)
    assert neat_onnx.load_model(tmp_path / "README.md" / "winner.onnx").opset == 18
    assert (tmp_path / "CONTRIBUTING.md" / "both.json").exists()


@pytest.mark.parametrize("document", DOCS)
def test_the_commands_of_the_docs(document, folder):
    for commands in blocks(document, "console"):
        for line in commands.splitlines():
            program, *arguments = shlex.split(line, comments=True)
            assert program == "neat-onnx"
            assert main(arguments) == 0, line


def test_the_json_of_the_docs():
    (text,) = blocks("docs/json-onnx.md", "json")
    assert neat_onnx.validate(json.loads(text)) == []
    net = neat_onnx.import_model(text)
    assert neat_onnx.verify(net, text).passed


def test_the_tables_of_the_docs_are_those_of_the_code():
    """Rewritten by: python tests/generate/readme_tables.py."""
    script = ROOT / "tests" / "generate" / "readme_tables.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("document", [path.name for path in (ROOT / "docs").glob("*.md")])
def test_a_page_is_read_in_one_sitting(document):
    """Words of prose: tables and programs are looked up."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(text.split()) <= 1500


def test_every_page_of_the_docs_is_in_the_navigation_and_on_the_first_page():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = re.findall(r": ([\w-]+\.md)$", configuration, re.MULTILINE)
    assert sorted(navigation) == sorted(pages)
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", first)) == pages - {"index.md"}


DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))),
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (ROOT / document).parent.joinpath(target).exists(), target


def test_the_files_that_the_architecture_names_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("neat_onnx/**/*.py")}
    files |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*.py")}
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 40
    for name in named:
        assert any(path.endswith(f"/{name}") or path == name for path in files), name


def test_every_key_of_metadata_is_in_a_page():
    pages = [ROOT / "docs" / name for name in ("genome-format.md", "json-onnx.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for key in (GENOME, NETWORK, *KEYS_OF_PORTS, STATE_IN_WORDS, *SHAPES):
        assert f"`{key}`" in text, key


def tree_of_contributing():
    """The paths that the tree of CONTRIBUTING.md lists, two spaces of indentation a folder."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = text.split("```\nneat_onnx/\n")[1].split("```")[0]
    folders = ["neat_onnx"]
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        folders[depth:] = [line.split()[0].rstrip("/")]
        yield "/".join(folders)


def test_the_tree_of_contributing_is_there():
    for path in tree_of_contributing():
        assert (ROOT / path).exists(), path


def listed(room):
    """The files and rooms that the tree of CONTRIBUTING.md lists in a folder."""
    paths = [path.rpartition("/") for path in tree_of_contributing()]
    return {name for folder, _, name in paths if folder == room}


def found(room):
    """The files and rooms that exist there."""
    entries = (ROOT / room).iterdir()
    return {each.name for each in entries if each.name not in ("__pycache__", "py.typed")}


def test_the_tree_lists_the_package():
    assert listed("neat_onnx") == found("neat_onnx")


def test_the_tree_lists_the_rooms_of_operators():
    operators = ROOT / "neat_onnx" / "operators"
    rooms = {path.parent.name for path in operators.glob("*/*.py")}
    assert listed("neat_onnx/operators") == rooms


def test_the_tree_lists_every_room():
    for room in ("tests", "tests/support"):
        rooms = {name for name in found(room) if (ROOT / room / name).is_dir()} - {"dist"}
        mirrored = found("neat_onnx") if room == "tests" else set()
        assert rooms - mirrored <= listed(room), room
        assert listed(room) <= found(room), room


def test_the_table_of_operators_names_the_newest_opset():
    text = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert f"the forms of opsets 1 to {NEWEST_OPSET}" in text
