"""How exact the engine is on the corpora: writes the table of docs/fidelity.md.

    python tests/bench/fidelity.py             every network
    python tests/bench/fidelity.py --every 9   each ninth of a kind, printed alone

Every case is read, run and exported; onnxruntime computes the model, and everything is compared
with what the library that wrote the network computed itself. Networks with memory are played as
single steps and as one Scan, the worse of the two counts. Errors are relative to max(1, |value|).
"""

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "libraries" / "neat_python"))

import timed
from rows import measured
from support.examples.cases import Case, cases
from support.harness.playing import played, sequences

import neat_onnx

GROUPS = {
    "NeatapticTS layered": "nts-net-mlp",
    "NeatapticTS evolved": "nts-net-dag",
    "NeatapticTS, each activation": "nts-net-atom",
    "NeatapticTS disabled genes": "nts-net-disabled",
    "NeatapticTS edge cases": "nts-net-edge",
    "neataptic": "nap-net",
    "neat-python feed-forward": "np-ff",
    "neat-python, each activation and aggregation": "np-atom",
    "NeatapticTS self-loops, backward connections": "nts-net-loop nts-net-back",
    "NeatapticTS gates": "nts-net-gate",
    "NeatapticTS LSTM and GRU": "nts-net-lstm nts-net-gru",
    "neataptic with memory": "nap-net",
    "neat-python recurrent": "np-rec",
    "neat-python ctrnn, both integrators": "np-ctrnn",
    "neat-python iznn": "np-iznn",
}
WITH_MEMORY = 8  # from here on


class Measured(NamedTuple):
    """Largest errors, and as shares of what rounding may do (the corpora's tolerance)."""

    own: float
    double: float
    single: float
    double_share: float
    single_share: float
    same_genome: bool


def table(every: int) -> str:
    """The errors of each kind of network."""
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    lines = [
        "| networks | cases | `Network.run` | onnxruntime float64 | onnxruntime float32 "
        "| JSON and back |",
        "|---|---|---|---|---|---|",
    ]
    for number, (title, groups) in enumerate(GROUPS.items()):
        chosen = cases(*groups.split(), sequence=None if number >= WITH_MEMORY else False)
        if title == "neataptic with memory":
            chosen = [case for case in chosen if case.sequence]
        found = [errors_of(case) for case in chosen[::every]]
        worst = Measured(*(max(column) for column in zip(*found, strict=True)))
        same = sum(each.same_genome for each in found)
        double = _told(worst.double, worst.double_share)
        single = _told(worst.single, worst.single_share)
        lines.append(
            f"| {title} | {len(found)} | {worst.own:.1e} | {double} | {single} "
            f"| {same} of {len(found)} equal |"
        )
    return "\n".join(lines) + "\n"


def errors_of(case: Case) -> Measured:
    net = timed.read(case) if "advance" in case.document else case.network()
    x, want, tolerance32, tolerance64 = sequences(case)
    double = computed(net, x, want, "float64")
    single = computed(net, x, want, "float32")
    model = neat_onnx.load_model(neat_onnx.export(net).to_json())
    return Measured(
        own=_error(net.run(x), want, 1.0),
        double=_error(double, want, 1.0),
        single=_error(single, want, 1.0),
        double_share=_error(double, want, tolerance64),
        single_share=_error(single, want, tolerance32),
        same_genome=neat_onnx.import_model(model) == net,
    )


def computed(net: neat_onnx.Network, x: Any, want: Any, dtype: Any) -> Any:
    """What onnxruntime gives: of a step and of a Scan, whichever is farther off."""
    forms = [{}, {"sequence": True}] if net.has_memory else [{}]
    results = [played(neat_onnx.export(net, dtype=dtype, **form), x) for form in forms]
    return max(results, key=lambda got: _error(got, want, 1.0))


def _error(got: Any, want: Any, tolerance: Any) -> float:
    """The largest error, relative to max(1, |want|) or, if it is an array, to the tolerance."""
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return float("inf")
    scale = np.maximum(1.0, np.abs(want)) if np.isscalar(tolerance) else tolerance
    error = np.abs(got - np.where(finite, want, 0.0)) / scale
    return float(np.max(error[finite], initial=0.0))


def _told(error: float, share: float) -> str:
    return f"{error:.1e}" + ("" if share <= 1.0 else f" (**{share:.1f} × the tolerance**)")


if __name__ == "__main__":
    measured("fidelity.md", "fidelity", table, __doc__)
