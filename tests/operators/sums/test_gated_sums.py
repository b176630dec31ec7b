"""Layers with one gated input beside plain ones: a Gemm and a product, and the genome is theirs."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(0)


def modulated(units=8, *, weight=None):
    """A layer, times a gain each, and with a shift each that another input gives."""
    w = {name: RANDOM.normal(size=(3, units)) for name in ("layer", "gain", "shift")}
    nodes = [
        node("Split", "x halves", "u v", axis=1),
        node("MatMul", "u layer", "l"),
        node("MatMul", "v gain", "g"),
        node("MatMul", "v shift", "s"),
        node("Mul", "l g", "m"),
        *([node("Mul", "m half", "m2")] if weight else []),
        node("Add", "s m2" if weight else "s m", "a"),
        node("Tanh", "a", "y"),
    ]
    given = {"half": np.full(units, weight)} if weight else {}
    return graph(nodes, x=("N", 6), halves=[3, 3], **w, **given)


@pytest.mark.parametrize("units", [4, 8, 40])
def test_a_modulated_layer_is_a_matrix_and_a_product(units):
    net = assert_lifts(modulated(units))
    written = export(net)
    kinds = [each.op_type for each in written.graph.node]
    assert kinds.count("Gemm") == 2
    assert "ReduceSum" not in kinds
    assert "neat_onnx.genome" not in written.metadata
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


@pytest.mark.parametrize("change", [{"units": 3}, {"weight": 0.5}], ids=["few", "weighed"])
def test_others_come_back_too(change):
    net = assert_lifts(modulated(**change))
    written = export(net)
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def test_weights_of_a_mask_that_are_zero_need_no_list():
    mask = np.tri(6) * 0.5
    nodes = [
        node("Transpose", "x", "t", perm=[0, 2, 1]),
        node("MatMul", "x t", "scores"),
        node("Mul", "scores mask", "masked"),
        node("MatMul", "masked x", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 6, 4), mask=mask))
    written = export(net)
    genome = written.metadata.get("neat_onnx.genome", "")
    assert '"connections"' not in genome
    assert '"added"' not in genome
    assert import_model(written.to_json()) == net
