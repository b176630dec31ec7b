"""The table of docs/written.md: networks written for each library, in the library's own code.

    make libraries
    make libraries NEATAPTIC_TS=../NeatapticTS     see judges.py
    python tests/bench/libraries.py --every 20     each twentieth, printed alone

Every network of the corpora, and every recorded one of tests/libraries, is written for every
library. The library loads the document and computes; its outputs are compared with the network's.
Then the document is read again and compared with the network.
"""

import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "libraries" / "neat_python"))

import numpy as np
from judges import judges
from rows import measured
from support.examples.cases import CORPORA
from written import TESTS, Source, sources

import neat_onnx
from neat_onnx import NeatOnnxError, NeatOnnxWarning

BOUND = 1e-12
FLOAT32 = 2.0**-20
JUDGES = judges()
HEAD = """\
{networks} networks: {origins}. Versions: {versions}. A ctrnn of a neat-python that is \
not here is written, read and compared, not run.

| library | judge | written | equal | largest error | refused | genome | function |
|---|---|---|---|---|---|---|---|
"""


def row_of(library: str, nets: list[Source]) -> str:
    """A line of the table."""
    counts: Counter[str] = Counter()
    tasks, worst = [], 0.0
    for source in nets:
        try:
            document = source.net.to_library(library)
        except NeatOnnxError as error:
            if "(neuron " not in str(error):
                raise AssertionError(f"{source.name}: {error}") from error
            counts["refused"] += 1
            continue
        counts["written"] += 1
        tasks.append((source, document))
        counts[_read_again(library, source, document)] += 1
    judge = JUDGES.get(library)
    for (source, _), outputs in zip(tasks, judge.judge(tasks) if judge else (), strict=False):
        error = None if outputs is None else _error(library, source, outputs)
        if error is None:
            print(library, source.name, outputs if isinstance(outputs, str) else "differs")
            continue
        counts["equal"] += 1
        worst = max(worst, error)
    how = judge.how if judge else "–"
    equal, largest = (counts["equal"], f"{worst:.1e}") if judge else ("–", "–")
    return (
        f"| {library} | {how} | {counts['written']} | {equal} | {largest} | {counts['refused']} | "
        f"{counts['genome']} | {counts['function']} |"
    )


def _error(library: str, source: Source, outputs: Any) -> float | None:
    """The largest error of outputs beyond rounding; None where they are others."""
    want = source.outputs
    if isinstance(outputs, str) or outputs.shape != want.shape:
        return None
    finite = np.isfinite(want)
    if not np.array_equal(outputs[~finite], want[~finite], equal_nan=True):
        return None
    scale = np.maximum(1.0, np.abs(np.where(finite, want, 0.0)))
    rounding = np.broadcast_to(source.sensitivity, want.shape)
    errors = ((np.abs(outputs - want) - rounding) / scale)[finite]
    error = float(np.max(errors, initial=0.0))
    return error if error <= (FLOAT32 if library == "brain.js" else BOUND) else None


def _read_again(library: str, source: Source, document: Any) -> str:
    """Whether a document, read again, is the same genome, computes the same, or neither."""
    net = source.net
    options: dict[str, Any] = {}
    if library == "neat-python" and source.advance:
        count, step = (*source.advance, None)[:2]
        options = {"time_step": step or 1.0, "advance_time": count * (step or 1.0)}
    if isinstance(document, str):
        document = document.encode()
    back = neat_onnx.load_network(document, **options)
    if back == net:
        return "genome"
    again = source._replace(net=back)
    same = _error(library, source, again.outputs) is not None
    if not same:
        print(library, source.name, "comes back as another function")
    return "function" if same else "other"


def document(every: int) -> str:
    """The table, and what it is of."""
    warnings.simplefilter("ignore", NeatOnnxWarning)
    nets = sources()[::every]
    origins = Counter(source.origin for source in nets)
    lines = [
        row_of(library.name, nets)
        for library in neat_onnx.libraries()
        if library.reads and library.writes
    ]
    head = HEAD.format(
        networks=len(nets),
        origins=", ".join(f"{count} of {origin}" for origin, count in origins.items()),
        versions=", ".join(_versions()),
    )
    return head + "\n".join(lines) + "\n"


def _versions() -> list[str]:
    """The packages of npm, as `make libraries` installs them, and the judges' own."""
    folder = TESTS.parent / ".cache" / "libraries"
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))
    wanted = lock["packages"][""]["dependencies"]
    packages = [f"{name} {version}" for name, version in wanted.items()]
    return packages + [judge.version for judge in JUDGES.values() if judge.version]


if __name__ == "__main__":
    assert CORPORA.exists()
    measured("written.md", "written", document, __doc__)
