"""Every network without memory that the peers wrote: exported, run elsewhere, and brought back."""

import functools

import pytest
from cases import Case, assert_within, cases
from routes import (
    Trip,
    binary_trip,
    is_valid,
    json_trip,
    lift_and_lower,
    run_onnxruntime,
    run_reference,
    stripped_trip,
)

GROUPS = (
    "nts-net-mlp",
    "nts-net-dag",
    "nts-net-atom",
    "nts-net-disabled",
    "nts-net-edge",
    "nap-net",
    "np-ff",
    "np-atom",
)
CASES = {
    case.name: case
    for case in cases(*GROUPS, sequence=False)
    if not case.network().has_memory  # those are in test_memory
}
DTYPES = ("float32", "float64")


@functools.cache
def trip(name: str, dtype: str) -> Trip:
    return Trip(CASES[name].network(), {"dtype": dtype})


@pytest.fixture(params=DTYPES)
def dtype(request):
    return request.param


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


@pytest.fixture
def in_turn(case: Case) -> str:
    """One of the types, the other for the next case, where a route is slow or asks little of it."""
    return DTYPES[list(CASES).index(case.name) % len(DTYPES)]


def test_the_groups_are_all_there():
    assert all(any(name.startswith(group) for name in CASES) for group in GROUPS)
    assert len(CASES) >= 70


def test_onnxruntime_gives_what_the_peer_computed(case: Case, dtype: str):
    whole = trip(case.name, dtype)
    got = run_onnxruntime(whole.model, whole.net, case.inputs)
    assert_within(got, case.outputs, _tolerance(case, dtype))


def test_the_reference_evaluator_gives_what_the_peer_computed(case: Case, in_turn: str):
    whole = trip(case.name, in_turn)
    got = run_reference(whole.model, whole.net, case.inputs)
    assert_within(got, case.outputs, _tolerance(case, in_turn))


def test_comes_back_from_json_bit_for_bit(case: Case, dtype: str):
    json_trip(trip(case.name, dtype))


def test_comes_back_from_the_binary_file(case: Case, in_turn: str):
    binary_trip(trip(case.name, in_turn))


def test_is_the_same_function_without_metadata(case: Case):
    route = (stripped_trip, lift_and_lower)[list(CASES).index(case.name) % 2]
    route(trip(case.name, "float64"))


def test_is_valid(case: Case, in_turn: str):
    is_valid(trip(case.name, in_turn))


def _tolerance(case: Case, dtype: str):
    return case.tolerance32 if dtype == "float32" else case.tolerance64
