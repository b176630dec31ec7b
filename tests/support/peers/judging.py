"""What a library's own code computes of the networks that are written for it.

The JavaScript libraries run in node, from `node_modules` or `.cache/libraries` (`make libraries`
installs them there). NeatapticTS is no package of the registry: where the environment variable
NEATAPTIC_TS names no folder with its build, its order of evaluation, written out in
`neataptic_ts.cjs`, stands for it; the recorded networks of the corpora guard it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[3]
_FOLDERS = (ROOT / "node_modules", ROOT / ".cache" / "libraries" / "node_modules")
_PACKAGES = {
    "neataptic": "neataptic",
    "carrot": "@liquid-carrot/carrot",
    "synaptic": "synaptic",
    "brain.js": "brain.js",
}
JAVASCRIPT = ("neataptic-ts", *_PACKAGES)


class Task(NamedTuple):
    """A document and the rows to give to it, steps of one sequence or samples."""

    document: Any
    inputs: Any
    sequence: bool


def is_installed(library: str) -> bool:
    """Whether a library of JavaScript can run here."""
    if shutil.which("node") is None:
        return False
    return library not in _PACKAGES or any(
        (folder / _PACKAGES[library]).exists() for folder in _FOLDERS
    )


def computed(library: str, tasks: Sequence[Task]) -> list[Any]:
    """The outputs that a library of JavaScript computes of each task; a text where it fails."""
    lines = "".join(
        json.dumps(
            {
                "document": task.document,
                "inputs": np.asarray(task.inputs).tolist(),
                "sequence": task.sequence,
            }
        )
        + "\n"
        for task in tasks
    )
    return answers(run_node("judge.cjs", [library], lines).splitlines())


def answers(lines: Iterable[str]) -> list[Any]:
    """What a judge's lines say: the outputs of a task; a text where the library fails."""
    return [
        answer["error"] if "error" in answer else np.array(answer["outputs"], np.float64)
        for answer in map(json.loads, lines)
    ]


def run_node(script: str, arguments: Sequence[str], given: str) -> str:
    """The standard output of a script that stands beside this file."""
    path = os.pathsep.join(map(str, _FOLDERS))
    done = subprocess.run(
        ["node", str(Path(__file__).parent / script), *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NODE_PATH": path},
    )
    return done.stdout
