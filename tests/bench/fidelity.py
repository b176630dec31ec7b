"""How exact the engine is on the corpora, as the table of the README.

    python tests/bench/fidelity.py

Every case of independent samples is read, run and exported; onnxruntime computes the model, and
everything is compared with what the library that wrote the network computed itself. Errors are
relative to max(1, |value|).
"""

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from cases import Case, cases

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
}


class Measured(NamedTuple):
    """Largest errors, and as shares of what rounding may do (the corpora's tolerance)."""

    own: float
    double: float
    single: float
    double_share: float
    single_share: float
    same_genome: bool


def main() -> None:
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    print(
        "| networks | cases | `Network.activate` | onnxruntime float64 | onnxruntime float32 "
        "| JSON and back |\n|---|---|---|---|---|---|"
    )
    for title, group in GROUPS.items():
        found = [measured(case) for case in cases(group, sequence=False)]
        worst = Measured(*(max(column) for column in zip(*found, strict=True)))
        same = sum(each.same_genome for each in found)
        double = _told(worst.double, worst.double_share)
        single = _told(worst.single, worst.single_share)
        print(
            f"| {title} | {len(found)} | {worst.own:.1e} | {double} | {single} "
            f"| {same} of {len(found)} equal |"
        )


def measured(case: Case) -> Measured:
    net = case.network()
    want = case.outputs
    double = computed(net, case, "float64")
    single = computed(net, case, "float32")
    model = neat_onnx.load_model(neat_onnx.export(net).to_json())
    return Measured(
        own=_error(net.activate(case.inputs), want, 1.0),
        double=_error(double, want, 1.0),
        single=_error(single, want, 1.0),
        double_share=_error(double, want, case.tolerance64),
        single_share=_error(single, want, case.tolerance32),
        same_genome=neat_onnx.import_model(model) == net,
    )


def computed(net: neat_onnx.Network, case: Case, dtype: Any) -> Any:
    model = neat_onnx.export(net, dtype=dtype)
    session = onnxruntime.InferenceSession(model.to_bytes(), providers=["CPUExecutionProvider"])
    feed = {
        given.name: np.zeros((len(case.inputs), *given.shape[1:]), dtype)  # a state starts at 0
        for given in session.get_inputs()
    }
    feed["input"] = case.inputs.astype(dtype)
    (output,) = session.run(["output"], feed)
    return np.asarray(output, np.float64)


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
    main()
