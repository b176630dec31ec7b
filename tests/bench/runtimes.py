"""The table of runtimes, docs/runtimes.md: which runs which kind of network, and how equal.

    python tests/bench/runtimes.py             every network of the corpora, every runtime
    python tests/bench/runtimes.py --every 5   each fifth network

Each runtime runs in a process of its own, because some end the process on what they do not like.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "generate"))

import onnx
from models_of_others.small_models import small_models
from readme_tables import in_step
from support.examples.cases import CORPORA, case

import neat_onnx
from neat_onnx.verification.compare import compare
from neat_onnx.verification.runtimes import RUNTIMES

DOCS = Path(__file__).parents[2] / "docs" / "runtimes.md"
RECORDED = Path(__file__).parents[1] / "models_of_others" / "recorded"
IMPORTED = "imported"
SAMPLES = 16
VERDICTS = ("equal", "equal within float32", "different", "refused", "crashed")
HEAD = """\
# Runtimes

Which runtime runs what neat_onnx exports, and how equal. Written by `make runtimes`: {networks}
networks of `tests/corpora`, and {imported} small models of other tools, imported and exported
again, each verified on {samples} samples or sequences
(`neat_onnx.verify(net, model, runtime=…)`). Versions: {versions}.

Each cell counts networks: **equal** + equal within float32 (see [fidelity](fidelity.md)) / all of
that kind; then how many are different, refused (the runtime does not load or run them), or end the
process.

"""
INSTALLED = """
## How each is installed

<!-- table: runtimes -->
<!-- end -->

In the folder of the sources, `pip install '.[onnxruntime]'` installs neat_onnx and that runtime;
`'.[onnxruntime,tract,opencv,openvino]'` all four. The extra `runtime` is another name of
`onnxruntime`.
"""

TAIL = """
## What OpenVINO gets wrong

OpenVINO 2026.4 on a CPU computes this graph of two nodes wrongly for every batch of two or more
rows: it fuses the Add into the reduction, and then adds the constants to the wrong columns.

```
<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2, 2] x) => (float[N, 2] y)
   <float[2] bias = {0.25, 0.5}, int64[1] axes = {2}>
{
   largest = ReduceMax <keepdims = 0> (x, axes)
   y = Add (largest, bias)
}
```

The same happens with ReduceSum, ReduceMean, ReduceMin and ReduceProd, with Mul and Sub, and with an
activation in between. It is right for a batch of one, and if `largest` is an output of the graph as
well.

These ways to write it were tried, each with five reductions, eight shapes, seven continuations and
batches of 1, 2, 5 and 16 (1120 comparisons with onnxruntime):

| form | wrong |
|---|---|
| as above | 735 |
| the axis as -1 | 735 |
| the constants as [1, 2] | 735 |
| Add (bias, largest) | 735 |
| an Identity before the Add | 735 |
| axis 1 of [N, k, neurons] | 0 |
| the axis kept, then Reshape, Squeeze or Flatten | 0 |

Export keeps the axis and flattens: weights stay in the order of the genes, and onnxruntime takes
the same time (1.02 times for one sample, 1.01 times for 1024, the median of 14 networks of the
corpora). Along axis 1 ReduceSum took up to 2.4 times as long. Of 124 networks of the corpora in
float32, 8 were different in OpenVINO with the axis dropped, and none is with it kept. Files that
were written before, or by others, may still meet it: `verify` with `runtime="openvino"` says so,
and a trip through `neat-onnx import` and `neat-onnx export` writes them anew.

Weights that are whole steps of one size are written as int8. OpenVINO then rounds what they are
multiplied by to 8 bits, too, which is an error of about 1e-4: compile such a model with
`{"DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}`, as `verify` with `runtime="openvino"` does.

## What tract needs for recurrent layers

tract 0.23 makes the initial state of an LSTM, GRU or RNN for a number of samples that it knows, and
panics where the batch is open, in Python ending the process. State the shape of the input
(`set_input_fact(0, "1,4,3,f32")`), as `verify` with `runtime="tract"` does.

## What OpenCV gets wrong

OpenCV 5.0 gives ∞ for a Softplus of 89 or more in float32, because it computes the exponential
first. neat-python's softplus is limited at 60 and is right there.

## What onnxruntime-web needs in float64

onnxruntime-web 1.30 fuses x · sigmoid(a x), as in swish, into its operator QuickGelu, which it has
in float32 alone: it refuses a float64 model with one. Create the session of a float64 model with
`{ graphOptimizationLevel: "basic" }`, as `verify` with `runtime="onnxruntime-web"` does.
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


def judge(runtime: str, every: int, start: int) -> None:
    """Verify the jobs from number `start` on and print a line of JSON for each."""
    for at, job in enumerate(jobs(every)):
        if at < start:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net = job.network()
            model = neat_onnx.export(net, dtype=job.dtype, sequence=job.sequence)
        print(json.dumps({"at": at}), flush=True)
        try:
            found = compare(net, model, samples=SAMPLES, seed=0, runtime=runtime, long=False)
            line = {"verdict": found.verdict, "runtime": found.runtime}
        except neat_onnx.ModelError as error:
            line = {"verdict": "refused", "why": error.message}
        print(json.dumps({"at": at, **line}), flush=True)


def collect(runtime: str, every: int) -> dict[int, dict[str, Any]]:
    """The result of each job, by its number; the process is started again where it ends."""
    results: dict[int, dict[str, Any]] = {}
    start, last = 0, -1
    while start > last:
        command = [sys.executable, __file__, "--judge", runtime, "--every", str(every)]
        done = subprocess.run(
            [*command, "--start", str(start)], capture_output=True, text=True, check=False
        )
        if "is not installed" in done.stderr:
            raise SystemExit(done.stderr.splitlines()[-1])
        last = start
        for line in filter(lambda text: text.startswith("{"), done.stdout.splitlines()):
            found = json.loads(line)
            results[found["at"]] = found if "verdict" in found else {"verdict": "crashed"}
            start = found["at"] + 1
        if done.returncode == 0:
            break
    return results


def table(every: int) -> str:
    """The document."""
    listed = list(jobs(every))
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    versions, reasons = {}, defaultdict(Counter)
    for runtime in RUNTIMES:
        for at, found in collect(runtime, every).items():
            counts[runtime, listed[at].kind, listed[at].dtype][found["verdict"]] += 1
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
        samples=SAMPLES,
        versions=", ".join(str(version) for version in versions.values()),
    )
    return in_step(head + "\n".join(lines) + "\n" + _why(reasons) + INSTALLED + TAIL)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--judge", choices=RUNTIMES, help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.judge:
        judge(given.judge, given.every, given.start)
    else:
        DOCS.write_text(table(given.every), encoding="utf-8")


if __name__ == "__main__":
    main()
