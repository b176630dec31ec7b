"""The name of an activation that a formula is."""

from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np

from neat_onnx.network.activations import ACTIVATIONS, FORMULA, activation_named
from neat_onnx.network.bounds import Line, without_lines
from neat_onnx.network.expression import Expression, scalar_slope
from neat_onnx.network.runtime_formulas import writings

_Named = dict[Expression, tuple[str, float]]
_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class _Names:
    """The activations that are registered: those of the package by their own formulas at once, and
    the first of those alike, so that its files are read the same whatever a user registers.
    """

    def __init__(self) -> None:
        self.found: dict[Expression, tuple[str, float] | None] = {
            each.expression: (each.name, 1.0) for each in ACTIVATIONS.values() if each.builtin
        }

    @cached_property
    def _written(self) -> tuple[_Named, _Named]:
        """The same by each formula that is written for them, and for their formulas of z alone."""
        whole: _Named = {}
        folded: _Named = {}
        for each in ACTIVATIONS.values():
            slope, core = scalar_slope(each.expression)
            for written in _rounded(each.expression):
                whole.setdefault(written, (each.name, 1.0))
            for written in _rounded(core):
                folded.setdefault(written, (each.name, slope))
        return whole, folded

    def of(self, formula: Expression) -> tuple[str, float] | None:
        if formula not in self.found:
            self.found[formula] = self._search(formula)
        return self.found[formula]

    def _search(self, formula: Expression) -> tuple[str, float] | None:
        rounded, (whole, folded) = formula.single, self._written
        known = whole.get(formula) or whole.get(rounded)
        if known is not None:
            return known
        factors, exact = formula.stripped
        _, core = scalar_slope(rounded)
        if len(factors) != 1:
            return None
        slope = factors[0]
        named = folded.get(core) or folded.get(exact)
        if named is None or not slope:
            return None
        name, steeper = named
        return name, steeper / slope


def _rounded(formula: Expression) -> Iterable[Expression]:
    for dtype in _TYPES:
        for written in writings(formula, dtype):
            yield written
            yield written.single


@lru_cache(maxsize=1)
def _names(identities: tuple[int, ...]) -> _Names:
    """The names of the activations of these identities, which are those that are registered."""
    return _Names()


def known_activation(formula: Expression) -> tuple[str, float] | None:
    """(name, c) such that `formula` of z is that activation of z / c; None if it has no name.

    Names are found by constants as float32 has them; the slope is that of the formula itself.
    """
    return _names(tuple(map(id, ACTIVATIONS.values()))).of(formula)


def has_name(formula: Expression) -> bool:
    """Whether people call the formula by a name, which is not that it is its variable."""
    known = known_activation(formula)
    return known is not None and known[0] != "identity"


def activation_name(formula: Expression, *, shifted: bool = True) -> tuple[str, float, float]:
    """Return (name, c, b) such that `formula` of z is that activation of z / c + b.

    A formula without a name is its own text.

    Args:
        formula: the formula.
        shifted: b may be other than 0.

    Raises:
        NetworkError: it is too large to be carried as text.
    """
    known = known_activation(formula)
    if known is not None:
        return *known, 0.0
    slope, shift, core = _line(formula) if shifted else (1.0, 0.0, formula)
    known = known_activation(core)
    if known is not None:
        name, divisor = known
        return name, divisor / slope, shift / divisor
    name = f"{FORMULA}{core}"
    activation_named(name)
    return name, 1.0 / slope, shift


_STEPS = {
    "sign", "floor", "ceil", "round", "mod", "greater", "greater_or_equal", "less",
    "less_or_equal", "equal",
}  # fmt: skip


@lru_cache(maxsize=1024)
def has_steps(formula: Expression) -> bool:
    """Whether a formula may jump where its variable changes a little."""
    return formula.op in _STEPS or any(map(has_steps, formula.args))


def _line(formula: Expression) -> tuple[float, float, Expression]:
    """(a, b, f) such that a formula is f of a · z + b; (1, 0, formula) where b would be 0, or where
    rounding may show.
    """
    lines: dict[Line, None] = {}
    core = without_lines(formula, lines)
    slope, shift = next(iter(lines), (1.0, 0.0))
    whole = shift and len(lines) == 1 and not has_steps(formula)
    return (slope, shift, core) if whole else (1.0, 0.0, formula)
