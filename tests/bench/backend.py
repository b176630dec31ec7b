"""ONNX's own backend cases as neurons: writes docs/backend.md.

    python tests/bench/backend.py              every case that onnx's wheel holds
    python tests/bench/backend.py --every 10   each tenth, printed alone

A case is a model with inputs and the outputs that they should give. It is imported with
`batch_axis=None`; where that is refused, again with all inputs but the first as constants.
"""

import re
import resource
import signal
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import onnx
import scope
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from rows import measured

import neat_onnx

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
SUITES = ("simple", "pytorch-converted", "pytorch-operator")
SECONDS, MEMORY = 20, 4 << 30
_LONGEST = 140  # characters of a reason
SEVERAL = "several nodes"
FINE, COARSE = "finer than float32", "differs, as warned"
VERDICTS = ("equal", "refused", COARSE, FINE, "wrong", "over the guard", "crashed")
HEAD = "onnx {version}, {cases} cases, neat_onnx {own}.\n\n"


class Case(NamedTuple):
    """A model, with the inputs and outputs of its runs."""

    suite: str
    name: str
    model: onnx.ModelProto
    runs: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float

    @property
    def operator(self) -> str:
        nodes = self.model.graph.node
        return nodes[0].op_type if len(nodes) == 1 else SEVERAL


def cases() -> Iterator[Case]:
    """Every case that the wheel holds."""
    for case in collect_testcases(None):
        if case.model is not None:
            yield Case("node", case.name, case.model, case.data_sets, case.rtol, case.atol)
    for suite in SUITES:
        for folder in sorted((DATA / suite).glob("*/model.onnx")):
            model = onnx.load(folder)
            runs = [_run(data) for data in sorted(folder.parent.glob("test_data_set_*"))]
            yield Case(suite, folder.parent.name, model, runs, 1e-3, 1e-7)


def _run(folder: Path) -> tuple[list[Any], list[Any]]:
    inputs, outputs = (
        [
            numpy_helper.to_array(onnx.load_tensor(folder / f"{kind}_{number}.pb"))
            for number in range(len(list(folder.glob(f"{kind}_*.pb"))))
        ]
        for kind in ("input", "output")
    )
    return inputs, outputs


def judged(case: Case) -> tuple[str, str]:
    """The verdict, and why."""
    why = []
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        for fixed in sorted({0, max(0, len(case.model.graph.input) - 1)}):
            try:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    verdict = _compared(case, fixed)
                rounds = any("rounded to FLOAT16" in str(entry.message) for entry in told)
                verdict = COARSE if rounds and verdict != "equal" else verdict
                return verdict, ""
            except neat_onnx.NeatOnnxError as error:
                why.append(error.message)
        return "refused", why[0]
    except (TimeoutError, MemoryError) as error:
        return "over the guard", type(error).__name__
    except Exception as error:  # noqa: BLE001 - which would be a defect: it is reported
        return "crashed", f"{type(error).__name__} {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _compared(case: Case, fixed: int) -> str:
    """The verdict on the runs, with the last `fixed` inputs as constants."""
    verdict = "equal"
    for inputs, outputs in case.runs or [([], [])]:
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        entries = model.graph.input
        given = {entry.name: values for entry, values in zip(entries, inputs, strict=False)}
        for entry in list(entries)[len(entries) - fixed :]:
            if entry.name in given:  # initializers may be inputs, too
                model.graph.initializer.append(_initializer(given[entry.name], entry.name))
        del entries[len(entries) - fixed :]
        net = neat_onnx.import_model(model, batch_axis=None)
        wanted = {
            entry.name: want for entry, want in zip(model.graph.output, outputs, strict=False)
        }
        data = {port.name: _numbers(given[port.name]) for port in net.inputs}
        got = net.activate(data)
        for port in net.outputs:
            want = _numbers(wanted[port.name]).ravel()
            close = (np.reshape(got[port.name], -1), want, case.rtol)
            if np.allclose(*close, case.atol, equal_nan=True):
                continue
            noise = np.finfo(np.float32).eps * np.max(np.abs(want))
            if not np.allclose(*close, noise, equal_nan=True):
                return "wrong"
            verdict = FINE
    return verdict


def _numbers(values: Any) -> np.ndarray[Any, Any]:
    """Data of a case; that of BFLOAT16 is a TensorProto."""
    array = numpy_helper.to_array(values) if isinstance(values, onnx.TensorProto) else values
    return np.asarray(array).astype(np.float64)


def _initializer(values: Any, name: str) -> onnx.TensorProto:
    """Data of a case as a constant.

    Raises:
        ModelError: it is a sequence, or of texts.
    """
    if isinstance(values, onnx.TensorProto):
        tensor = onnx.TensorProto()
        tensor.CopyFrom(values)
        tensor.name = name
        return tensor
    array = np.asarray(values) if isinstance(values, np.ndarray | np.generic) else None
    if array is None or array.dtype.kind in "OSU":
        raise neat_onnx.ModelError(f"'{name}' is no tensor of numbers")
    return numpy_helper.from_array(array, name)


def _general(why: str) -> str:
    """A reason without the names of tensors and the measured numbers of its case."""
    why = re.sub(r"^node .*? \((\w+)\): ", r"\1: ", why)
    why = re.sub(r" at node .*? \(\w+\)", "", why)
    why = re.sub(r"(^|: |input |output )'[^']*'", r"\1'…'", why)
    why = re.sub(r"\d+\.\d+(e[+-]?\d+)?|\d{3,}", "…", why)
    return shorten(why, _LONGEST, placeholder=" …")


def report(found: list[tuple[Case, str, str]]) -> str:
    """The document's tables."""
    suites: dict[str, Counter[str]] = defaultdict(Counter)
    operators: dict[str, Counter[str]] = defaultdict(Counter)
    for case, verdict, _ in found:
        suites[case.suite][verdict] += 1
        if case.suite == "node":
            operators[case.operator][verdict] += 1
    suites["all"] = sum(suites.values(), Counter())
    whole = sorted(name for name, row in operators.items() if row["equal"] == row.total())
    none = sorted(name for name, row in operators.items() if not row["equal"])
    some = {name: operators[name] for name in sorted({*operators} - {*whole, *none})}
    return "\n".join(
        [
            _table("suite", suites),
            _in_scope(found),
            "## By operator\n\nCases of the node suite, by the operator of their only node.\n\n"
            f"All equal: {', '.join(whole)}.\n\nNone equal: {', '.join(none)}.\n",
            _table("operator", some),
        ]
    )


def _in_scope(found: list[tuple[Case, str, str]]) -> str:
    """The cases that neurons can compute, by the rule of `scope`, and each that is not equal."""
    inside = [each for each in found if scope.is_in_scope(each[0].model)]
    verdicts = Counter(verdict for _, verdict, _ in inside)
    share = verdicts["equal"] / max(1, len(inside))
    families = ", ".join(scope.FAMILIES)
    reasons: dict[str, list[str]] = defaultdict(list)
    for case, verdict, why in inside:
        if verdict != "equal":
            reason = f"{verdict}, {_general(why)}" if why else verdict
            reasons[reason].append(case.name.removeprefix("test_"))
    lines = sorted(f"- {why}: {', '.join(sorted(names))}" for why, names in reasons.items())
    return (
        f"## In scope\n\nOf these, {len(inside)} are graphs of {families} alone, on static shapes, "
        "of real numbers, integers or truth values, without chance: the rule is "
        f"`tests/bench/scope.py`. {verdicts['equal']} are equal, {share:.1%}. The others:\n\n"
        + "\n".join(lines)
        + "\n"
    )


def _table(head: str, rows: dict[str, Counter[str]]) -> str:
    used = [verdict for verdict in VERDICTS if any(row[verdict] for row in rows.values())]
    lines = [f"| {head} | cases | {' | '.join(used)} |", "|---" * (len(used) + 2) + "|"]
    for name, row in rows.items():
        cells = " | ".join(str(row[verdict]) for verdict in used)
        lines.append(f"| {name} | {row.total()} | {cells} |")
    return "\n".join(lines) + "\n"


def _end(*_: object) -> None:
    raise TimeoutError


def document(every: int) -> str:
    """The verdicts on every case of that step."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _end)
    warnings.simplefilter("ignore")
    found = []
    for number, case in enumerate(list(cases())[::every]):
        found.append((case, *judged(case)))
        if number % 100 == 0:
            print(number, case.name, file=sys.stderr, flush=True)
    head = HEAD.format(version=onnx.__version__, own=neat_onnx.__version__, cases=len(found))
    return head + report(found)


if __name__ == "__main__":
    measured("backend.md", "backend", document, __doc__)
