"""The verdict: errors between two sets of outputs, against a fixed bound and against rounding.

Errors are measured on one kind of sequences at a time, (T, N, O), so that long ones do not hide
short ones. Against rounding they are measured output by output, because a large one would hide the
others; on the first 1, 2, 4, … T steps, because a chaotic network forgets its inputs later (against
rounding in as many or twice as many, where it is larger: errors that grow are ahead of each other
by some steps, and where outputs grow too, an early error is nothing beside the later ones); and
both as the root mean square and as the median over samples, because a few samples near a pole would
hide all others. Where rounding is so large that means say nothing, the share of samples counts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Bools, Floats

ROUNDING_FACTOR = 4.0
"""How many times the error of rounding itself an export may be off."""

_CHAOTIC = 1e-4  # the normalised MSE of rounding from which on only medians are compared


class Errors(NamedTuple):
    """How far outputs are from the network's own.

    Attributes:
        mse, normalised_mse, max_abs_error, max_rel_error: None if a value is finite on one side
            only.
        not_finite: how many values are infinite or NaN on either side.
        values: how many values there are.
    """

    mse: float | None
    normalised_mse: float | None
    max_abs_error: float | None
    max_rel_error: float | None
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


def within_bound(want: Floats, got: Floats, bound: float) -> bool:
    """Whether outputs (T, N, O) are as good as the same, whatever rounding does to the network.

    That holds of all of them together, and of each alone and the median over its samples, because a
    few large values would hide all others.
    """
    whole = measure(want, got).normalised_mse
    if whole is None or whole > bound:
        return False
    square, median, _ = _Run(want, _errors(want, got), want).sizes(bound, len(want))
    return bool(np.all(np.maximum(square, median**2) <= ROUNDING_FACTOR**2 * bound))


class Rounding(NamedTuple):
    """A comparison with rounding.

    Attributes:
        within: every error is at most four times the error of rounding.
        normalised_mse: the error of rounding alone; None if that is not finite.
    """

    within: bool
    normalised_mse: float | None


def against_rounding(
    want: Floats,
    got: Floats,
    rounded: Iterable[Floats],
    bound: float,
    more: tuple[Floats, Sequence[Floats]] | None = None,
) -> Rounding:
    """Compare a model's error with the effect of rounding on the network itself.

    Args:
        want: the network's outputs (T, N, O), in float64.
        got: the model's.
        rounded: the network's own, in the model's type, in one or several orders of evaluation.
        bound: the normalised MSE that rounding is taken to make at least.
        more: outputs and rounded ones of other sequences of as many steps, where N is small: a
            value that few samples round to another step would be seen by chance, and of thousands
            of outputs some are near 0 in each large one of few samples, whose rounding is large.
    """
    runs = list(rounded)
    whole = [found for run in runs if (found := measure(want, run).normalised_mse) is not None]
    worst = max(whole, default=None)
    if not np.all(_agreed(want, got)) or worst is None:
        return Rounding(within=False, normalised_mse=worst)
    size, more_runs = more or (want, ())
    model, *ours = [_Run(want, _errors(want, each), size) for each in (got, *runs)]
    others = [_Run(size, _errors(size, run), size) for run in more_runs]
    lengths = [*(1 << k for k in range((len(want) - 1).bit_length())), len(want)]
    within = all(_is_as_rounded(model, ours, others, bound, steps) for steps in lengths)
    return Rounding(within, worst)


class _Run(NamedTuple):
    """The network's outputs (T, N, O), the errors of others, and outputs (T, N', O) that say how
    large each is, of as many or more samples.
    """

    want: Floats
    errors: Floats
    size: Floats

    def sizes(self, bound: float, *lengths: int) -> Floats:
        """Return how large the errors of each output are in the first steps, (3, O).

        The normalised MSE, the largest of these lengths; and in the last of them, the median over
        samples of the largest relative error, and the share of samples that are further off than is
        always allowed.
        """
        far = np.max(self.relative(lengths[-1]), axis=0)
        with np.errstate(over="ignore"):  # of the two in the middle, both the largest number
            median = np.median(far, axis=0)
        share = np.mean(far > ROUNDING_FACTOR * bound**0.5, axis=0)
        square = np.max([self._mean_square(steps) for steps in lengths], axis=0)
        return np.stack([square, median, share])

    def relative(self, steps: int) -> Floats:
        """Return the relative errors in the first steps, (steps, N, O)."""
        return np.asarray(self.errors[:steps] / np.maximum(1.0, np.abs(_finite(self.want[:steps]))))

    def _mean_square(self, steps: int) -> Floats:
        """The normalised MSE of each output in the first steps, (O,)."""
        parts = [_finite(each[:steps]) for each in (self.want, self.size)]
        largest = [np.max(np.abs(part), axis=(0, 1)) for part in parts]
        scale = np.maximum(1.0, np.maximum(*largest))  # squares would overflow
        with np.errstate(over="ignore"):
            square = np.mean((self.errors[:steps] / scale) ** 2, axis=(0, 1))
            sizes = [np.mean((part / scale) ** 2, axis=(0, 1)) for part in parts]
            least = np.maximum(scale**-2.0, np.maximum(*sizes))
        return np.asarray(square / least)


def _is_as_rounded(
    model: _Run, ours: Sequence[_Run], others: Sequence[_Run], bound: float, steps: int
) -> bool:
    """Whether a model is off by no more than rounding makes, in the first steps.

    Rounding may move a value to another step in one sample of thousands, so that of thousands of
    outputs some are beyond the limit by chance. How many, how far, and in how many samples, is seen
    in each run of the network itself beside the others: a model may have four times of each.
    """
    later = min(2 * steps, len(model.want))
    known = [run.sizes(bound, steps, later) for run in (*ours, *others)]
    found = _beyond(model, known, bound, steps)
    if not found[0] or len(known) < 2:
        return not found[0]
    by_chance = [
        _beyond(run, known[:place] + known[place + 1 :], bound, steps)
        for place, run in enumerate(ours)
    ]
    return bool(np.all(np.array(found) <= ROUNDING_FACTOR * np.max(by_chance, axis=0)))


def _beyond(run: _Run, known: Sequence[Floats], bound: float, steps: int) -> tuple[int, float, int]:
    """Return how many outputs are further off than rounding makes them in several runs, the largest
    normalised MSE of these, and the most samples.
    """
    square, median, share = np.max(known, axis=0)
    squares, medians, shares = run.sizes(bound, steps)
    limit = ROUNDING_FACTOR * np.maximum(bound**0.5, median)
    small = squares <= ROUNDING_FACTOR**2 * np.maximum(bound, square)
    chaotic = (square >= _CHAOTIC) & (shares <= ROUNDING_FACTOR * share)
    outside = ~((small | chaotic) & (medians <= limit))
    if not np.any(outside):
        return 0, 0.0, 0
    samples = np.count_nonzero(np.max(run.relative(steps), axis=0) > limit, axis=0)
    many = int(np.count_nonzero(outside))
    return many, float(squares[outside].max()), int(samples[outside].max())


def _errors(want: Floats, got: Floats) -> Floats:
    """|got − want|; the largest number where only one of the two is finite."""
    return np.where(_agreed(want, got), np.abs(_error(want, got)), np.finfo(np.float64).max)


def _agreed(want: Floats, got: Floats) -> Bools:
    """Where both are finite, or the same infinity, or NaN."""
    finite = np.isfinite(want) & np.isfinite(got)
    same: Bools = finite | (want == got) | (np.isnan(want) & np.isnan(got))
    return same


def _error(want: Floats, got: Floats) -> Floats:
    """got − want, zero where either is not finite."""
    return np.where(np.isfinite(want) & np.isfinite(got), _finite(got) - _finite(want), 0.0)


def _finite(values: Floats) -> Floats:
    """The values, zero where they are not finite."""
    return np.where(np.isfinite(values), values, 0.0)
