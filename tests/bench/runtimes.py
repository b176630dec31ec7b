"""The table of docs/runtimes.md: which runtime runs which kind of network, and how equal.

    python tests/bench/runtimes.py             every network of the corpora, every runtime
    python tests/bench/runtimes.py --every 5   each fifth network, printed alone

Each runtime runs in a process of its own, because some end the process on what they do not like.
"""

import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import onnx
from models_of_others.small_models import small_models
from rows import measured
from support.examples.cases import CORPORA, case

import neat_onnx
from neat_onnx.runtimes import RUNTIMES
from neat_onnx.verification.compare import compare

RECORDED = Path(__file__).parents[1] / "models_of_others" / "recorded"
IMPORTED = "imported"
SAMPLES = 16
VERDICTS = ("equal", "equal within float32", "different", "refused", "crashed")
HEAD = """\
{networks} networks of `tests/corpora`, and {imported} small models of other tools, imported and
exported again. Versions: {versions}.

"""


class Job(NamedTuple):
    """A network, and how it is exported."""

    name: str
    kind: str
    dtype: str
    sequence: bool

    def network(self) -> neat_onnx.Network:
        if self.kind == IMPORTED:
            return neat_onnx.import_model(models_of_others()[self.name])
        return case(self.name).network()


@cache
def models_of_others() -> dict[str, onnx.ModelProto]:
    """The small models of the tests, by name."""
    recorded = {path.name: onnx.load(path) for path in sorted(RECORDED.glob("*.onnx"))}
    return {**dict(small_models()), **recorded}


def jobs(every: int) -> Iterator[Job]:
    """Every export of the corpora's networks and of imported models, in order."""
    for name in list(json.loads((CORPORA / "MANIFEST.json").read_text()))[::every]:
        if case(name).kind != "network-json" or case(name).group.startswith(
            ("np-ctrnn", "np-iznn")
        ):
            continue
        memory = case(name).network().has_memory
        for dtype in ("float32", "float64"):
            yield Job(name, "memory, single step" if memory else "feed-forward", dtype, False)
            if memory:
                yield Job(name, "memory, Scan", dtype, True)
    for name in list(models_of_others())[::every]:
        yield Job(name, IMPORTED, "float32", False)


def judge(runtime: str, job: Job) -> dict[str, Any]:
    """The verdict of a runtime on a job."""
    with warnings.catch_warnings(action="ignore"):
        net = job.network()
        model = neat_onnx.export(net, dtype=job.dtype, sequence=job.sequence)
        try:
            found = compare(net, model, samples=SAMPLES, seed=0, runtime=runtime, long=False)
        except neat_onnx.ModelError as error:
            return {"verdict": "refused", "why": error.message}
    return {"verdict": found.verdict, "runtime": found.runtime}


def collect(runtime: str, listed: list[Job]) -> Iterator[dict[str, Any]]:
    """The verdict on each job; the process is started again where it ends."""
    pool = ProcessPoolExecutor(1)
    for job in listed:
        try:
            yield pool.submit(judge, runtime, job).result()
        except BrokenProcessPool:
            yield {"verdict": "crashed"}
            pool = ProcessPoolExecutor(1)
        except neat_onnx.OptionError as error:  # it is not installed
            raise SystemExit(str(error)) from None
    pool.shutdown()


def table(every: int) -> str:
    """The document."""
    listed = list(jobs(every))
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    versions, reasons = {}, defaultdict(Counter)
    for runtime in RUNTIMES:
        for job, found in zip(listed, collect(runtime, listed), strict=True):
            counts[runtime, job.kind, job.dtype][found["verdict"]] += 1
            versions.setdefault(runtime, found.get("runtime"))
            if "why" in found:
                reasons[runtime][found["why"][:150]] += 1
        versions[runtime] = versions.get(runtime) or runtime
    columns = sorted({(job.kind, job.dtype) for job in listed})
    lines = [
        "| runtime | " + " | ".join(f"{kind}, {dtype}" for kind, dtype in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for runtime in RUNTIMES:
        cells = [_cell(counts[runtime, kind, dtype]) for kind, dtype in columns]
        lines.append(f"| {runtime} | " + " | ".join(cells) + " |")
    head = HEAD.format(
        networks=len({job.name for job in listed if job.kind != IMPORTED}),
        imported=sum(job.kind == IMPORTED for job in listed),
        versions=", ".join(str(version) for version in versions.values()),
    )
    return head + "\n".join(lines) + "\n" + _why(reasons)


def _cell(found: Counter[str]) -> str:
    text = f"**{found['equal']}** + {found['equal within float32']} / {found.total()}"
    rest = [f"{found[verdict]} {verdict}" for verdict in VERDICTS[2:] if found[verdict]]
    return f"{text}; {', '.join(rest)}" if rest else text


def _why(reasons: dict[str, Counter[str]]) -> str:
    """The most frequent reason of refusal of each runtime."""
    lines = ["", "What the runtimes say of most of the models that they refuse:", ""]
    for runtime, found in reasons.items():
        text, count = found.most_common(1)[0]
        lines.append(f"- {runtime}, {count} times: `{text}`")
    return "\n".join(lines) + "\n" if reasons else ""


if __name__ == "__main__":
    measured("runtimes.md", "runtimes", table, __doc__)
