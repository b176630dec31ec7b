"""Import of many connections takes little memory for each of them."""

import tracemalloc

from neat_onnx import Network, export, import_model, load_model
from neat_onnx.network.genes import is_none

SIZE = 400


def test_a_dense_layer_takes_three_numbers_for_a_connection_and_few_more_on_the_way():
    net = Network.mlp([SIZE, SIZE], seed=0)
    model = load_model(export(net, include_metadata=False).to_bytes())
    import_model(model)  # the modules are there
    tracemalloc.start()
    back = import_model(model)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert is_none(back.connections.gater)
    assert kept < 40 * SIZE**2
    assert peak < 100 * SIZE**2
