"""Models that state a batch of many samples, compared on a few."""

import numpy as np
import pytest
from graphs import graph, node
from onnx import TensorProto

from neat_onnx import ModelError, import_model, load_model, verify
from neat_onnx.verification.open_batch import loaded

WEIGHTS = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
@pytest.mark.parametrize(("rows", "opened"), [(5_000, True), (33, True), (32, False)])
def test_a_large_batch_is_opened_for_a_comparison(runtime, rows, opened):
    model = load_model(graph([node("MatMul", "x w", "y")], x=(rows, 3), w=WEIGHTS))
    net = import_model(model)
    player = loaded(net, model, runtime, as_written=True)
    assert player.fixed_batch is not opened
    assert verify(net, model, runtime=runtime).passed
    other = load_model(graph([node("MatMul", "x w", "y")], x=(rows, 3), w=WEIGHTS + 0.1))
    assert not verify(net, other, runtime=runtime).passed


def test_a_batch_that_the_graph_counts_on_stays_as_it_is():
    nodes = [node("MatMul", "x w", "m"), node("Reshape", "m sizes", "y")]
    sizes = np.array([2_000, 2])
    model = load_model(graph(nodes, x=(2_000, 3), w=WEIGHTS, sizes=sizes))
    net = import_model(model)
    assert loaded(net, model, "onnxruntime", as_written=True).fixed_batch
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_batch_of_no_samples_is_not_run():
    model = graph([node("MatMul", "x w", "y")], x=(0, 3), w=WEIGHTS)
    net = import_model(model)
    assert len(net.connections) == 6
    with pytest.raises(ModelError, match="no samples"):
        verify(net, model)


def test_a_batch_of_a_billion_samples_is_refused():
    """Runtimes have no Exp of integers, so it does not run fewer either."""
    model = graph([node("Exp", "x", "y")], x=(10**9, 3))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    with pytest.raises(ModelError, match="it takes 3000000000 elements, and the limit is"):
        import_model(model)
