"""Models that state a batch of many samples, compared on a few."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.runtimes.player import Player, loaded

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


def test_a_batch_of_no_samples_is_refused():
    model = graph([node("MatMul", "x w", "y")], x=(0, 3), w=WEIGHTS)
    with pytest.raises(ModelError, match=r"'x' has the shape \[0, 3\]"):
        import_model(model)


def test_a_batch_of_a_billion_samples_is_refused():
    """Its size is a constant of the graph, so it does not run fewer."""
    nodes = [node("MatMul", "x w", "m"), node("Reshape", "m sizes", "y")]
    model = graph(nodes, x=(10**9, 3), w=WEIGHTS, sizes=np.array([10**9, 2]))
    with pytest.raises(ModelError, match="it is too large"):
        import_model(model)


def test_where_a_difference_begins_is_found_with_the_batch_open(monkeypatch):
    nodes = [node("MatMul", "x w", "m"), node("Tanh", "m", "t"), node("MatMul", "t v", "y")]
    net = import_model(graph(nodes, x=(5_000, 3), w=WEIGHTS, v=WEIGHTS.T))
    model = export(net.without_source()).to_proto()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5_000
    next(each for each in model.graph.initializer if each.name == "B0").raw_data = b"?" * 8
    played, play = [], Player.play

    def recorded(self, x, tensors):
        played.append(self.rows_of_a_run)
        return play(self, x, tensors)

    monkeypatch.setattr(Player, "play", recorded)
    report = verify(net, model)
    assert not report.passed
    assert report.first_error and report.first_error.startswith("neuron ")
    assert set(played) == {1}
