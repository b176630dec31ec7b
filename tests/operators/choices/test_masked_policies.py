"""Policies that mask actions: by truth values, by numbers, by the opposite, in either order."""

from itertools import product

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_valid_in_any_form, graph, node, operators
from support.harness.sweep import pairs

from neat_onnx import export, import_model, verify

BOOL, FLOAT = onnx.TensorProto.BOOL, onnx.TensorProto.FLOAT
MASKS = {  # the type of the input, and the nodes that make a condition of it
    "truth": (BOOL, [node("Identity", "mask", "may")]),
    "above": (FLOAT, [node("Greater", "mask half", "may")]),
    "cast": (FLOAT, [node("Cast", "mask", "may", to=BOOL)]),
}
CHOICES = {
    "stays": [node("Where", "may scores low", "masked")],
    "goes": [node("Where", "may low scores", "masked")],
    "opposite": [node("Not", "may", "not"), node("Where", "not low scores", "masked")],
    "of the opposite": [
        node("Not", "may", "not"), node("Not", "not", "again"),
        node("Where", "again low scores", "masked"),
    ],
}  # fmt: skip
ENDS = {
    "scores": node("Identity", "masked", "y"),
    "shares": node("Softmax", "masked", "y", axis=-1),
    "action": node("ArgMax", "masked", "y", axis=-1),
}


def policy(mask, choice, end, low):
    """A policy of five actions and its mask, [N, 5]."""
    kind, making = MASKS[mask]
    weights = np.random.default_rng(0).normal(size=(16, 5))
    model = graph(
        [node("Gemm", "x w", "scores"), *making, *CHOICES[choice], ENDS[end]],
        x=("N", 16), w=weights, half=np.array(0.5), low=np.array(low),
    )  # fmt: skip
    model.graph.input.append(onnx.helper.make_tensor_value_info("mask", kind, ["N", 5]))
    if end == "action":
        model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    return model


@pytest.mark.parametrize(
    ("choice", "mask", "end", "low"), pairs(CHOICES, MASKS, ENDS, [-np.inf, -1e8])
)
def test_a_mask_costs_little(choice, mask, end, low):
    model = policy(mask, choice, end, low)
    net = import_model(model)
    short = export(net)
    assert len(short.to_bytes()) <= 1.4 * len(model.SerializeToString())
    assert import_model(short) == net
    assert not short.metadata_props
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize(("mask", "low"), [*product(MASKS, [-np.inf, -1e8])])
def test_an_optimizer_may_take_the_opposite_away(mask, low):
    """Some write Where(c, b, a) for Where(Not(c), a, b)."""
    nets = [import_model(policy(mask, each, "shares", low)) for each in ("opposite", "stays")]
    assert nets[0] == nets[1]


@pytest.mark.parametrize("sides", [("one", "zero"), ("zero", "one")])
def test_a_choice_of_one_and_zero_is_the_number_of_the_condition(sides):
    chosen = [node("Greater", "x half", "c"), node("Where", f"c {sides[0]} {sides[1]}", "y")]
    numbers = {"half": np.array(0.5), "one": np.array(1.0), "zero": np.array(0.0)}
    net = import_model(graph(chosen, **numbers))
    inverted = [node("Not", "c", "n")] if sides[0] == "zero" else []
    cast = node("Cast", "n" if inverted else "c", "y", to=FLOAT)
    assert net == import_model(graph([chosen[0], *inverted, cast], **numbers))


def test_a_choice_of_nothing_has_no_neurons_beside_the_products():
    model = policy("above", "stays", "scores", 0.0)
    net = import_model(model)
    assert len(net) == 16 + 5 + 3 * 5  # inputs, conditions, scores, products
    assert operators(export(net)).count("Mul") == 1
