"""The verdict: errors between two sets of outputs, against a fixed bound and against rounding.

Errors are measured on one kind of sequences at a time, (T, N, O), so that long ones do not hide
short ones. Against rounding they are measured output by output, because a large one would hide the
others; on the first 1, 2, 4, … T steps, because a chaotic network forgets its inputs later (against
rounding in as many or twice as many, where it is larger: errors that grow are ahead of each other
by some steps, and where outputs grow too, an early error is nothing beside the later ones); and
both as the root mean square and as the median over samples, because a few samples near a pole would
hide all others.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Bools, Floats

ROUNDING_FACTOR = 4.0
"""How many times the error of rounding itself an export may be off."""

_CHAOTIC = 1e-4  # the normalised MSE of rounding from which on only medians are compared


class Errors(NamedTuple):
    """How far outputs are from the network's own.

    Attributes:
        mse, normalised_mse, max_abs, max_rel: None if a value is finite on one side only.
        not_finite: how many values are infinite or NaN on either side.
        values: how many values there are.
    """

    mse: float | None
    normalised_mse: float | None
    max_abs: float | None
    max_rel: float | None
    not_finite: int
    values: int


def measure(want: Floats, got: Floats) -> Errors:
    """Measure outputs (T, N, O) against the network's."""
    finite = np.isfinite(want) & np.isfinite(got)
    error, reference = _error(want, got), np.where(finite, want, 0.0)
    scale = max(1.0, float(np.max(np.abs(reference), initial=0.0)))  # squares would overflow
    with np.errstate(over="ignore"):
        mse = float(np.mean(error**2))
        square = float(np.mean((error / scale) ** 2))
    normalised = square / max(scale**-2, float(np.mean((reference / scale) ** 2)))
    not_finite = int(np.sum(~finite))
    if not np.all(_agreed(want, got)) or not np.isfinite(normalised):
        return Errors(None, None, None, None, not_finite, want.size)
    size = np.abs(error)
    relative = size / np.maximum(1.0, np.abs(reference))
    known = mse if np.isfinite(mse) else None
    largest, furthest = float(np.max(size)), float(np.max(relative))
    return Errors(known, normalised, largest, furthest, not_finite, want.size)


def largest(found: Iterable[Errors]) -> Errors:
    """Return the largest errors of several; None where one of them is None."""
    mse, normalised, most, furthest, not_finite, values = zip(*found, strict=True)

    def of(errors: Sequence[float | None]) -> float | None:
        known = [error for error in errors if error is not None]
        return max(known) if len(known) == len(errors) else None

    return Errors(of(mse), of(normalised), of(most), of(furthest), sum(not_finite), sum(values))


class Slack(NamedTuple):
    """How many times the bound is passed without a comparison with rounding.

    Attributes:
        whole: by all outputs together.
        alone: by each output.
    """

    whole: float = 1.0
    alone: float = ROUNDING_FACTOR**2


def within_bound(want: Floats, got: Floats, bound: float, slack: Slack) -> bool:
    """Whether outputs (T, N, O) are as good as the same, whatever rounding does to the network.

    That holds of all of them together, and of each alone and the median over its samples, because a
    few large values would hide all others.
    """
    whole = measure(want, got).normalised_mse
    if whole is None or whole > slack.whole * bound:
        return False
    errors, steps = _errors(want, got), len(want)
    square, median = _mean_square(want, errors, steps), _median(want, errors, steps)
    return bool(np.all(square <= slack.alone * bound) and np.all(median**2 <= slack.alone * bound))


class Rounding(NamedTuple):
    """A comparison with rounding.

    Attributes:
        within: every error is at most four times the error of rounding.
        normalised_mse: the error of rounding alone; None if that is not finite.
    """

    within: bool
    normalised_mse: float | None


def against_rounding(
    want: Floats, got: Floats, rounded: Iterable[Floats], bound: float
) -> Rounding:
    """Compare a model's error with the effect of rounding on the network itself.

    Args:
        want: the network's outputs (T, N, O), in float64.
        got: the model's.
        rounded: the network's own, in the model's type, in one or several orders of evaluation.
        bound: the normalised MSE that rounding is taken to make at least.
    """
    runs = list(rounded)
    whole = [found for run in runs if (found := measure(want, run).normalised_mse) is not None]
    worst = max(whole, default=None)
    if not np.all(_agreed(want, got)) or worst is None:
        return Rounding(within=False, normalised_mse=worst)
    errors, ours = _errors(want, got), [_errors(want, run) for run in runs]
    within = True
    for steps in _prefixes(len(want)):
        later = min(2 * steps, len(want))
        both = [_mean_square(want, run, part) for run in ours for part in (steps, later)]
        square = np.max(both, axis=0)
        median = np.max([_median(want, run, later) for run in ours], axis=0)
        square_limit = ROUNDING_FACTOR**2 * np.maximum(bound, square)
        median_limit = ROUNDING_FACTOR * np.maximum(bound**0.5, median)
        small = _mean_square(want, errors, steps) <= square_limit
        typical = _median(want, errors, steps) <= median_limit
        within &= bool(np.all((small | (square >= _CHAOTIC)) & typical))
    return Rounding(within, worst)


def _errors(want: Floats, got: Floats) -> Floats:
    """|got − want|; the largest number where only one of the two is finite."""
    return np.where(_agreed(want, got), np.abs(_error(want, got)), np.finfo(np.float64).max)


def _mean_square(want: Floats, errors: Floats, steps: int) -> Floats:
    """The normalised MSE of each output in the first steps, (O,)."""
    part = np.where(np.isfinite(want[:steps]), want[:steps], 0.0)
    scale = np.maximum(1.0, np.max(np.abs(part), axis=(0, 1)))  # squares would overflow
    with np.errstate(over="ignore"):
        square = np.mean((errors[:steps] / scale) ** 2, axis=(0, 1))
        least = np.maximum(scale**-2.0, np.mean((part / scale) ** 2, axis=(0, 1)))
    return np.asarray(square / least)


def _median(want: Floats, errors: Floats, steps: int) -> Floats:
    """The median over samples of each output's largest relative error in the first steps, (O,)."""
    part = np.where(np.isfinite(want[:steps]), want[:steps], 0.0)
    relative = errors[:steps] / np.maximum(1.0, np.abs(part))
    with np.errstate(over="ignore"):  # of the two in the middle, where both are the largest number
        return np.asarray(np.median(np.max(relative, axis=0), axis=0))


def _prefixes(steps: int) -> Iterator[int]:
    """1, 2, 4, … and all steps."""
    length = 1
    while length < steps:
        yield length
        length *= 2
    yield steps


def _agreed(want: Floats, got: Floats) -> Bools:
    """Where both are finite, or the same infinity, or NaN."""
    finite = np.isfinite(want) & np.isfinite(got)
    same: Bools = finite | (want == got) | (np.isnan(want) & np.isnan(got))
    return same


def _error(want: Floats, got: Floats) -> Floats:
    """got − want, zero where either is not finite."""
    finite = np.isfinite(want) & np.isfinite(got)
    return np.where(finite, got, 0.0) - np.where(finite, want, 0.0)
