"""RNN, LSTM and GRU nodes as neurons: against onnxruntime, numpy, and ONNX's own backend cases."""

from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.backend_cases import backend_cases
from support.examples.graphs import graph, node
from support.examples.rnn_cases import (
    GATES,
    assert_close,
    by_hand,
    in_onnxruntime,
    one_graph,
    random_case,
)
from support.harness.sweep import count

from neat_onnx import ModelError, export, import_model, verify
from neat_onnx.network.genes import Floats

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("seed", range(count(48, 200)))
def test_random_configurations_compute_what_onnxruntime_and_numpy_do(seed: int):
    case, x = random_case(seed)
    fixed = case.model(x)
    by_runtime, exact = in_onnxruntime(fixed, x), by_hand(case, x.astype(np.float64))
    got = _unrolled(fixed, x)
    for name, want in exact.items():
        assert_close(got[name], want, 1e-12)
        assert_close(got[name], by_runtime[name], 1e-5)
    if case.attributes.get("direction", "forward") == "forward":
        got = _stepping(case.model(x, ["T", "N", case.inputs]), x)
        for name, want in exact.items():
            assert_close(got[name].reshape(want.shape), want, 1e-12)


def _unrolled(model: onnx.ModelProto, x: Array) -> dict[str, Floats]:
    """A cell for every step: the whole sequence is one sample's features."""
    return import_model(model, batch_axis=None, check=False).activate({"X": x})


def _stepping(model: onnx.ModelProto, x: Array) -> dict[str, Floats]:
    """One cell: the network runs the sequence, and gives the states after every step."""
    every = import_model(model, check=False).run({"X": x})
    return {name: values if name == "Y" else values[-1] for name, values in every.items()}


# --- ONNX's own cases -----------------------------------------------------------------------------

BACKEND = backend_cases(*GATES)


def _backend(name: str) -> tuple[onnx.ModelProto, Array, dict[str, Array]]:
    """A case with everything but X as initializers: (model, X, what it should give)."""
    case = BACKEND[name]
    ((inputs, outputs),) = case.data_sets
    graph = case.model.graph
    given = dict(zip((entry.name for entry in graph.input), inputs, strict=True))
    x = given.pop("X")
    dims = {"X": list(x.shape)}
    shapes = {
        entry.name: list(values.shape) for entry, values in zip(graph.output, outputs, strict=True)
    }
    return (
        one_graph(list(graph.node), dims, shapes, given),
        x,
        dict(zip(shapes, outputs, strict=True)),
    )


BACKWARDS = tuple(name for name in BACKEND if name.endswith(("_reverse", "_bidirectional")))


def test_onnx_has_the_cases_that_are_meant():
    assert len(BACKEND) == 18 and len(BACKWARDS) == 6


@pytest.mark.parametrize("name", BACKEND)
def test_backend_cases_with_a_cell_for_every_step(name: str):
    model, x, want = _backend(name)
    got = _unrolled(model, x)
    for output, values in want.items():
        assert_close(got[output], values, 1e-5)


@pytest.mark.parametrize("name", [name for name in BACKEND if name not in BACKWARDS])
def test_backend_cases_step_by_step(name: str):
    """T and N get names; X of the batchwise cases is [N, T, I]."""
    model, x, want = _backend(name)
    for axis in range(2):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = "TN"[axis]
    if name == "test_lstm_with_peepholes":  # its sequence_lens are what T is
        with pytest.raises(ModelError, match="sequence_lens"):
            import_model(model)
        model.graph.node[0].input[4] = ""
    batchwise = name.endswith("_batchwise")
    every = import_model(model, check=False).run({"X": x.swapaxes(0, 1) if batchwise else x})
    for output, values in want.items():
        last = every[output] if output == "Y" else every[output][-1]
        if batchwise and output == "Y":
            last = last.swapaxes(0, 1)
        assert_close(last.reshape(values.shape), values, 1e-5)


@pytest.mark.parametrize("name", BACKWARDS)
def test_backwards_is_refused_where_the_length_is_open(name: str):
    model, _, _ = _backend(name)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "T"
    with pytest.raises(ModelError, match=r"direction (reverse|bidirectional)"):
        import_model(model)


@pytest.mark.parametrize("name", ["Affine", "ScaledTanh", "ThresholdedRelu"])
def test_a_function_without_parameters_that_runtimes_agree_on_is_refused(name: str):
    model, _, _ = _backend("test_simple_rnn_defaults")
    attribute = onnx.helper.make_attribute("activations", [name])
    model.graph.node[0].attribute.append(attribute)
    with pytest.raises(ModelError, match=f"{name} has no defaults"):
        import_model(model, batch_axis=None)


@pytest.mark.parametrize(
    ("case", "names"),
    [("test_simple_rnn_defaults", ["Relu", "Tanh"]), ("test_gru_defaults", ["tanh", "SIGMOID"])],
)
def test_functions_are_the_first_ones_and_in_any_case(case: str, names: list[str]):
    """ONNX's default names two, and optimizers write it out; a GRU's may be in any case."""
    model, x, _ = _backend(case)
    attribute = onnx.helper.make_attribute("activations", names)
    model.graph.node[0].attribute.append(attribute)
    want = in_onnxruntime(model, x)
    got = _unrolled(model, x)
    for name, values in want.items():
        assert_close(got[name], values, 1e-5)


def test_an_lstm_of_which_two_parts_alone_read_an_input_comes_back():
    w = np.zeros((2, 8, 3))
    w[0, 0, 2], w[1, 5, 2] = 2.0, 1.0
    r, b = (np.random.default_rng(0).normal(size=size) for size in ((2, 8, 2), (2, 16)))
    nodes = [
        node("Transpose", "x", "steps", perm=[1, 0, 2]),
        node("LSTM", "steps w r b", "h", hidden_size=2, direction="bidirectional"),
        node("Transpose", "h", "y", perm=[2, 0, 1, 3]),
    ]
    net = import_model(graph(nodes, x=("N", 4, 3), w=w, r=r, b=b))
    model = export(net)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == net
