"""Sums that exporters of evolved networks write input by input are the neurons they came from."""

from typing import Any

import numpy as np
import onnx
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model

_RNG = np.random.default_rng(0)


def evolved(genes: dict[str, list[str]], inputs: int = 3, response: float = 1.0) -> onnx.ModelProto:
    """Neurons by name, with their sources: each product is added to a sum that begins with 0."""
    nodes = [node("Gather", f"x at{k}", f"i{k}", axis=1) for k in range(inputs)]
    nodes += [node("Shape", "i0", "shape"), node("ConstantOfShape", "shape", "zeros")]
    constants: dict[str, Any] = {f"at{k}": k for k in range(inputs)} | {"r": response, "last": [1]}
    for name, sources in genes.items():
        total = "zeros"
        for k, source in enumerate(sources):
            nodes += [node("Mul", f"{name}w{k} {source}", f"{name}p{k}"),
                      node("Add", f"{total} {name}p{k}", f"{name}s{k}")]  # fmt: skip
            constants[f"{name}w{k}"], total = float(_RNG.normal()), f"{name}s{k}"
        nodes += [
            node("Mul", f"{total} r", f"{name}m"),
            node("Add", f"{name}m {name}b", f"{name}a"),
            node("Tanh", f"{name}a", name),
        ]
        constants[f"{name}b"] = float(_RNG.normal())
    nodes += [node("Unsqueeze", f"{list(genes)[-1]} last", "u"), node("Concat", "u", "y", axis=1)]
    return graph(nodes, x=("N", inputs), **constants)


def test_each_is_one_neuron_with_a_connection_for_each_product():
    genes = {"h": ["i0", "i1"], "g": ["h", "i2", "i0"], "o": ["g", "h", "i1"]}
    model = evolved(genes)
    net = assert_lifts(model)
    assert len(net) == 6
    assert len(net.connections) == 8
    assert net.activation_names.tolist()[3:] == ["tanh"] * 3
    assert import_model(export(net)) == net
    assert len(export(net).to_bytes()) < model.ByteSize()


def test_a_response_is_one():
    net = assert_lifts(evolved({"h": ["i0", "i1"], "o": ["h", "i2"]}, response=0.5))
    assert len(net) == 5
    assert net.neurons.response.tolist()[3:] == [0.5, 0.5]


def test_a_source_that_occurs_twice_keeps_both_weights():
    net = assert_lifts(evolved({"h": ["i0", "i1", "i0"], "o": ["h", "h", "h"]}))
    assert import_model(export(net)) == net


def test_a_sum_that_something_else_reads_stays():
    model = evolved({"h": ["i0", "i1"], "o": ["h", "hs0", "i2"]})
    net = assert_lifts(model)
    assert net.aggregation_names.tolist()[3:] == ["sum"] * (len(net) - 3)
    assert import_model(export(net)) == net
