"""What the tests of networks whose step is an amount of time share."""

import warnings
from functools import cache
from typing import Any

from support.examples.cases import Case

from neat_onnx import Network
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
