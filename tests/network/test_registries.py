"""Activations and aggregations of users: registered, refused, forgotten."""

import math

import numpy as np
import pytest

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import (
    ACTIVATIONS,
    activation_named,
    register_activation,
    unregister_activation,
)
from neat_onnx.network.aggregations import (
    AGGREGATIONS,
    aggregation_named,
    register_aggregation,
    unregister_aggregation,
)
from neat_onnx.network.expression import VARIABLE, constant, largest, sigmoid, smallest, tanh, total

KINDS = {
    "activation": (ACTIVATIONS, register_activation, unregister_activation, activation_named,
                   lambda z: tanh(7.0 * z), 0.1, math.tanh(0.7)),
    "aggregation": (AGGREGATIONS, register_aggregation, unregister_aggregation, aggregation_named,
                    lambda v, k: largest(v) - smallest(v), [1.0, 4.0], 3.0),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_registering_ones_own(kind):
    table, register, unregister, named, formula, value, wanted = KINDS[kind]
    register("steep", formula)
    try:
        assert not table["steep"].builtin
        np.testing.assert_allclose(named("steep")(np.array([value])), [wanted])
        with pytest.raises(NetworkError, match="registered already"):
            register("steep", formula)
    finally:
        unregister("steep")
    with pytest.raises(NetworkError, match=f"unknown {kind} 'steep'") as caught:
        named("steep")
    assert f"register_{kind}" in caught.value.hint and min(table) in caught.value.hint
    for name in (min(table), "nobody"):
        with pytest.raises(NetworkError, match=name):
            unregister(name)
    assert len(table) > 5


def test_an_activation_has_one_name():
    with pytest.raises(NetworkError, match="the same formula as the activation 'swish'"):
        register_activation("silu", lambda z: z * sigmoid(z))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["", " ", "a ", "two\nlines", "formula: z", 3, None])
def test_what_is_no_name(kind, name):
    with pytest.raises(NetworkError, match="name"):
        KINDS[kind][1](name, KINDS[kind][4])


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        *(("activation", each) for each in (
            None, "tanh", lambda: tanh(VARIABLE), lambda z: 1.0, lambda z: constant(1.0), np.tanh,
            math.tanh, total, lambda z: z if z > 0 else 0.0, lambda z: 1 / 0,
        )),
        *(("aggregation", each) for each in (
            None, 3.0, largest, lambda v, k: v, lambda v, k: 1.0, lambda v, k: np.max(v),
        )),
    ],
)  # fmt: skip
def test_what_is_no_formula(kind, formula):
    before = dict(KINDS[kind][0])
    with pytest.raises(NetworkError, match="'own'") as caught:
        KINDS[kind][1]("own", formula)
    assert "\n" not in str(caught.value)
    assert before == KINDS[kind][0]
