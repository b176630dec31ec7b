"""Squeeze in place of a reduction of one element, as optimizers write it."""

import json
from pathlib import Path

import numpy as np
from onnx import helper

import neat_onnx

CASE = Path(__file__).parents[1] / "corpora" / "np-atom-agg-median.json"


def test_a_median_of_few_is_known_when_its_reduction_became_a_squeeze():
    net = neat_onnx.load_network(json.loads(CASE.read_text())["source"])
    proto = neat_onnx.export(net, include_metadata=False).to_proto()
    chosen = {node.output[0]: node for node in proto.graph.node if node.op_type == "TopK"}
    changed = 0
    for node in proto.graph.node:
        if node.op_type == "ReduceMax" and node.input[0] in chosen:
            axes, name = list(node.input), node.name
            node.CopyFrom(helper.make_node("Squeeze", axes, list(node.output), name))
            changed += 1
    assert changed
    back = neat_onnx.import_model(proto)
    x = np.random.default_rng(0).normal(size=(6, len(net.input_neurons)))
    np.testing.assert_allclose(back.activate(x), net.activate(x), rtol=1e-5, atol=1e-6)
