"""Models that state a batch, and run a single sample alone, are verified sample by sample."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node

from neat_onnx import ModelError, export, import_model, verify

_RNG = np.random.default_rng(0)


def recurrent(width: int = 4):
    """A GRU whose memory has the batch first, as early policies of ML-Agents have it."""
    nodes = [
        node("Reshape", "x shape", "r"),
        node("Transpose", "r", "t", perm=[1, 0, 2]),
        node("GRU", "t W R B _ recurrent_in", "sequence recurrent_out", hidden_size=width),
        node("Squeeze", "sequence axes", "z"),
        node("Reshape", "z flat", "y"),
    ]
    weights = {
        "W": _RNG.normal(size=(1, 3 * width, 3)),
        "R": _RNG.normal(size=(1, 3 * width, width)),
        "B": _RNG.normal(size=(1, 6 * width)),
    }
    sizes = {"shape": [-1, 1, 3], "axes": [1], "flat": [-1, width]}
    model = graph(nodes, x=("batch", 3), outputs=["y", "recurrent_out"], **weights, **sizes)
    entry = helper.make_tensor_value_info("recurrent_in", TensorProto.FLOAT, ["batch", 1, width])
    model.graph.input.append(entry)
    helper.set_model_props(model, {"neat_onnx.state": '[["recurrent_in", "recurrent_out"]]'})
    return model


def test_memory_with_the_batch_elsewhere_is_verified():
    model = recurrent()
    net = import_model(model)
    report = verify(net, model, runtime="onnxruntime")
    assert report.passed
    assert report.long_steps
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_a_difference_is_found():
    model = recurrent()
    net = import_model(model)
    weights = model.graph.initializer[1]
    changed = numpy_helper.to_array(weights) * 1.01
    weights.CopyFrom(numpy_helper.from_array(changed.astype(np.float32), weights.name))
    assert not verify(net, model, runtime="onnxruntime").passed


def test_a_model_that_runs_in_no_way_is_refused_for_all_samples():
    model = recurrent()
    net = import_model(model)
    model.graph.initializer[3].CopyFrom(numpy_helper.from_array(np.array([-1, 7, 3]), "shape"))
    with pytest.raises(ModelError, match="does not run the model"):
        verify(net, model, runtime="onnxruntime")
