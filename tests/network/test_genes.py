"""The arrays of genes, and what is done with many of them at once."""

import numpy as np
import pytest

from neat_onnx.network.genes import stable_order


@pytest.mark.parametrize("count", [0, 1, 600, 5000])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 50), (-3, 50), (0, 2**62), (0, 2**40), (2**61, 2**62)]
)
def test_positions_are_sorted_and_equal_ones_stay_as_they_stand(count: int, low: int, high: int):
    positions = np.random.default_rng(0).integers(low, high, count)
    given = positions.copy()
    order = stable_order(positions)
    assert np.array_equal(order, np.argsort(given, kind="stable"))
    assert np.array_equal(positions, given)
