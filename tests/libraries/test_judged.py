"""Networks written for a library, loaded and run by its own code: a sample of `make libraries`."""

import os

import numpy as np
import pytest
from support.examples.cases import assert_within, cases
from support.peers.judging import JAVASCRIPT, Task, computed, is_installed

from neat_onnx import NetworkError

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

SAMPLE = cases("nts-net", "nap-net", "np-ff", "np-rec")[::6] + cases("nts-net-mlp")
IN_EVERY_SETUP = ("neataptic-ts", "neataptic", "synaptic")
FLOAT32 = 2.0**-20


def require(library):
    needed = "CI" in os.environ and library in IN_EVERY_SETUP
    if not is_installed(library) and not needed:
        pytest.skip(f"{library} is not installed: npm ci, or make libraries")


@pytest.mark.parametrize("library", JAVASCRIPT)
def test_the_library_computes_what_was_written_and_the_rest_is_refused_by_name(library):
    require(library)
    said, tasks = [], []
    for case in SAMPLE:
        net = case.network()
        try:
            document = net.to_library(library)
        except NetworkError as error:
            assert f"{library.replace('neataptic-ts', 'NeatapticTS')} cannot hold" in str(error)
            assert "(neuron " in str(error)
            continue
        said.append(case)
        tasks.append(Task(document, case.inputs, case.sequence))
    assert len(said) >= 2
    for case, outputs in zip(said, computed(library, tasks), strict=True):
        assert isinstance(outputs, np.ndarray), f"{case.name}: {outputs}"
        bound = FLOAT32 if library == "brain.js" else 0.0
        assert_within(outputs, case.outputs, case.tolerance64 + bound)


@pytest.mark.parametrize(
    ("library", "group"), [("neataptic-ts", "nts-net"), ("neataptic", "nap-net")]
)
def test_the_judge_computes_what_was_recorded(library, group):
    require(library)
    recorded = cases(group)
    tasks = [Task(case.source, case.inputs, case.sequence) for case in recorded]
    for case, outputs in zip(recorded, computed(library, tasks), strict=True):
        assert_within(outputs, case.outputs, case.tolerance64)
