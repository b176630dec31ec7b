"""Gemm and MatMul, both ways."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph
from support.examples.made import aggregating, evolved
from support.examples.networks import NETWORKS
from support.harness.routes import run_onnxruntime

from neat_onnx import Network, NetworkError, OptionError, export, import_model

W = np.array([[0.5, -1.25, 2.0], [0.0, 0.75, -0.5]])
B = np.array([0.25, -1.0])


def written(net: Network, **options):
    model = export(net, **options)
    return model.graph.node, {name: t.values for name, t in model.graph.tensors.items()}


def operators(net: Network, **options) -> list[str]:
    return [each.op_type for each in written(net, **options)[0]]


@pytest.mark.parametrize(
    ("activation", "operator", "slope"),
    [
        ("neat_sigmoid", "Sigmoid", 5.0),
        ("neat_tanh", "Tanh", 2.5),
        ("bipolar_sigmoid", "Tanh", 0.5),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_slope_rides_in_alpha_and_beta(activation, operator, slope, dtype):
    net = Network.mlp([2, 3], activation=activation)
    nodes, tensors = written(net, dtype=dtype)
    assert [each.op_type for each in nodes] == ["Gemm", operator]
    assert (nodes[0].attributes.alpha, nodes[0].attributes.beta) == (slope, slope)
    np.testing.assert_array_equal(tensors["W0"].ravel(), net.connections.weight)


def test_fold_puts_slopes_and_responses_into_the_weights():
    net = NETWORKS["responses"]
    first, second = ["Gemm", "Mul", "Add"], ["Split", "Mul", "Sigmoid", "Concat"]
    assert operators(net) == [*first, "Mul", "Tanh", *first, *second]
    nodes, tensors = written(net, fold=True)
    assert [each.op_type for each in nodes][:2] == ["Gemm", "Tanh"]
    assert "Mul" not in [each.op_type for each in nodes]
    first = 2.5 * net.neurons.response[2:5, None] * net.connections.weight[:6].reshape(3, 2)
    np.testing.assert_allclose(tensors["W0"], first, rtol=1e-15)


def test_a_mean_is_a_sum_divided_by_a_count():
    net = aggregating("mean", 3)
    nodes, tensors = written(net)
    assert [each.op_type for each in nodes] == ["Gemm", "Div", "Add", "Tanh"]
    (divisor,) = [values for name, values in tensors.items() if name.startswith("K")]
    np.testing.assert_array_equal(divisor, [3.0, 2.0])
    assert operators(net, fold=True) == ["Gemm", "Tanh"]


def test_irregular_networks_are_few_wide_gemms():
    net = evolved(200, seed=3)
    found = operators(net)
    depth = found.count("Tanh")
    assert found.count("Gemm") == depth < 40
    assert len(found) <= 4 * depth


def test_duplicate_genes_add_up():
    edges = [(0, 1, 0.5), (0, 1, 0.25), (0, 1, -2.0)]
    net = Network.build(inputs=1, outputs=[1], neurons=[1], connections=edges)
    np.testing.assert_array_equal(written(net)[1]["W0"], [[-1.25]])


@pytest.mark.parametrize("mixed", ["grouped", "per_neuron"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_zero_weight_meets_an_overflow(mixed, dtype):
    net = NETWORKS["overflow"]
    model = export(net, mixed_activations=mixed, dtype=dtype)
    x = np.array([[1e20, 0.5], [-1e30, -0.25]])
    got = run_onnxruntime(model, net, x)
    want = net.activate(x)
    assert np.all(np.isfinite(want[:, :2]))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_without_inputs_there_is_no_onnx():
    net = Network.build(inputs=0, outputs=[0], neurons=[{"id": 0, "bias": 1.0}], connections=[])
    with pytest.raises(NetworkError, match="without inputs"):
        export(net)


def test_partial_connectivity_may_be_refused():
    whole = export(NETWORKS["deep_mlp"], allow_partial_connectivity=False)
    assert whole == export(NETWORKS["deep_mlp"])
    with pytest.raises(OptionError, match="neuron 3 is not connected to all") as caught:
        export(NETWORKS["partly_connected"], allow_partial_connectivity=False)
    assert caught.value.where == "allow_partial_connectivity"


# --- lifting --------------------------------------------------------------------------------------


def test_the_slope_of_a_gemm_is_the_activations():
    model = graph("z = Gemm<transB=1, alpha=5.0, beta=5.0>(x, W, B) y = Sigmoid(z)", W=W, B=B)
    net = import_model(model)
    assert set(net.activation_names[3:]) == {"neat_sigmoid"}
    assert sorted(net.connections.weight) == sorted(W[W != 0])  # zeros are no connections


def test_an_addend_times_zero_adds_nothing():
    """As the converter of scikit-learn writes the distances of k-means."""
    nodes = (
        "q = ReduceSumSquare(x, one) z = Mul(q, zero) "
        "g = Gemm<alpha=-2.0, transB=1>(x, w, z) y = Add(g, q)"
    )
    weights = {"w": np.arange(6.0).reshape(2, 3), "zero": np.zeros(1), "one": np.array([1])}
    net = assert_lifts(graph(nodes, x=("N", 3), **weights))
    assert not np.any(net.connections.weight == 0.0)
    assert import_model(export(net).to_json()) == net


def test_a_constant_matrix_times_a_transposed_layer_has_the_batch_as_columns():
    """PyTorch-NEAT writes `weights.mm(x.t()).t()`."""
    nodes = (
        "t = Transpose<perm=[1, 0]>(x) m = MatMul(W, t) s = Transpose<perm=[1, 0]>(m) "
        "h = Tanh(s) u = Transpose<perm=[1, 0]>(h) o = MatMul(V, u) "
        "y = Transpose<perm=[1, 0]>(o)"
    )
    rng = np.random.default_rng(0)
    parameters = {"W": rng.normal(size=(5, 3)), "V": rng.normal(size=(2, 5))}
    net = assert_lifts(graph(nodes, x=("N", 3), **parameters))
    assert len(net) == 3 + 5 + 2
    assert assert_lifts(graph(nodes, x=(6, 3), **parameters)) == net
