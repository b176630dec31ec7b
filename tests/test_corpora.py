"""Every network without memory that the peers wrote: exported, run elsewhere, and brought back."""

import pytest
from support.examples.cases import Case, assert_within, cases
from support.harness.routes import (
    Route,
    Trip,
    binary_trip,
    is_valid,
    json_trip,
    lift_and_lower,
    run_onnxruntime,
    run_reference,
    stripped_trip,
)
from support.harness.sweep import WHOLE

from neat_onnx.network.genes import Floats

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


def _trips() -> list[tuple[str, str]]:
    """Each case in one of the types, in turn, and the first of each group in both."""
    first = {case.group: name for name, case in reversed(CASES.items())}
    return [
        (name, dtype)
        for at, (name, case) in enumerate(CASES.items())
        for turn, dtype in enumerate(DTYPES)
        if WHOLE or turn == at % 2 or first[case.group] == name
    ]


TRIPS = _trips()


@pytest.fixture(scope="module", params=TRIPS, ids="-".join)
def case_and_trip(request) -> tuple[Case, Trip]:
    """A case and its export; all tests of it run one after the other."""
    name, dtype = request.param
    return CASES[name], Trip(CASES[name].network(), {"dtype": dtype})


@pytest.fixture
def case(case_and_trip) -> Case:
    return case_and_trip[0]


@pytest.fixture
def trip(case_and_trip) -> Trip:
    return case_and_trip[1]


def test_the_groups_are_all_there():
    assert all(any(name.startswith(group) for name in CASES) for group in GROUPS)
    assert len(CASES) >= 70


def test_every_group_is_judged_in_both_types():
    assert {name for name, _ in TRIPS} == set(CASES)
    judged = {(CASES[name].group, dtype) for name, dtype in TRIPS}
    assert judged == {(case.group, dtype) for case in CASES.values() for dtype in DTYPES}


def test_onnxruntime_gives_what_the_peer_computed(case: Case, trip: Trip):
    got = run_onnxruntime(trip.model, trip.net, case.inputs)
    assert_within(got, case.outputs, _tolerance(case, trip))


def test_the_reference_evaluator_gives_what_the_peer_computed(case: Case, trip: Trip):
    got = run_reference(trip.model, trip.net, case.inputs)
    assert_within(got, case.outputs, _tolerance(case, trip))


BACK = (json_trip, binary_trip, stripped_trip, lift_and_lower)


def test_every_group_comes_back_in_every_way():
    taken = {(CASES[name].group, way) for name, _ in TRIPS for way in _ways_back(name)}
    assert taken == {(case.group, way) for case in CASES.values() for way in BACK}


def test_comes_back(case: Case, trip: Trip):
    """From JSON bit for bit, from the binary file, or from the graph alone, in turn."""
    for way in _ways_back(case.name):
        way(trip)


def _ways_back(name: str) -> tuple[Route, ...]:
    """One way, in turn within a group; all in a whole sweep, and in a group of few."""
    group = [other for other, case in CASES.items() if case.group == CASES[name].group]
    if WHOLE or len(group) < len(BACK):
        return BACK
    turn, place = divmod(group.index(name), len(BACK))
    return (BACK[(turn + place) % len(BACK)],)  # each way meets both types


def test_is_valid(trip: Trip):
    is_valid(trip)


def _tolerance(case: Case, trip: Trip) -> Floats:
    return case.tolerance32 if trip.options["dtype"] == "float32" else case.tolerance64
