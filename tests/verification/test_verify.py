"""verify: it passes what is right, fails what is wrong, and says what it cannot judge."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.routes import stripped

from neat_onnx import ModelError, Network, OptionError, Report, export, import_model, verify
from neat_onnx.model import Model, Tensor
from neat_onnx.model.draft import with_graph
from neat_onnx.verification.samples import long_sequences, short_sequences

RUNTIMES = ("reference", "onnxruntime")
NET = Network.mlp([3, 5, 4, 2], activation="tanh", seed=1)


def broken(model: Model, tensor: str, change: float) -> Model:
    """The model with another second element of an initializer, or another only one."""
    tensors = []
    for each in model.graph.initializer:
        values = each.values.copy()
        if each.name == tensor:
            values.flat[min(1, values.size - 1)] += change
        tensors.append(Tensor.of(each.name, values, each.data_type))
    return with_graph(model, initializer=tensors)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-12), ("float64", 1e-24)])
def test_what_is_right_passes(runtime, dtype, bound):
    report = verify(NET, export(NET, dtype=dtype), runtime=runtime)
    assert report.passed
    assert report.bound == bound
    assert report.normalised_mse <= bound
    assert (report.samples, report.seed, report.dtype, report.steps) == (256, 0, dtype, 1)
    assert report.runtime.startswith({"reference": "onnx.reference"}.get(runtime, runtime))
    assert report.first_error is None
    assert report.not_finite == 0
    assert report.verdict == "equal"
    assert str(report).startswith("equal over 256 samples in onnx")


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("tensor", "neuron", "level"), [("B0", 4, 1), ("B1", 9, 2), ("B2", 13, 3), ("W1", 8, 2)]
)
def test_a_wrong_model_fails_and_says_at_which_neuron(runtime, tensor, neuron, level):
    report = verify(NET, broken(export(NET), tensor, 0.01), runtime=runtime)
    assert not report.passed
    assert report.normalised_mse > 1e-8
    assert f"neuron {neuron} (tanh, level {level})" in report.first_error
    assert report.verdict == "different"
    assert f"normalised MSE {report.normalised_mse:.3g}" in str(report)
    assert str(report).startswith("DIFFERENT over 256 samples")


def test_an_error_that_float32_would_hide_fails_in_float64():
    model = broken(export(NET, dtype="float64"), "W0", 1e-9)
    assert not verify(NET, model).passed
    assert verify(NET, broken(export(NET), "W0", 1e-9)).passed


def test_without_metadata_the_neuron_is_not_known():
    report = verify(NET, stripped(broken(export(NET), "B1", 0.01)))
    assert not report.passed
    assert report.first_error is None


def test_the_errors_are_what_they_are_called():
    net = Network.build(inputs=1, outputs=[1], neurons=[1], connections=[(0, 1, 1.0)])
    report = verify(net, broken(export(net, dtype="float64"), "B0", 0.25), samples=16)
    assert report.mse == pytest.approx(0.0625, rel=1e-12)
    assert report.max_abs_error == pytest.approx(0.25, rel=1e-12)
    x = np.random.default_rng([0, 2]).normal(size=(1, 16, 1))
    x[:, 0], x[:, 1] = 0.0, 1.0
    x[:, -4:] *= 10.0
    assert report.normalised_mse == pytest.approx(0.0625 / max(1.0, np.mean(x**2)), rel=1e-12)
    assert report.max_rel_error == pytest.approx(0.25, rel=1e-12)


def test_the_same_seed_gives_the_same_report():
    model = export(NET)
    assert verify(NET, model, seed=3) == verify(NET, model, seed=3)
    assert verify(NET, model, seed=3).mse != verify(NET, model, seed=4).mse


def test_a_report_is_a_document():
    report = verify(NET, broken(export(NET), "B0", 0.01))
    assert Report.model_validate_json(report.model_dump_json()) == report


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"samples": 3}, "samples"),
        ({"samples": -1}, "samples"),
        ({"samples": 4.5}, "samples"),
        ({"samples": True}, "samples"),
        ({"samples": 2**70}, "samples"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"runtime": "abacus"}, "runtime"),
    ],
)
def test_what_makes_no_sense_is_refused(options, where):
    with pytest.raises(OptionError) as caught:
        verify(NET, export(NET), **options)
    assert where in str(caught.value)
    if where == "samples":
        assert caught.value.hint == "Take samples=4 to 1000000, without a fraction"


def test_a_model_of_another_shape_is_refused():
    with pytest.raises(ModelError, match=r"inputs are 'input' \['N', 2\], the network's 'input'"):
        verify(NET, export(Network.mlp([2, 2])))
    with pytest.raises(ModelError, match="outputs are"):
        verify(NET, export(Network.mlp([3, 4])))


def test_outputs_have_the_shape_that_they_are_computed_in_whatever_the_graph_states():
    stated = export(Network.mlp([2, 3], seed=1), include_metadata=False).to_proto()
    stated.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 1
    net = import_model(stated)
    assert verify(net, stated, samples=16, runtime="onnxruntime").passed


def test_an_output_of_another_shape_and_the_same_size_is_different():
    stated = graph([node("Transpose", "x", "y", perm=[0, 2, 1])], x=("N", 2, 3))
    other = import_model(graph([node("Relu", "x", "y")], x=("N", 2, 3)))
    report = verify(other, stated, samples=16, runtime="onnxruntime")
    assert not report.passed
    assert "[3, 2]" in report.first_error


def test_inputs_are_not_drawn_from_the_stream_of_the_weights():
    net = Network.mlp([64, 1], seed=5)
    inputs = [short_sequences(net, 8, 5), long_sequences(net, 5, 48)]
    drawn = np.random.default_rng(5).normal(size=512)
    for values in inputs:
        assert not np.isin(np.round(values, 9), np.round(drawn, 9)).any()
    assert not np.isin(inputs[0][:, 2:6], inputs[1][:, 2:6]).any()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_model_whose_weights_are_inputs_too_is_compared(runtime):
    """Up to IR 3 every initializer had to be a graph input as well."""
    made = export(NET).to_proto()
    made.ir_version = 3
    for tensor in made.graph.initializer:
        entry = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        made.graph.input.append(entry)
    assert verify(NET, made, runtime=runtime).passed
    weights = made.graph.initializer[0]
    more = onnx.numpy_helper.to_array(weights) + 1
    weights.CopyFrom(onnx.numpy_helper.from_array(more, weights.name))
    assert not verify(NET, made, runtime=runtime).passed


@pytest.mark.parametrize("runtime", [*RUNTIMES, "c", "javascript"])
def test_a_network_without_a_batch(runtime: str):
    """Along the first axis, which would be the batch, the graph adds up."""
    model = graph([node("CumSum", "x axis", "y")], x=("N", 3), axis=0)
    added = graph([node("MatMul", "x w", "y")], x=(2, 3), w=np.ones((3, 2)))
    for each in (model, added):
        net = import_model(each, batch_axis=None)
        assert verify(net, each, runtime=runtime, samples=8, batch_axis=None).passed
        assert verify(net, each, runtime=runtime, samples=8).passed


def test_a_network_with_a_batch_where_every_axis_is_to_be_features():
    with pytest.raises(ModelError, match=r"the network's 'input' \[3\]") as caught:
        verify(NET, export(NET), batch_axis=None)
    assert "batch_axis=None" in caught.value.hint
    with pytest.raises(OptionError, match="batch_axis is 0"):
        verify(NET, export(NET), batch_axis=0)
