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
