"""Powers whose base and exponent are both computed."""

import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import node, operators

from neat_onnx import ModelError, NeatOnnxWarning, Network, export, import_model, verify

NUMBERS = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, -2.5, 1e-30, -1e-30, 1e30, -1e30]


def power(kind: int = TensorProto.FLOAT, *before: onnx.NodeProto, base: str = "x"):
    """A graph of x to the power of y, of one element each."""
    x, y, z = (helper.make_tensor_value_info(name, kind, ["N", 1]) for name in "xyz")
    nodes = [*before, node("Pow", f"{base} y", "z")]
    body = helper.make_graph(nodes, "graph", [x, y], [z])
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_every_pair_of_finite_numbers():
    net = import_model(power())
    base, exponent = (each.reshape(-1, 1) for each in np.meshgrid(NUMBERS, NUMBERS))
    with np.errstate(all="ignore"):
        want = np.power(base, exponent)
    got = net.activate({"x": base, "y": exponent})["z"]
    np.testing.assert_allclose(got, want, rtol=1e-12, equal_nan=True)
    assert np.isnan(want).any()
    assert np.isinf(want).any()


def test_the_power_of_an_infinity():
    net = import_model(power(TensorProto.FLOAT, node("Reciprocal", "x", "r"), base="r"))
    got = net.activate({"x": np.zeros((3, 1)), "y": np.array([[2.0], [0.0], [-1.0]])})["z"]
    assert got.ravel().tolist() == [np.inf, 1.0, 0.0]


def test_it_comes_back_as_one_node_and_is_right_without_its_hint():
    net = import_model(model := power())
    plain = export(net)
    assert "Pow" not in operators(plain)
    for each in (model, export(net), plain):
        assert verify(net, each, runtime="onnxruntime").passed


def test_a_network_of_such_a_function_comes_back():
    """In float64 the base is many nodes, since no runtime has its arc cosine."""
    net = Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 2, "activation": "formula: pow(acos(z), z)"}],
        connections=[(0, 2, 1.0)],
    )
    written = export(net, dtype="float64")
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, runtime="onnxruntime").passed


def test_of_integers_it_is_refused():
    """A power that is off by a little would lose a whole one where it is cut off."""
    with (
        warnings.catch_warnings(),
        pytest.raises(ModelError, match="in a way that no neuron computes"),
    ):
        warnings.simplefilter("ignore", NeatOnnxWarning)  # integers grow
        import_model(power(TensorProto.INT64))
