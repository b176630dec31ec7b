import pytest

from neat_onnx.genome.ranges import with_ranges, without_ranges


@pytest.mark.parametrize(
    "ids", [[], [3, 1], list(range(80)), [*range(70), 5000, *range(100, 104), 99, 98], [7] * 70]
)
def test_ids_come_back(ids):
    assert without_ranges(with_ranges(ids)) == ids


def test_runs_of_long_lists_are_texts():
    assert with_ranges([*range(70), 99, 100, 102]) == ["0-69", 99, 100, 102]
    assert with_ranges(list(range(10))) == list(range(10))


@pytest.mark.parametrize("text", ["", "5", "5-", "-1-4", "4-3", "0-16777216", "0-x", "1" * 60])
def test_a_bad_range_is_refused(text):
    with pytest.raises(ValueError, match="range"):
        without_ranges([text])
