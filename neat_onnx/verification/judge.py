"""The verdict: errors between two sets of outputs, against a fixed bound and against rounding.

Errors are measured on one kind of sequences at a time, (T, N, O), so that long ones do not hide
short ones. Against rounding they are measured output by output, because a large one would hide the
others; on the first 1, 2, 4, … T steps, because a chaotic network forgets its inputs later (against
rounding in as many or twice as many, where it is larger: errors that grow are ahead of each other
by some steps, and where outputs grow too, an early error is nothing beside the later ones); and
both as the root mean square and as the median over samples, because a few samples near a pole would
hide all others. Where rounding is so large that means say nothing, the share of samples counts.
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
    run, steps = _Run(want, _errors(want, got), want), len(want)
    square, median = _mean_square(run, steps), _median(run, steps)
    return bool(np.all(square <= slack.alone * bound) and np.all(median**2 <= slack.alone * bound))


class Rounding(NamedTuple):
    """A comparison with rounding.

    Attributes:
        within: every error is at most four times the error of rounding.
        normalised_mse: the error of rounding alone; None if that is not finite.
    """

    within: bool
    normalised_mse: float | None


class RoundedRuns(NamedTuple):
    """A network's outputs on some sequences, and the same in a type.

    Attributes:
        want: in float64, (T, N, O).
        runs: in the type, in one or several orders of evaluation.
    """

    want: Floats
    runs: Sequence[Floats]


def against_rounding(
    want: Floats,
    got: Floats,
    rounded: Iterable[Floats],
    bound: float,
    more: RoundedRuns | None = None,
) -> Rounding:
    """Compare a model's error with the effect of rounding on the network itself.

    Args:
        want: the network's outputs (T, N, O), in float64.
        got: the model's.
        rounded: the network's own, in the model's type, in one or several orders of evaluation.
        bound: the normalised MSE that rounding is taken to make at least.
        more: the effect of rounding on other sequences of as many steps, where N is small: a value
            that few samples round to another step would be seen by chance, and of thousands of
            outputs some are near 0 in each large one of few samples, whose rounding is large.
    """
    runs = list(rounded)
    whole = [found for run in runs if (found := measure(want, run).normalised_mse) is not None]
    worst = max(whole, default=None)
    if not np.all(_agreed(want, got)) or worst is None:
        return Rounding(within=False, normalised_mse=worst)
    size = more.want if more else want
    model, *ours = [_Run(want, _errors(want, each), size) for each in (got, *runs)]
    others = [_Run(size, _errors(size, run), size) for run in more.runs] if more else []
    within = all(
        _is_as_rounded(model, ours, others, bound, steps) for steps in _prefixes(len(want))
    )
    return Rounding(within, worst)


class _Run(NamedTuple):
    """The network's outputs (T, N, O), the errors of others, and outputs (T, N', O) that say how
    large each is, of as many or more samples.
    """

    want: Floats
    errors: Floats
    size: Floats


class _Size(NamedTuple):
    """Errors of outputs, (O,): the normalised MSE of each, the median over samples, and the share
    of samples that are further off than is always allowed.
    """

    square: Floats
    median: Floats
    share: Floats


def _is_as_rounded(
    model: _Run, ours: Sequence[_Run], others: Sequence[_Run], bound: float, steps: int
) -> bool:
    """Whether a model is off by no more than rounding makes, in the first steps.

    Rounding may move a value to another step in one sample of thousands, so that of thousands of
    outputs some are beyond the limit by chance. How many, how far, and in how many samples, is seen
    in each run of the network itself beside the others: a model may have four times of each.
    """
    later = min(2 * steps, len(model.want))
    known = [_largest(run, (steps, later), later, bound) for run in (*ours, *others)]
    found = _beyond(model, known, bound, steps)
    if not found.outputs or len(known) < 2:
        return not found.outputs
    by_chance = [
        _beyond(run, known[:place] + known[place + 1 :], bound, steps)
        for place, run in enumerate(ours)
    ]
    limits = (ROUNDING_FACTOR * max(each) for each in zip(*by_chance, strict=True))
    return all(number <= limit for number, limit in zip(found, limits, strict=True))


class _Beyond(NamedTuple):
    """Outputs beyond the limit: how many, the largest normalised MSE, and the most samples."""

    outputs: float
    square: float
    samples: float


def _beyond(run: _Run, known: Sequence[_Size], bound: float, steps: int) -> _Beyond:
    """The outputs that are further off than rounding makes them in several runs."""
    square = np.max([each.square for each in known], axis=0)
    median = np.max([each.median for each in known], axis=0)
    share = np.max([each.share for each in known], axis=0)
    size, limit = _size(run, steps, bound), ROUNDING_FACTOR * np.maximum(bound**0.5, median)
    small = size.square <= ROUNDING_FACTOR**2 * np.maximum(bound, square)
    chaotic = (square >= _CHAOTIC) & (size.share <= ROUNDING_FACTOR * share)
    outside = ~((small | chaotic) & (size.median <= limit))
    if not np.any(outside):
        return _Beyond(0, 0.0, 0)
    far = np.max(_relative(run, steps), axis=0) > limit
    most = int(np.max(np.count_nonzero(far, axis=0)[outside]))
    return _Beyond(int(np.count_nonzero(outside)), float(np.max(size.square[outside])), most)


def _size(run: _Run, steps: int, bound: float) -> _Size:
    return _Size(_mean_square(run, steps), _median(run, steps), _share(run, steps, bound))


def _largest(run: _Run, parts: Iterable[int], later: int, bound: float) -> _Size:
    squares = [_mean_square(run, part) for part in parts]
    return _Size(np.max(squares, axis=0), _median(run, later), _share(run, later, bound))


def _share(run: _Run, steps: int, bound: float) -> Floats:
    """The share of samples in which an output is further off than is always allowed, (O,)."""
    far = np.max(_relative(run, steps), axis=0) > ROUNDING_FACTOR * bound**0.5
    return np.asarray(np.mean(far, axis=0))


def _errors(want: Floats, got: Floats) -> Floats:
    """|got − want|; the largest number where only one of the two is finite."""
    return np.where(_agreed(want, got), np.abs(_error(want, got)), np.finfo(np.float64).max)


def _mean_square(run: _Run, steps: int) -> Floats:
    """The normalised MSE of each output in the first steps, (O,)."""
    parts = [
        np.where(np.isfinite(each), each, 0.0) for each in (run.want[:steps], run.size[:steps])
    ]
    largest = [np.max(np.abs(part), axis=(0, 1)) for part in parts]
    scale = np.maximum(1.0, np.maximum(*largest))  # squares would overflow
    with np.errstate(over="ignore"):
        square = np.mean((run.errors[:steps] / scale) ** 2, axis=(0, 1))
        sizes = [np.mean((part / scale) ** 2, axis=(0, 1)) for part in parts]
        least = np.maximum(scale**-2.0, np.maximum(*sizes))
    return np.asarray(square / least)


def _median(run: _Run, steps: int) -> Floats:
    """The median over samples of each output's largest relative error in the first steps, (O,)."""
    relative = _relative(run, steps)
    with np.errstate(over="ignore"):  # of the two in the middle, where both are the largest number
        return np.asarray(np.median(np.max(relative, axis=0), axis=0))


def _relative(run: _Run, steps: int) -> Floats:
    """The relative errors in the first steps, (steps, N, O)."""
    part = np.where(np.isfinite(run.want[:steps]), run.want[:steps], 0.0)
    return np.asarray(run.errors[:steps] / np.maximum(1.0, np.abs(part)))


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
