"""Where formulas are finite, and which sign they have: probed for moderate numbers of a sign."""

from functools import lru_cache

import numpy as np

from neat_onnx.network.expression import Expression

ANY, NOT_NEGATIVE, POSITIVE = range(3)
_NUMBERS = {
    ANY: np.linspace(-50.0, 50.0, 401),
    NOT_NEGATIVE: np.linspace(0.0, 50.0, 201),
    POSITIVE: np.logspace(-12.0, 1.5, 201),
}


@lru_cache(maxsize=512)
def stays_finite(formula: Expression, sign: int) -> bool:
    """Whether a formula is finite for all moderate numbers of a sign."""
    return bool(np.all(np.isfinite(formula.evaluate(_NUMBERS[sign]))))


@lru_cache(maxsize=512)
def sign_of(formula: Expression, sign: int) -> int:
    """The sign that a formula has for all moderate numbers of a sign."""
    found = np.asarray(formula.evaluate(_NUMBERS[sign]), np.float64)
    if np.all(found > 0.0):
        return POSITIVE
    return NOT_NEGATIVE if np.all(found >= 0.0) else ANY
