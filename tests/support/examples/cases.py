"""The corpora: what the peers' own code wrote and computed (see tests/corpora/README.md)."""

import json
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.errors import NeatOnnxWarning
from neat_onnx.libraries import load_network
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

CORPORA = Path(__file__).parents[2] / "corpora"
BAD = CORPORA / "bad"


@dataclass(frozen=True, eq=False)
class Case:
    """One network or model, and what the peer computed with it.

    Attributes:
        name, group, kind: `nts-net-dag-01`, `nts-net-dag`, `network-json` or `onnx-json`.
        source: the document.
        sequence: the rows are consecutive steps, not independent samples.
        inputs, outputs: (rows, I) and (rows, O). An output that is no finite number, which JSON of
            JavaScript writes as null, is NaN or an infinity here.
        sens32, sens64: (rows, 1), zeros where the corpus does not say.
        document: the whole file.
    """

    name: str
    group: str
    kind: str
    source: dict[str, Any]
    sequence: bool
    inputs: Floats
    outputs: Floats
    sens32: Floats
    sens64: Floats
    document: dict[str, Any]

    @property
    def tolerance64(self) -> Floats:
        """How far a float64 path may be off, (rows, O)."""
        return 1e-12 * _magnitude(self.outputs) + 8.0 * self.sens64

    @property
    def tolerance32(self) -> Floats:
        """How far a float32 runtime may be off, (rows, O)."""
        return 2e-6 * _magnitude(self.outputs) + 8.0 * self.sens32

    @cache  # noqa: B019 (cases live as long as the tests)
    def network(self) -> Network:
        """`source` read once, whatever there is to know about it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeatOnnxWarning)
            return load_network(self.source)


def case(name: str) -> Case:
    """The case of that name."""
    return _load(CORPORA / f"{name}.json")


def cases(*groups: str, sequence: bool | None = None) -> list[Case]:
    """All cases whose group is, or starts with, one of `groups`; of one kind of rows if given.

    Raises:
        LookupError: a group has no case: a test over nothing would pass.
    """
    found = []
    for group in groups:
        paths = sorted(CORPORA.glob(f"{group}-*.json"))
        if not paths:
            raise LookupError(f"no case of the group {group}")
        found += [_load(path) for path in paths]
    return [case for case in found if sequence is None or case.sequence == sequence]


def bad_files(*formats: str) -> list[tuple[Path, dict[str, Any]]]:
    """The bad files of these formats with their entries in the index."""
    index = json.loads((BAD / "INDEX.json").read_text(encoding="utf-8"))
    return [(BAD / name, entry) for name, entry in index.items() if entry["format"] in formats]


def assert_within(got: Floats, want: Floats, tolerance: Floats) -> None:
    """Assert that `got` is `want` within `tolerance`, and as infinite or undefined where it is."""
    assert got.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    error = np.abs(got[finite] - want[finite]) / np.broadcast_to(tolerance, want.shape)[finite]
    worst = float(np.max(error, initial=0.0))
    assert worst <= 1.0, f"off by {worst:.3g} times the tolerance"


def _magnitude(values: Floats) -> Floats:
    return np.maximum(1.0, np.abs(np.where(np.isfinite(values), values, 0.0)))


@cache
def _load(path: Path) -> Case:
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = len(document["inputs"])
    return Case(
        name=document["case"],
        group=document["group"],
        kind=document["kind"],
        source=document["source"],
        sequence=document["sequence"],
        inputs=_numbers(document["inputs"]),
        outputs=_numbers(document["outputs"]),
        sens32=_numbers(document.get("sens32") or [0.0] * rows).reshape(-1, 1),
        sens64=_numbers(document.get("sens64") or [0.0] * rows).reshape(-1, 1),
        document=document,
    )


def _numbers(values: Any) -> Floats:
    """Nested lists as float64: null is NaN, and strings such as "-Infinity" what they say."""
    if isinstance(values, list):
        return np.array([_numbers(value) for value in values], np.float64)
    return np.float64("nan" if values is None else values)  # type: ignore[return-value]
