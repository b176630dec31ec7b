"""What the tests of the command line share: a network in a file, and a way to run a command."""

import json
import subprocess
import sys

import pytest
from support.examples.cases import case

from neat_onnx.cli import main


@pytest.fixture
def network(tmp_path):
    """A NeatapticTS network in a file of its own."""
    path = tmp_path / "net.json"
    path.write_text(json.dumps(case("nts-net-dag-01").source))
    return path


class Commands:
    """Runs commands in an empty directory: (exit code, standard output, lines of its errors)."""

    def __init__(self, folder, capsys):
        self.folder, self._capsys = folder, capsys

    def __call__(self, *arguments):
        code = main([str(argument) for argument in arguments])
        reply = self._capsys.readouterr()
        return code, reply.out, reply.err.splitlines()

    def left(self):
        """The names of the files in the directory."""
        return sorted(path.name for path in self.folder.iterdir())

    def options(self, options):
        """A file of options, beside the directory."""
        path = self.folder.parent / "options.json"
        path.write_text(json.dumps(options))
        return path


def process(*arguments, **keywords):
    """The command in a process of its own, with keywords of `subprocess.run`."""
    command = [sys.executable, "-m", "neat_onnx", *map(str, arguments)]
    keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | keywords
    return subprocess.run(command, timeout=60, check=False, **keywords)


@pytest.fixture(name="process")
def process_of_its_own():
    return process


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Commands(folder, capsys)
