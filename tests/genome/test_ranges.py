import numpy as np
import pytest

from neat_onnx.genome.ranges import with_ranges, with_steps, without_ranges


@pytest.mark.parametrize(
    "ids", [[], [3, 1], list(range(80)), [*range(70), 5000, *range(100, 104), 99, 98], [7] * 70]
)
def test_ids_come_back(ids):
    assert without_ranges(with_ranges(ids)) == ids


def test_runs_of_long_lists_are_texts():
    assert with_ranges([*range(70), 99, 100, 102]) == ["0-69", 99, 100, 102]
    assert with_ranges(list(range(10))) == list(range(10))


@pytest.mark.parametrize(
    "ids",
    [
        [],
        [3, 1],
        list(range(80)),
        list(range(0, 400, 5)),
        [*range(0, 90, 3), *range(1, 91, 3), *range(2, 92, 3)],
        [*range(70), 5000, *range(100, 104), 99, 98, 7, 7, 7],
        [7] * 70,
        list(range(90, 0, -1)),
        [k * k for k in range(80)],
        [9, *range(10, 300, 4), 4, 3],
        [*range(10, 20), *range(12, 22), *range(14, 24), *range(17, 27)],
        [*range(20), *range(50, 70), *range(40, 60), *range(70, 90), *range(100, 120), 5],
    ],
)
def test_ids_with_steps_come_back(ids):
    assert without_ranges(with_steps(ids)) == ids


def test_random_ids_with_steps_come_back():
    random = np.random.default_rng(0)
    for _ in range(300):
        ids = np.cumsum(random.choice([1, 1, 1, 1, 2, 7, -1], random.integers(64, 90))) + 200
        assert without_ranges(with_steps(ids.tolist())) == ids.tolist()


def test_random_tables_with_steps_come_back():
    random = np.random.default_rng(0)
    for _ in range(300):
        first, step, later = random.integers([0, 0, -9], 9)
        first -= 8 * min(later, 0)
        table = first + step * np.arange(random.integers(1, 9)) + later * np.arange(9)[:, None]
        ids = [*random.integers(0, 9, 2).tolist(), *table.ravel().tolist(), 3][random.integers(3) :]
        assert without_ranges(with_steps(ids)) == ids


def test_runs_that_begin_later_and_later_are_one_text():
    assert with_steps(np.arange(60).reshape(6, 10).T.ravel().tolist()) == ["0-50/10*10+1"]
    assert with_steps([9, *range(20, 26), *range(40, 46), *range(60, 66)]) == [9, "20-25*3+20"]
    assert with_steps(np.arange(60).reshape(3, 20).T.ravel().tolist()) == ["0-40/20*20+1"]
    assert with_steps(list(range(8))) == ["0-7"]


def test_runs_that_begin_earlier_and_earlier_are_one_text():
    assert with_steps(np.arange(60).reshape(6, 10)[::-1].ravel().tolist()) == ["50-59*6-10"]
    assert with_steps(np.arange(24).reshape(6, 4)[::-1].ravel().tolist()) == ["20-23*6-4"]
    assert with_steps([*range(40, 46), *range(20, 26), *range(6), 9]) == ["40-45*3-20", 9]


def test_runs_with_a_step_are_texts():
    ids = [*range(0, 160, 4), *range(1, 161, 4)]
    assert with_steps(ids) == ["0-156/4", "1-157/4"]
    assert with_steps([*range(80), 99]) == ["0-79", 99]


@pytest.mark.parametrize(
    "text",
    ["0-7/0", "0-7/2", "0-8/-2", "0-8/", "0-8/x", "8-0/2", "0-8*3", "0-8*x+1", "0-8*0+9",
     "0-8*9999999+1", "0-8+3", "0-8*-1+3", "9-18*3-5", "0-8*3--2"],
)  # fmt: skip
def test_a_bad_step_is_refused(text):
    with pytest.raises(ValueError, match="range"):
        without_ranges([text])


@pytest.mark.parametrize("text", ["", "5", "5-", "-1-4", "4-3", "0-16777216", "0-x", "1" * 60])
def test_a_bad_range_is_refused(text):
    with pytest.raises(ValueError, match="range"):
        without_ranges([text])
