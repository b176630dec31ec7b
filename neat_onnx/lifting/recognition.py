"""The name of an activation that a formula is."""

from collections.abc import Iterable

import numpy as np

from neat_onnx.network.activations import ACTIVATIONS, FORMULA, activation_named
from neat_onnx.network.expression import Expression, scalar_slope
from neat_onnx.network.runtime_formulas import writings

_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class _Names:
    """The activations that are registered, by each formula that is written for them."""

    def __init__(self, entries: tuple[object, ...]) -> None:
        self.entries = entries
        self.found: dict[Expression, tuple[str, float] | None] = {}
        self.whole: dict[Expression, tuple[str, float]] = {}
        self.folded: dict[Expression, tuple[str, float]] = {}
        for each in ACTIVATIONS.values():
            slope, core = scalar_slope(each.expression)
            for written in _rounded(each.expression):
                self.whole.setdefault(written, (each.name, 1.0))
            for written in _rounded(core):
                self.folded.setdefault(written, (each.name, slope))

    def of(self, formula: Expression) -> tuple[str, float] | None:
        if formula not in self.found:
            self.found[formula] = self._search(formula)
        return self.found[formula]

    def _search(self, formula: Expression) -> tuple[str, float] | None:
        rounded = formula.single
        known = self.whole.get(formula) or self.whole.get(rounded)
        if known is not None:
            return known
        factors, exact = formula.stripped
        _, core = scalar_slope(rounded)
        if len(factors) != 1:
            return None
        slope = factors[0]
        named = self.folded.get(core) or self.folded.get(exact)
        if named is None or not slope:
            return None
        name, steeper = named
        return name, steeper / slope


def _rounded(formula: Expression) -> Iterable[Expression]:
    for dtype in _TYPES:
        for written in writings(formula, dtype):
            yield written
            yield written.single


_names: list[_Names] = []


def known_activation(formula: Expression) -> tuple[str, float] | None:
    """(name, c) such that `formula` of z is that activation of z / c; None if it has no name.

    Names are found by constants as float32 has them; the slope is that of the formula itself.
    """
    entries = tuple(map(id, ACTIVATIONS.values()))
    if not _names or _names[0].entries != entries:
        _names[:] = [_Names(entries)]
    return _names[0].of(formula)


def has_name(formula: Expression) -> bool:
    """Whether people call the formula by a name, which is not that it is its variable."""
    known = known_activation(formula)
    return known is not None and known[0] != "identity"


def activation_name(formula: Expression) -> tuple[str, float]:
    """Return (name, c) as `known_activation` does; a formula without a name is its own text.

    Raises:
        NetworkError: it is too large to be carried as text.
    """
    known = known_activation(formula)
    if known is not None:
        return known
    name = f"{FORMULA}{formula}"
    activation_named(name)
    return name, 1.0
