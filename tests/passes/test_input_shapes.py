"""`shapes`: sizes for axes that a model leaves open besides the batch."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, OptionError, export, import_model, verify
from neat_onnx.__main__ import main

RANDOM = np.random.default_rng(7)
OPEN = ("batch_size", 1, "time")


def convolution(sizes=OPEN):
    nodes = [
        node("Conv", "x k", "c", pads=[1, 1]),
        node("Tanh", "c", "t"),
        node("ReduceMean", "t axes", "y"),
    ]
    constants = {"k": RANDOM.normal(size=(3, 1, 3)), "axes": np.array([2])}
    return graph(nodes, x=sizes, **constants)


@pytest.mark.parametrize("shape", [("N", 1, 8), (None, 1, 8), ["batch_size", 1, 8]])
def test_an_open_axis_gets_a_size(shape):
    model = convolution()
    net = import_model(model, shapes={"x": shape})
    assert net.inputs[0].shape == (1, 8)
    x = RANDOM.normal(size=(5, 1, 8)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, 1e-5, 1e-6)
    assert verify(net, model, runtime="onnxruntime").passed  # as it is, without shapes
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_an_input_without_a_shape_gets_one():
    model = convolution()
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match=r"has no shape .* shapes=\{'x': \('N', 4\)\}"):
        import_model(model)
    assert import_model(model, shapes={"x": ("N", 1, 8)}).inputs[0].shape == (1, 8)


def test_a_network_of_another_size_is_told_from_the_model():
    net = import_model(convolution(), shapes={"x": ("N", 1, 8)})
    other = convolution(("N", 1, 9))
    with pytest.raises(ModelError, match=r"the model's inputs are 'x' \['N', 1, 9\]"):
        verify(net, other)


def test_without_shapes_the_error_says_how():
    with pytest.raises(ModelError) as raised:
        import_model(convolution())
    assert "shapes={'x': ('N', 1, 16)}" in str(raised.value)


@pytest.mark.parametrize(
    ("batch_axis", "sizes", "shape"),
    [("auto", ("N", 16, 3), (16, 3)), (None, (16, "N", 3), (16, 1, 3))],
)
def test_a_second_open_axis_is_not_taken_for_one_element(batch_axis, sizes, shape):
    """As of a set of any number of elements, which are added."""
    nodes = [node("Tanh", "x", "t"), node("ReduceSum", "t axes", "y", keepdims=0)]
    model = graph(nodes, x=("b", "n", 3), axes=np.array([1]))
    with pytest.raises(ModelError) as raised:
        import_model(model, batch_axis=batch_axis)
    assert f"shapes={{'x': {sizes}}}" in str(raised.value)
    net = import_model(model, batch_axis=batch_axis, shapes={"x": sizes})
    assert net.inputs[0].shape == shape
    assert verify(net, model, runtime="onnxruntime", batch_axis=batch_axis).passed


def test_axes_of_one_name_have_one_size():
    model = convolution(("batch", "time", "time"))
    with pytest.raises(OptionError, match=r"the axis 'time' has the sizes 1 and 8 \(shapes.x\)"):
        import_model(model, shapes={"x": ("N", 1, 8)})


WRONG = {
    "no such input": ({"z": ("N", 1, 8)}, "no input 'z'.*Its inputs are x"),
    "another rank": ({"x": ("N", 8)}, r"is \['batch_size', 1, 'time'\], not \['N', 8\]"),
    "another fixed size": ({"x": ("N", 2, 8)}, "not .'N', 2, 8."),
    "no size": ({"x": ("N", 1, 0)}, r"expected a size of 1 to 2147483647.*got 0 \(shapes.x\[2\]\)"),
    "too large a size": ({"x": ("N", 1, 2**40)}, r"expected a size of 1 to 2147483647.*x\[2\]\)"),
    "no list": ({"x": 8}, "expected a list of sizes"),
    "no mapping": (["x"], "expected a mapping"),
}


@pytest.mark.parametrize(("shapes", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_shapes_are_refused(shapes, message):
    with pytest.raises(OptionError) as raised:
        import_model(convolution(), shapes=shapes)
    assert raised.match(message) or pytest.fail(str(raised.value))


def test_the_command_line(tmp_path, capsys):
    source, target = tmp_path / "open.onnx", tmp_path / "net.json"
    source.write_bytes(convolution().SerializeToString())
    assert main(["import", str(source), str(target), "--shape", "x=N,1,8"]) == 0
    assert target.exists()
    assert main(["verify", str(target), str(source)]) == 0
    assert main(["import", str(source), str(target), "--shape", "N,1,8"]) == 2
    assert "expected NAME=SIZES" in capsys.readouterr().err
