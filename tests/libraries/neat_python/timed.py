"""What the tests of networks whose step is an amount of time share."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from support.examples.cases import Case, assert_within
from support.harness.playing import played
from support.harness.sweep import WHOLE

from neat_onnx import Model, Network, export, import_model, load_model, validate
from neat_onnx.errors import NeatOnnxWarning
from neat_onnx.libraries import load_network
from neat_onnx.network.genes import Floats


def quietly(source: Any, time_step: float, advance_time: float) -> Network:
    """`source` read, whatever there is to know about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        return load_network(source, time_step=time_step, advance_time=advance_time)


@cache
def read(case: Case) -> Network:
    """The network of a case, with the times of the calls that the peer was given."""
    call = case.document["advance"]
    step = call.get("time_step", call.get("dt_msec"))
    return quietly(
        case.source, step, call.get("advance_time", step * call.get("advances_per_row", 1))
    )


@cache
def ran(case: Case) -> Floats:
    """What the network of a case computes for all its inputs."""
    outputs = read(case).run(case.inputs)
    outputs.setflags(write=False)
    return outputs


def forms(case: Case) -> list[tuple[str, bool]]:
    """The types and forms, single steps or one Scan, in which a case is exported.

    One of each type, in turn.
    """
    odd = int(case.name.rsplit("-", 1)[1]) % 2 == 1
    found = [("float32", odd), ("float64", not odd)]
    return [*found, ("float32", not odd), ("float64", odd)] if WHOLE else found


@cache
def exported(case: Case, dtype: str, sequence: bool) -> Model:
    return export(read(case), dtype=dtype, sequence=sequence)


def assert_exports(case: Case) -> None:
    """In both types onnxruntime gives what the peer gave, as single steps or as one Scan."""
    for dtype, sequence in forms(case):
        tolerance = case.tolerance32 if dtype == "float32" else case.tolerance64
        model = exported(case, dtype, sequence)
        assert validate(model) == []
        assert_within(played(model, case.inputs[:, None])[:, 0], case.outputs, tolerance)


def assert_comes_back(case: Case) -> None:
    """Through JSON the genome comes back, to the last bit, and so does what it computes."""
    net = read(case)
    back = import_model(load_model(exported(case, *forms(case)[0]).to_json()))
    assert back == net
    np.testing.assert_array_equal(back.run(case.inputs), ran(case))
