"""The table of docs/written.md: networks written for each library, in the library's own code.

    make libraries
    make libraries NEATAPTIC_TS=../NeatapticTS    and others: see judges.py
    python tests/bench/libraries.py --every 20                     each twentieth, printed alone

Every network of the corpora, and every recorded one of tests/libraries, is written for every
library. The library loads the document and computes; its outputs are compared with the network's.
Then the document is read again and compared with the network.
"""

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "libraries" / "neat_python"))

import numpy as np
from judges import Judge, Tasks, judges
from rows import replaced
from support.examples.cases import CORPORA
from support.harness import trips
from written import TESTS, Source, sources

import neat_onnx
from neat_onnx import NeatOnnxError, NeatOnnxWarning

BOUND = 1e-12
FLOAT32 = 2.0**-20
JUDGES = judges()
HEAD = """\
{networks} networks: {origins}. Versions: {versions}. {note}

| library | judge | written | equal | largest error | refused | genome | function |
|---|---|---|---|---|---|---|---|
"""
THROUGH_ONNX = "| library | through | documents | kept |\n|---|---|---|---|\n"
TRIPS = {
    "JSON ONNX": trips.through_json,
    "float32 .onnx with embed_network": trips.through_float32,
}


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
    found = JUDGES.get(library, [])
    for source, outputs in _judged(found, tasks):
        errors = [_error(library, source, one) for one in outputs]
        if not outputs or None in errors:
            print(library, source.name, next((o for o in outputs if isinstance(o, str)), "differs"))
            continue
        counts["equal"] += 1
        worst = max(worst, *errors)
    how = found[0].how if found else "–"
    equal, largest = (counts["equal"], f"{worst:.1e}") if found else ("–", "–")
    return (
        f"| {library} | {how} | {counts['written']} | {equal} | {largest} | {counts['refused']} | "
        f"{counts['genome']} | {counts['function']} |"
    )


def _judged(found: list[Judge], tasks: Tasks) -> Iterator[tuple[Source, list[Any]]]:
    """Sources, with the outputs of each judge that runs them."""
    by_judge = [judge.judge(tasks) for judge in found]
    for at, (source, _) in enumerate(tasks if found else []):
        yield source, [outputs[at] for outputs in by_judge if outputs[at] is not None]


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


def through_onnx() -> Iterator[str]:
    """Lines of the table of genes on the way through ONNX and back."""
    groups = {
        "neataptic-ts": (("nts-net", "nts-onnx"), trips.listed),
        "neat-python": (("np-ff", "np-rec", "np-atom"), trips.keyed),
    }
    for library, (names, genes) in groups.items():
        documents = trips.documents(*names)
        for form, trip in TRIPS.items():
            kept = sum(
                genes(trip(neat_onnx.load_network(document)).to_library(library)) == genes(document)
                for document in documents.values()
            )
            yield f"| {library} | {form} | {len(documents)} | {kept} |"


def main() -> None:
    """Write the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
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
        versions=", ".join([*_versions(), *_judge_versions()]),
        note=_note(),
    )
    text = head + "\n".join(lines) + "\n"
    print(text)
    if every == 1:
        replaced("written.md", "written", text)
        replaced("written.md", "through", THROUGH_ONNX + "\n".join(through_onnx()) + "\n")


def _versions() -> list[str]:
    """The packages of npm, as `make libraries` installs them."""
    folder = TESTS.parent / ".cache" / "libraries"
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))
    wanted = lock["packages"][""]["dependencies"]
    return [f"{name} {version}" for name, version in wanted.items()]


def _judge_versions() -> list[str]:
    return [judge.version for found in JUDGES.values() for judge in found if judge.version]


def _note() -> str:
    """A sentence on the networks of neat-python whose meaning depends on its version."""
    if len(JUDGES["neat-python"]) == 1:
        return "A ctrnn of a neat-python that is not here is written, read and compared, not run."
    return "Both versions of neat-python run each network, but for a ctrnn, which is one version's."


if __name__ == "__main__":
    assert CORPORA.exists()
    main()
