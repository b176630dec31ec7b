"""The judges of networks that are written for a library: its own code, wherever it can run.

Some libraries are no packages of a registry. Environment variables name folders of their
repositories; without them another version, or a transcription of the algorithm, is the judge.

    NEATAPTIC_TS   built there by `npm ci && npm run build`: dist/neataptic.js
    NEAT_PYTHON    a neat-python beside the installed one, on the other side of 2.1
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from support.peers.judging import JAVASCRIPT, Task, answers, computed
from support.peers.transcribed import GoNEAT
from written import TESTS, Source

Tasks = list[tuple[Source, Any]]
PEERS = TESTS / "support" / "peers"
OWN, WRITTEN_OUT = "its own code", "its algorithm, written out"


class Judge(NamedTuple):
    """A judge of written networks.

    Attributes:
        how: its kind, for the table.
        judge: makes outputs of sources and their documents: a text where the library fails, None
            where this version of it computes something else.
        version: of the library, with its name, for the document; "" if that names it already.
    """

    how: str
    judge: Callable[[Tasks], list[Any]]
    version: str = ""


def folder_of(variable: str) -> Path | None:
    """The folder that an environment variable names."""
    found = os.environ.get(variable)
    return Path(found).absolute() if found else None


def by_javascript(library: str) -> Callable[[Tasks], list[Any]]:
    """The judge of a library of JavaScript."""

    def judge(tasks: Tasks) -> list[Any]:
        return computed(library, [Task(doc, s.inputs, s.sequence) for s, doc in tasks])

    return judge


class NeatPython:
    """neat-python: the installed one, or the one in a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        paths = [str(folder)] if folder else []
        self._path = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
        self.version, *_ = self._run("")

    def judge(self, tasks: Tasks) -> list[Any]:
        """The outputs of networks written as winner.pkl with their configuration."""
        runs = [self._integrates(source) for source, _ in tasks]
        given = [_pickled(source) for (source, _), run in zip(tasks, runs, strict=True) if run]
        _, *lines = self._run("".join(json.dumps(one) + "\n" for one in given))
        found = iter(answers(lines))
        return [next(found) if run else None for run in runs]

    def _run(self, given: str) -> list[str]:
        command = [sys.executable, str(PEERS / "neat_python_judge.py")]
        return run_lines(command, given, {"PYTHONPATH": self._path})

    def _integrates(self, source: Source) -> bool:
        """Whether this version integrates a network in the way that it is written for."""
        is_new = tuple(map(int, self.version.split(".")[:2])) >= (2, 1)
        return not source.name.startswith(f"np-ctrnn-v{'20' if is_new else '21'}")


def _pickled(source: Source) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "winner.pkl")
        source.net.save(path, library="neat-python")
        genome = base64.b64encode(path.read_bytes()).decode()
        config = path.with_suffix(".ini").read_text("utf-8")
    return {"genome": genome, "config": config, "advance": source.advance, **_rows(source)}


def _rows(source: Source) -> dict[str, Any]:
    return {"inputs": np.asarray(source.inputs).tolist(), "sequence": bool(source.sequence)}


def run_lines(
    command: Iterable[str], given: str, variables: dict[str, str] | None = None
) -> list[str]:
    """The lines that a program writes."""
    done = subprocess.run(
        list(command),
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **(variables or {})},
    )
    return done.stdout.splitlines()


def goneat_written_out(tasks: Tasks) -> list[Any]:
    """The outputs by the transcription of goNEAT's `ForwardSteps`, as many as there are nodes."""
    peers = [GoNEAT.of(document) for _, document in tasks]
    return [
        _row_by_row(source, lambda row, p=peer: p.forward(row, len(p.nodes)))
        for (source, _), peer in zip(tasks, peers, strict=True)
    ]


def _row_by_row(source: Source, activate: Callable[[list[float]], list[float]]) -> Any:
    with np.errstate(all="ignore"):
        return np.array([activate(row) for row in source.inputs.tolist()], np.float64)


def judges() -> dict[str, list[Judge]]:
    """The judges of each library that can be run here."""
    found = {name: [Judge(OWN, by_javascript(name))] for name in JAVASCRIPT}
    ts = folder_of("NEATAPTIC_TS")
    found["neataptic-ts"] = [
        Judge(OWN, by_javascript("neataptic-ts"), f"NeatapticTS {_package_version(ts)}")
        if ts
        else Judge(WRITTEN_OUT, by_javascript("neataptic-ts"))
    ]
    found["goneat"] = [Judge(WRITTEN_OUT, goneat_written_out)]
    other = folder_of("NEAT_PYTHON")
    snakes = [NeatPython(), *([NeatPython(other)] if other else [])]
    found["neat-python"] = [Judge(OWN, one.judge, f"neat-python {one.version}") for one in snakes]
    return found


def _package_version(folder: Path) -> str:
    return str(json.loads((folder / "package.json").read_text("utf-8"))["version"])
