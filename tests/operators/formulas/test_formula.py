"""Formulas to nodes and back: complete, in both types, and one spelling for each."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.playing import played
from support.harness.sessions import open_session

from neat_onnx import ModelError, Network, export, import_model, load_model, verify
from neat_onnx.libraries.sharpneat.names import ACTIVATION_NAMES
from neat_onnx.lifting.recognition import known_activation, known_aggregation
from neat_onnx.model import DataType
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.expression import (
    PRIMITIVES,
    VARIABLE,
    clip,
    exp,
    relu,
    scalar_slope,
    sigmoid,
    tanh,
)
from neat_onnx.network.runtime_formulas import earlier_writing, writable
from neat_onnx.operators.formulas.formula import RULES, emits

z = VARIABLE
TYPES = (DataType.FLOAT, DataType.DOUBLE)


def primitives(formula) -> set[str]:
    return {formula.op}.union(*(primitives(part) for part in formula.args))


@pytest.mark.parametrize("data_type", TYPES)
def test_every_activation_can_be_written_and_is_recognised(data_type):
    for name, activation in ACTIVATIONS.items():
        formula = writable(activation.expression, data_type.dtype)
        assert primitives(formula) <= {*RULES, "variable", "constant"}, name
        assert known_activation(formula, data_type) == (name, 1.0)


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("inputs", [1, 2, 3, 4, 7])
def test_every_aggregation_can_be_written_and_is_recognised(data_type, inputs):
    for name, aggregation in AGGREGATIONS.items():
        formula = writable(aggregation.expression(inputs), data_type.dtype)
        assert primitives(formula) <= {*RULES, "variable", "constant"}, name
        if not aggregation.linear:
            found = known_aggregation(formula, inputs, data_type)
            same = AGGREGATIONS[found].expression(inputs) == aggregation.expression(inputs)
            assert found == name or same  # a median of one is a maximum


def test_every_primitive_can_be_written():
    for name in PRIMITIVES:
        assert name in RULES, name


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_what_is_written_in_float64_is_the_same_function(name):
    formula = ACTIVATIONS[name].expression
    x = np.concatenate([np.linspace(-90, 90, 181), np.linspace(-2, 2, 101)])
    got = writable(formula, DataType.DOUBLE.dtype).evaluate(x)
    np.testing.assert_allclose(got, formula.evaluate(x), rtol=1e-14, atol=1e-14)


# Their libraries write e^x - 1, which has no more digits either where x is next to 0.
SHORT_OF_DIGITS = {"elu", "selu"}


@pytest.mark.parametrize("name", sorted({*ACTIVATIONS} - SHORT_OF_DIGITS))
def test_small_values_keep_their_digits_in_float64(name):
    """A large gate makes them count: softplus of -40 is 4e-18, and not 0."""
    formula = ACTIVATIONS[name].expression
    sizes = np.logspace(-30, 2.8, 200)
    x = np.concatenate([-sizes, sizes])
    with np.errstate(all="ignore"):
        want = formula.evaluate(x)
        got = writable(formula, DataType.DOUBLE.dtype).evaluate(x)
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_a_sigmoid_keeps_its_tail_where_values_grow():
    """ONNX Runtime's is 0 below -37 in float64: times a value that grows, that is another one."""
    net = Network.build(
        inputs=1,
        outputs=[7],
        neurons=[{"id": 5, "activation": "swish"}, {"id": 6}, {"id": 7}],
        connections=[
            (0, 5, 1.0),
            {"source": 6, "target": 6, "weight": 1e30, "delay": 1, "reads_state": True},
            (0, 6, 1.0),
            {"source": 6, "target": 7, "weight": 1.0, "gater": 5},
        ],
    )
    x = np.full((4, 1, 1), -200.0)
    model = export(net, dtype="float64")
    np.testing.assert_allclose(played(model, x), net.run(x), rtol=1e-12)
    assert import_model(model.to_json()) == net
    assert "Sigmoid" in [node.op_type for node in export(net).graph.node]


@pytest.mark.parametrize("name", ["softplus", "mish", "neat_softplus", "elu"])
def test_the_earlier_writing_is_recognised(name):
    formula = ACTIVATIONS[name].expression
    earlier = earlier_writing(formula, DataType.DOUBLE.dtype)
    assert earlier != writable(formula, DataType.DOUBLE.dtype)
    assert known_activation(earlier, DataType.DOUBLE) == (name, 1.0)


@pytest.mark.parametrize(
    ("formula", "slope", "core"),
    [
        (sigmoid(5.0 * z), 5.0, sigmoid(z)),
        (tanh(2.0 * z) * (2.0 * z), 2.0, tanh(z) * z),
        (tanh(2.0 * z) * z, 1.0, tanh(2.0 * z) * z),
        (clip(5.0 * z, -1.0, 1.0), 5.0, clip(z, -1.0, 1.0)),
        (1.0 - z, 1.0, 1.0 - z),
        (3.0 * z, 3.0, z),
        (exp(-(2.0 * (z * z))), 1.0, exp(-(2.0 * (z * z)))),
    ],
)
def test_the_slope_of_a_formula(formula, slope, core):
    assert scalar_slope(formula) == (slope, core)


def test_a_slope_of_another_tool_is_the_neurons():
    name, factor = known_activation(sigmoid(3.0 * z), DataType.FLOAT) or ("", 0.0)
    x = np.linspace(-2.0, 2.0, 9)
    got = ACTIVATIONS[name](x / factor)
    np.testing.assert_allclose(got, sigmoid(3.0 * z).evaluate(x), rtol=1e-15)
    assert known_activation(relu(exp(z)), DataType.FLOAT) is None
    assert known_activation(tanh(0.0 * z), DataType.FLOAT) is None


def test_two_rules_for_one_primitive_are_refused():
    with pytest.raises(ModelError, match="two rules emit the primitive sigmoid"):
        emits("sigmoid")(RULES["sigmoid"])


def test_a_number_added_to_a_value_that_others_read_is_a_part_of_their_formula():
    nodes = [
        node("Gemm", "x w b", "z"),
        node("Sub", "z zero", "less"),
        node("Abs", "less", "size"),
        node("Neg", "size", "minus"),
        node("Exp", "minus", "small"),
        node("Add", "small one", "more"),
        node("Log", "more", "bent"),
        node("Max", "z zero", "top"),
        node("Add", "top bent", "y"),
    ]
    net = assert_lifts(graph(nodes, w=np.eye(3), b=np.ones(3), zero=0.0, one=1.0))
    assert len(net) == 6


def test_a_number_added_twice_is_a_bias():
    nodes = [
        node("Tanh", "x", "h"),
        node("Sub", "one h", "less"),
        node("Add", "less one", "more"),
        node("Gemm", "more w", "z"),
        node("Add", "h z", "y"),
    ]
    net = assert_lifts(graph(nodes, w=np.ones((3, 3)), one=1.0))
    assert set(net.activation_names.tolist()) == {"identity", "tanh"}
    assert net.neurons.bias[net.neurons.bias != 0].tolist() == [2.0] * 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_logarithm_of_a_sigmoid_keeps_its_tail(dtype):
    nodes = [node("Gemm", "x w", "z"), node("Sigmoid", "z", "h"), node("Log", "h", "y")]
    net = assert_lifts(graph(nodes, w=np.eye(3)))
    assert len(net) == 6
    x = np.array([[-800.0, -60.0, -20.0], [-1.0, 0.0, 30.0]])
    want = -np.logaddexp(0.0, -x)
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-12)
    session = open_session(export(net, dtype=dtype))
    (got,) = session.run(None, {"x": x.astype(dtype)})
    np.testing.assert_allclose(got, want, rtol=1e-12 if dtype == "float64" else 1e-6)


def test_a_logarithm_of_sigmoids_that_others_wrote_stays():
    text = "formula: log(sigmoid(z))"
    for activation in (text, "sigmoid"):
        net = Network.mlp([2, 4, 4], activation=activation, seed=0)
        assert import_model(export(net)) == net


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "formula",
    [
        ACTIVATION_NAMES["PolynomialApproximantSteep"],
        "formula: 2.0 * asinh(z) + 1.0",
        "formula: where(greater(z, 0.0), 1.0 / (1.0 + exp(z)), log(abs(z) + 1.0))",
    ],
)
def test_a_choice_that_no_gates_can_make_is_one_formula(formula, dtype):
    net = Network.build(
        inputs=1,
        outputs=[3],
        neurons=[{"id": 2, "activation": formula, "bias": 0.5}, {"id": 3, "activation": "tanh"}],
        connections=[(0, 2, 1.5), (2, 3, 0.5)],
    )
    model = export(net, dtype=dtype)
    assert verify(net, model, samples=16).passed
    assert import_model(load_model(model.to_json())) == net


def test_negated_twice_and_integers_cut_off_are_the_same_functions():
    twice = [node("Greater", "x zero", "g"), node("Not", "g", "n"), node("Not", "n", "m")]
    assert_lifts(graph([*twice, node("Cast", "m", "y", to=1)], zero=0.0))
    signs = [node("Sign", "x", "s"), node("Cast", "s", "i", to=7), node("Cast", "i", "y", to=1)]
    assert_lifts(graph(signs))
