"""Int8: valid, small, run elsewhere, fused, imported again, and never called what it is not."""

import numpy as np
import pytest
from support.examples.cases import case
from support.examples.graphs import graph, node
from support.examples.networks import NETWORKS
from support.harness.sessions import open_session

from neat_onnx import Network, OptionError, export, import_model, load_model, validate, verify
from neat_onnx.cli import main
from neat_onnx.quantization import quantize_weights

EVOLVED = NETWORKS["evolved_mixed"]
GRU = Network.gru(2, 3, 1, seed=0)
SPACE = NETWORKS["convolution_and_pools"]
LAYERS = Network.mlp([400, 100, 10], activation="tanh", seed=0)
FORMS = [
    (EVOLVED, {"quantize": "weights"}),
    (GRU, {"quantize": "weights"}),
    (GRU, {"quantize": "weights", "sequence": True, "fused_recurrent": False}),
    (SPACE, {"quantize": "weights"}),
]


@pytest.mark.parametrize(("net", "options"), FORMS)
def test_int8_is_valid_close_told_and_imported_as_its_graph(net, options):
    model = export(net, **options)
    assert validate(model) == []
    report = verify(net, model, samples=16, runtime="onnxruntime")
    assert (report.verdict, report.quantized) == ("different", True)
    assert "quantized" in str(report)
    assert report.normalised_mse is not None
    assert 1e-9 < report.normalised_mse < 0.1
    back = import_model(load_model(model.to_bytes()))
    again = verify(back, model, samples=16, runtime="onnxruntime")
    assert again.normalised_mse is not None
    assert again.normalised_mse < report.normalised_mse / 1000
    assert export(net, **options).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("name", ["nts-net-lstm-2", "np-atom-agg-median", "np-atom-agg-max"])
def test_layers_with_biases_in_common_are_quantized(name: str):
    """Each Gemm has int8 of its own, and whoever else reads the numbers has them as they are."""
    model = export(case(name).network(), quantize="weights")
    assert validate(model) == []
    open_session(model)


def test_numbers_that_are_read_as_weights_and_otherwise_keep_their_precision():
    nodes = [node("Gemm", "x w b", "h", transB=1), node("Add", "h w", "y")]
    model = graph(nodes, x=(1, 3), w=[[0.1, 0.22, 0.3]], b=[0.0])
    assert quantize_weights(load_model(model)) == load_model(model)


def test_a_dense_network_is_a_quarter_of_its_size_and_runs():
    model = export(LAYERS, quantize="weights")
    assert len(model.to_bytes()) <= 0.3 * len(export(LAYERS).to_bytes())
    reference = verify(LAYERS, model, samples=8)
    report = verify(LAYERS, model, samples=8, runtime="onnxruntime")
    assert report.normalised_mse == pytest.approx(reference.normalised_mse, rel=0.05)


def test_each_weight_is_within_half_a_step():
    matrix = {tensor.name: tensor for tensor in export(LAYERS).graph.initializer}["W0"].values
    tensors = {each.name: each for each in export(LAYERS, quantize="weights").graph.initializer}
    scale = tensors["W0_scale"].values[:, None]
    assert np.allclose(scale[:, 0], np.max(np.abs(matrix), axis=1) / 127, rtol=1e-6)
    assert np.all(np.abs(tensors["W0_quantized"].values * scale - matrix) <= scale * 0.501)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"quantize": "weights", "dtype": "float64"}, "dtype"),
        ({"quantize": "weights", "dialect": "neataptic"}, "dialect"),
        ({"quantize": "weights", "embed_network": True}, "embed_network"),
        ({"quantize": "int4"}, "quantize"),
    ],
)
def test_what_does_not_go_with_int8_is_refused(options, where):
    with pytest.raises(OptionError) as caught:
        export(EVOLVED, **options)
    assert caught.value.where == where
    assert caught.value.hint or "expected 'none' or 'weights'" in caught.value.message


def test_the_command_line_quantizes(tmp_path, capsys):
    EVOLVED.save(tmp_path / "net.json")
    out = tmp_path / "small.onnx"
    assert main(["export", str(tmp_path / "net.json"), str(out), "--quantize", "weights"]) == 0
    assert main(["verify", str(tmp_path / "net.json"), str(out)]) == 1
    assert "quantized" in capsys.readouterr().out
