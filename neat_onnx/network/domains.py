"""Where formulas are finite, and which sign they have: probed for moderate numbers of a sign.

Where they overflow in float32 is probed for larger ones.
"""

from functools import lru_cache

import numpy as np

from neat_onnx.network.expression import Expression

ANY, NOT_NEGATIVE, POSITIVE = range(3)
_NUMBERS = {
    ANY: np.linspace(-50.0, 50.0, 401),
    NOT_NEGATIVE: np.linspace(0.0, 50.0, 201),
    POSITIVE: np.logspace(-12.0, 1.5, 201),
}
_LARGER = {
    ANY: np.linspace(-1000.0, 1000.0, 401),
    NOT_NEGATIVE: np.linspace(0.0, 1000.0, 201),
    POSITIVE: np.logspace(-12.0, 3.0, 201),
}
_MAX_FINITE = np.finfo(np.float32).max
_MAX_SAFE_EXPONENT = 50.0  # its exponential is far from the largest


@lru_cache(maxsize=512)
def stays_finite(formula: Expression, sign: int) -> bool:
    """Whether a formula is finite for all moderate numbers of a sign."""
    return bool(np.all(np.isfinite(formula.evaluate(_NUMBERS[sign]))))


@lru_cache(maxsize=512)
def hides_infinities(formula: Expression, _: int = ANY) -> bool:
    """Whether a formula of infinities and NaN is finite, as a comparison is."""
    return bool(np.all(np.isfinite(formula.evaluate(np.array([-np.inf, np.inf, np.nan])))))


@lru_cache(maxsize=512)
def may_overflow(formula: Expression, sign: int) -> bool:
    """Whether a formula of numbers of a sign exceeds float32 before they do, as exp does."""
    return not bool(np.all(np.abs(formula.evaluate(_LARGER[sign])) <= _MAX_FINITE))


@lru_cache(maxsize=512)
def vanishes(formula: Expression, sign: int) -> bool:
    """Whether a formula is above 0 for moderate numbers of a sign, and 0 for larger ones."""
    larger = np.asarray(formula.evaluate(_LARGER[sign]), np.float32)
    return sign_of(formula, sign) == POSITIVE and not bool(np.all(larger))


@lru_cache(maxsize=512)
def is_zero_at_zero(formula: Expression, _: int) -> bool:
    """Whether a formula hands on a 0."""
    return bool(formula.evaluate(np.zeros(1))[0] == 0.0)


@lru_cache(maxsize=512)
def stays_finite_at_zero(formula: Expression, _: int) -> bool:
    """Whether a formula of 0 is finite."""
    return bool(np.isfinite(formula.evaluate(np.zeros(1))[0]))


@lru_cache(maxsize=512)
def has_small_values(formula: Expression, sign: int) -> bool:
    """Whether all values that a formula has for numbers of a sign are small."""
    return bool(np.all(np.abs(formula.evaluate(_LARGER[sign])) <= _MAX_SAFE_EXPONENT))


@lru_cache(maxsize=512)
def sign_of(formula: Expression, sign: int) -> int:
    """The sign that a formula has for all moderate numbers of a sign."""
    found = np.asarray(formula.evaluate(_NUMBERS[sign]), np.float64)
    if np.all(found > 0.0):
        return POSITIVE
    return NOT_NEGATIVE if np.all(found >= 0.0) else ANY
