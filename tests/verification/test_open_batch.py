"""Models that state a batch of many samples, compared on a few."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import ModelError, import_model, load_model, verify

WEIGHTS = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
@pytest.mark.parametrize("fixed", [True, False])
def test_a_large_batch_is_filled(runtime, fixed):
    """Where the graph counts on its size as well."""
    nodes = [node("MatMul", "x w", "m"), node("Reshape", "m sizes", "y")]
    sizes = np.array([2_000 if fixed else -1, 2])
    model, other = (
        load_model(graph(nodes, x=(2_000, 3), w=WEIGHTS + more, sizes=sizes)) for more in (0.0, 0.1)
    )
    net = import_model(model)
    assert verify(net, model, runtime=runtime).passed
    assert not verify(net, other, runtime=runtime).passed


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
