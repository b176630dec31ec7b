"""Errors held against those of rounding, on made-up outputs."""

import numpy as np
import pytest

from neat_onnx.network.genes import Floats
from neat_onnx.verification.judge import against_rounding

BOUND, SAMPLES = 1e-12, 400


def _with_errors(want: Floats, share: float, size: float, seed: int) -> Floats:
    """The outputs with errors of a size in a share of the samples."""
    rng = np.random.default_rng(seed)
    chosen = rng.random(want.shape) < share
    return want + np.where(chosen, size * rng.choice([-1.0, 1.0], want.shape), 0.0)


@pytest.mark.parametrize(
    ("rounded", "model", "within"),
    [
        ((0.2, 0.3), (0.2, 5.0), True),  # another attractor is as far away as it happens to be
        ((0.2, 0.3), (0.9, 5.0), False),  # but not in most samples
        ((0.2, 1e-3), (0.2, 2e-2), False),  # rounding that is no more than that leaves no room
        ((0.2, 1e-3), (0.2, 2e-3), True),
    ],
    ids=["few far off", "most far off", "not chaotic", "as rounded"],
)
def test_where_rounding_leads_elsewhere_the_share_of_samples_counts(
    rounded: tuple[float, float], model: tuple[float, float], *, within: bool
):
    want = np.random.default_rng(0).normal(size=(1, SAMPLES, 1))
    runs = [_with_errors(want, *rounded, seed=seed) for seed in (1, 2, 3)]
    got = _with_errors(want, *model, seed=4)
    assert against_rounding(want, got, runs, BOUND).within is within


def test_outputs_that_grow_do_not_hide_the_rounding_of_the_steps_before():
    """The error of the first step counts for the first step, however large the second is."""
    want = np.stack([np.ones((4, 1)), np.full((4, 1), 1e9)])
    rounded = want + np.array([1e-7, 0.0])[:, None, None]
    assert against_rounding(want, rounded, [rounded], 1e-20).within
    twice, wrong = (want + np.array([error, 0.0])[:, None, None] for error in (2e-7, 9e-7))
    assert against_rounding(want, twice, [rounded], 1e-20).within
    assert not against_rounding(want, wrong, [rounded], 1e-20).within


def test_an_error_may_be_ahead_of_that_of_rounding_by_as_many_steps():
    want = np.ones((4, 8, 1))
    ahead, late = want.copy(), want.copy()
    ahead[0], late[1:] = 1.001, 1.001
    ahead[1:] = 1.001
    assert against_rounding(want, ahead, [late], 1e-12).within
    assert not against_rounding(want, ahead, [np.where(np.arange(4)[:, None, None] > 1, late, 1.0)],
                                1e-12).within  # fmt: skip


def test_errors_as_large_as_numbers_are_have_a_median():
    want = np.ones((1, 4, 1))
    got = np.array([np.inf, np.nan, np.inf, np.nan]).reshape(1, 4, 1)
    with np.errstate(all="raise"):
        assert not against_rounding(want, got, [got], 1e-12).within
