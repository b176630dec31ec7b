"""What the tests of networks whose step is an amount of time share."""

import warnings
from typing import Any

import numpy as np
from cases import Case, assert_within
from playing import played

from neat_onnx import Network, export, import_model, load_model, validate
from neat_onnx.errors import NeatOnnxWarning
from neat_onnx.libraries import load_network


def quietly(source: Any, time_step: float, advance_time: float) -> Network:
    """`source` read, whatever there is to know about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        return load_network(source, time_step=time_step, advance_time=advance_time)


def read(case: Case) -> Network:
    """The network of a case, with the times of the calls that the peer was given."""
    call = case.document["advance"]
    step = call.get("time_step", call.get("dt_msec"))
    return quietly(
        case.source, step, call.get("advance_time", step * call.get("advances_per_row", 1))
    )


def assert_exports(case: Case, net: Network) -> None:
    """In both types onnxruntime gives what the peer gave, as single steps and as one Scan.

    A network of many parts of a step takes onnxruntime seconds to load: one form of it.
    """
    forms = [("float32", True), ("float64", False), ("float32", False), ("float64", True)]
    for dtype, sequence in forms[:1] if len(net.neurons) > 500 else forms:
        tolerance = case.tolerance32 if dtype == "float32" else case.tolerance64
        model = export(net, dtype=dtype, sequence=sequence)
        assert validate(model) == []
        assert_within(played(model, case.inputs[:, None])[:, 0], case.outputs, tolerance)


def assert_comes_back(case: Case, net: Network) -> None:
    """Through JSON the genome comes back, to the last bit, and so does what it computes."""
    back = import_model(load_model(export(net).to_json()))
    assert back == net
    np.testing.assert_array_equal(back.run(case.inputs), net.run(case.inputs))
