"""Softmax and normalizations: imported as neurons, found again, and written as the operator."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.routes import run_onnxruntime
from support.harness.sweep import each
from support.harness.usual_form import usual_form

from neat_onnx import Network, export, import_model, validate, verify
from neat_onnx.network.genes import owned
from neat_onnx.network.port import Port
from neat_onnx.operators.rows.find import RowFinder

SCALE, SHIFT = np.array([2.0, -3.0, 0.5]), np.array([0.5, 0.25, -1.0])
NORM = {"s": SCALE, "b": SHIFT}
FORMS = {
    "softmax": ([node("Softmax", "x", "y")], ("N", 3), {}, 18),
    "log softmax": ([node("LogSoftmax", "x", "y")], ("N", 3), {}, 18),
    "of rows": ([node("Softmax", "x", "y")], ("N", 4, 3), {}, 18),
    "along the channels": ([node("Softmax", "x", "y", axis=1)], ("N", 3, 2, 2), {}, 18),
    "from an old opset": ([node("Softmax", "x", "y", axis=1)], ("N", 2, 3), {}, 11),
    "layer norm": ([node("LayerNormalization", "x s b", "y")], ("N", 3), NORM, 18),
    "layer norm of rows": ([node("LayerNormalization", "x s b", "y")], ("N", 4, 3), NORM, 18),
    "with an activation": (
        [node("LayerNormalization", "x s b", "n"), node("Relu", "n", "y")],
        ("N", 3),
        NORM,
        18,
    ),
    "without a shift": ([node("LayerNormalization", "x s", "y")], ("N", 3), {"s": SCALE}, 18),
    "of ones": (
        [node("LayerNormalization", "x s b", "y")],
        ("N", 3),
        {"s": np.ones(3), "b": np.zeros(3)},
        18,
    ),
    "between layers": (
        [
            node("Gemm", "x w", "h"),
            node("Tanh", "h", "t"),
            node("LayerNormalization", "t s b", "n"),
            node("Gemm", "n w", "g"),
            node("Softmax", "g", "y"),
        ],
        ("N", 3),
        NORM | {"w": np.arange(9.0).reshape(3, 3) / 8 - 0.5},
        18,
    ),
    "two of one width": (
        [
            node("Softmax", "x", "a"),
            node("Neg", "x", "m"),
            node("LogSoftmax", "m", "b"),
            node("Add", "a b", "y"),
        ],
        ("N", 3),
        {},
        18,
    ),
}
BY_CHANNEL = {"s": np.array([2.0, -3.0, 0.5, 1.5]), "b": np.array([0.5, 0.25, -1.0, 2.0])}
TWO = {name: values[:2] for name, values in BY_CHANNEL.items()}
INSTANCE = node("InstanceNormalization", "x s b", "y")
FORMS |= {
    "rms": ([node("RMSNormalization", "x s", "y")], ("N", 3), {"s": SCALE}, 23),
    "rms of rows": (
        [node("RMSNormalization", "x s", "n"), node("Tanh", "n", "y")],
        ("N", 2, 3),
        {"s": SCALE},
        23,
    ),
    "instance norm": ([INSTANCE], ("N", 3, 2, 2), NORM, 18),
    "instance norm of ones": (
        [INSTANCE],
        ("N", 2, 3),
        {"s": np.ones(2), "b": np.zeros(2)},
        18,
    ),
    "group norm": (
        [node("GroupNormalization", "x s b", "y", num_groups=2)],
        ("N", 4, 3),
        BY_CHANNEL,
        21,
    ),
    "group norm of one, without space": (
        [node("GroupNormalization", "x s b", "n", num_groups=1), node("Relu", "n", "y")],
        ("N", 4),
        BY_CHANNEL,
        21,
    ),
    "unit vectors": ([node("LpNormalization", "x", "y")], ("N", 2, 3), {}, 18),
    "unit vectors of channels": (
        [node("LpNormalization", "x", "y", axis=1)],
        ("N", 3, 2, 2),
        {},
        22,
    ),
}
COMPOSED = {
    "rms, before its opset": FORMS["rms"],
    "rms with an activation": FORMS["rms of rows"],
    "group norm, before its opset": FORMS["group norm"],
    "by absolute values": ([node("LpNormalization", "x", "y", p=1)], ("N", 2, 3), {}, 18),
    "mean and variance": (
        [node("MeanVarianceNormalization", "x", "y", axes=[2])],
        ("N", 2, 3),
        {},
        18,
    ),
}
QUOTIENT = [
    node("ReduceMean", "x", "m", axes=[-1]),
    node("Sub", "x m", "d"),
    node("Pow", "d two", "q"),
    node("ReduceMean", "q", "v", axes=[-1]),
    node("Add", "v e", "w"),
    node("Sqrt", "w", "r"),
]  # of a layer norm, as exporters write it for opsets that have none
QUOTIENT_OF = {"two": np.array(2.0), "e": np.array(1e-5)}
WEIGHED = [*QUOTIENT, node("Div", "d r", "n"), node("Mul", "n s", "u"), node("Add", "u b", "y")]
COMPOSED |= {
    "a quotient": (WEIGHED, ("N", 3), NORM | QUOTIENT_OF, 14),
    "a quotient of rows, of ones": (
        WEIGHED,
        ("N", 4, 3),
        {"s": np.ones(3), "b": np.zeros(3)} | QUOTIENT_OF,
        14,
    ),
    "a quotient alone": ([*QUOTIENT, node("Div", "d r", "y")], ("N", 2, 3), QUOTIENT_OF, 14),
}
OPERATORS = ("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization",
             "InstanceNormalization", "GroupNormalization", "LpNormalization",
             "MeanVarianceNormalization")  # fmt: skip


def kinds(model):
    return sorted(each.op_type for each in model.graph.node if each.op_type in OPERATORS)


@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_as_the_operator_and_the_genome_with_it(form):
    nodes, x, constants, opset = FORMS[form]
    model = graph(nodes, x=x, opset=opset, **constants)
    net = assert_lifts(model)
    again = export(net, opset=max(opset, 18))
    assert kinds(again) == sorted(each.op_type for each in nodes if each.op_type in OPERATORS)
    assert validate(again) == []
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net
    assert import_model(again.model_copy(update={"metadata_props": []})).activate(
        np.ones(net.input_neurons.size)
    ) == pytest.approx(net.activate(np.ones(net.input_neurons.size)), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", COMPOSED)
def test_its_parts_are_written_where_no_runtime_has_the_operator(form, dtype):
    nodes, x, constants, opset = COMPOSED[form]
    net = assert_lifts(graph(nodes, x=x, opset=opset, **constants))
    net = replace(net, operators=())
    model = export(net, dtype=dtype)
    assert kinds(model) == []
    assert len(model.graph.node) <= 16
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    plain = usual_form(net, dtype=dtype)
    again = usual_form(import_model(plain.to_json()), dtype=dtype)
    assert again.to_json() == plain.to_json()


def test_groups_without_weights_are_instances_before_the_operator_is_there():
    nodes, x, _, opset = FORMS["group norm"]
    net = assert_lifts(graph(nodes, x=x, opset=opset, s=np.ones(4), b=np.zeros(4)))
    for dtype, wanted in (("float32", ["InstanceNormalization"]), ("float64", [])):
        model = export(net, dtype=dtype, opset=18)
        assert kinds(model) == wanted
        assert verify(net, model, samples=16, runtime="onnxruntime").passed
        assert import_model(model.to_json()) == net


def test_weights_of_ones_are_neurons_in_float64_too():
    """A layer norm that was not trained: its parts would be the same values without them."""
    nodes = [node("LayerNormalization", "x s b", "n"), node("Tanh", "n", "y")]
    for bias in (np.zeros(3), np.array([0.0, 0.5, 0.0])):
        net = assert_lifts(graph(nodes, x=("N", 3), s=np.ones(3), b=bias))
        model = export(net, dtype="float64")
        assert kinds(model) == []
        assert verify(net, model, samples=16, runtime="onnxruntime").passed
        assert import_model(model.to_json()) == net


MASKING = [node("Cast", "there", "t", to=9), node("Where", "t x none", "m")]
MASKED = {  # whether elements are there
    "causal": np.tri(4),
    "of two heads": np.tri(3)[None].repeat(2, axis=0),
    "with a hole": np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", MASKED)
def test_rows_that_a_mask_shortens_are_one_softmax(form, dtype):
    there = MASKED[form]
    nodes = [*MASKING, node("Softmax", "m", "s"), node("Mul", "s w", "y")]
    constants = {"there": there, "none": np.array(-np.inf), "w": np.arange(1.0, 1 + there.size)}
    constants["w"] = constants["w"].reshape(there.shape)
    net = assert_lifts(graph(nodes, x=("N", *there.shape), **constants))
    model = export(net, dtype=dtype)
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")
    plain = usual_form(net, dtype=dtype)
    assert kinds(export(import_model(plain.to_json()), dtype=dtype)) == ["Softmax"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shares_that_nobody_reads_may_be_missing(dtype):
    """The mean of a distribution over values, of which one is 0, as distributional critics have."""
    nodes = [node("Softmax", "x", "s"), node("Mul", "s at", "w"),
             node("ReduceSum", "w axis", "y", keepdims=0)]  # fmt: skip
    values = np.array([-1.0, 0.0, 0.5, 2.0])
    net = assert_lifts(graph(nodes, x=("N", 3, 4), at=values, axis=np.array([2])))
    model = export(net, dtype=dtype)
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")


def test_a_changed_gene_of_a_masked_row_changes_the_model():
    nodes = [
        node("Cast", "there", "t", to=9),
        node("Where", "t x none", "m"),
        node("Softmax", "m", "y"),
    ]
    constants = {"there": np.tri(3), "none": np.array(-np.inf)}
    net = import_model(graph(nodes, x=("N", 3, 3), **constants))
    x = np.random.default_rng(0).normal(size=(5, 9))
    for edge in each(7, range(len(net.connections))):
        other = changed(net, edge, 0.125)
        model = export(other)
        np.testing.assert_allclose(
            run_onnxruntime(model, other, x), other.activate(x), rtol=1e-4, atol=1e-5
        )
        assert import_model(model.to_json()) == other


def test_neurons_that_read_a_row_each_stay_neurons_of_their_own():
    """Import would take a function of a normalization's result for the result's own."""
    nodes = [node("InstanceNormalization", "x s b", "n"), node("Mul", "n g", "w"),
             node("Add", "w h", "v"), node("Relu", "v", "y")]  # fmt: skip
    constants = {"s": np.ones(2), "b": np.zeros(2), "g": np.ones((2, 1)), "h": np.zeros((2, 1))}
    net = assert_lifts(graph(nodes, x=("N", 2, 8), **constants))
    model = export(net)
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")
    assert import_model(model.to_json()) == net


def test_a_vector_of_zeros_and_a_row_of_equal_elements_stay_finite():
    for name in ("unit vectors", "by absolute values", "mean and variance"):
        nodes, x, constants, opset = (FORMS | COMPOSED)[name]
        net = import_model(graph(nodes, x=x, opset=opset, **constants))
        model = export(net)
        for row in (np.zeros((1, 6)), np.ones((1, 6))):
            np.testing.assert_allclose(run_onnxruntime(model, net, row), net.activate(row),
                                       atol=1e-6)  # fmt: skip


def changed(net: Network, edge: int, by: float) -> Network:
    weight = net.connections.weight.copy()
    weight[edge] += by
    return replace(net, connections=replace(net.connections, weight=owned(weight)))


SAID = {  # forms, and how many of their weights the operator holds
    "softmax": (*FORMS["softmax"], 0),
    "log softmax": (*FORMS["log softmax"], 0),
    "layer norm": (*FORMS["layer norm"], 3),
    "rms": (*FORMS["rms"], 3),
    "instance norm": ([INSTANCE], ("N", 1, 2), {"s": np.ones(1), "b": np.ones(1)}, 18, 1),
    "group norm": (
        [node("GroupNormalization", "x s b", "y", num_groups=1)],
        ("N", 2),
        TWO,
        21,
        2,
    ),
    "unit vector": ([node("LpNormalization", "x", "y")], ("N", 3), {}, 18, 0),
    "a quotient": (*COMPOSED["a quotient"], 3),
}


@pytest.mark.parametrize("form", SAID)
def test_any_gene_that_the_operator_cannot_say_is_written_neuron_by_neuron(form):
    nodes, shape, constants, opset, weights = SAID[form]
    net = import_model(graph(nodes, x=shape, opset=opset, **constants))
    x = np.random.default_rng(0).normal(size=(5, len(net.input_neurons)))
    usual = usual_form(net, opset=opset)
    written = [each.op_type for each in usual.graph.node]
    kept = 0
    for edge in range(len(net.connections)):
        other = changed(net, edge, 0.125)
        model = usual_form(other, opset=opset)
        kept += [each.op_type for each in model.graph.node] == written
        np.testing.assert_allclose(
            run_onnxruntime(model, other, x), other.activate(x), rtol=1e-4, atol=1e-5
        )
    assert kept == weights


def test_a_shift_of_one_element_is_no_shift_of_a_channel():
    nodes, shape, constants, opset = FORMS["instance norm"]
    net = import_model(graph(nodes, x=shape, opset=opset, **constants))
    assert kinds(export(net)) == ["InstanceNormalization"]
    bias = net.neurons.bias.copy()
    bias[net.output_neurons[5]] += 0.5
    other = replace(net, neurons=replace(net.neurons, bias=owned(bias)))
    model = export(other)
    assert kinds(model) == ["InstanceNormalization"]  # of the other channels
    assert verify(other, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == other


def test_a_row_whose_inside_is_read_from_outside_is_no_row():
    nodes = [node("Softmax", "x", "y"), node("Neg", "x", "m")]
    net = import_model(graph(nodes, outputs=("y", "m")))
    assert kinds(export(net)) == ["Softmax"]
    genes = net.connections
    largest = int(np.flatnonzero(net.aggregation_names == "max")[0])
    source = np.where(genes.target == net.outputs[1].neurons[0], largest, genes.source)
    reader = replace(net, connections=replace(genes, source=owned(source)))
    assert kinds(export(reader)) == []
    shown = replace(net, outputs=(*net.outputs, Port("largest", (1,), np.array([largest]))))
    assert kinds(export(shown)) == []


def test_float64_has_the_softmax_and_no_normalization():
    net = import_model(graph([node("Softmax", "x", "y")], x=("N", 3)))
    model = export(net, dtype="float64")
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, runtime="onnxruntime").normalised_mse <= 1e-24
    norm = import_model(graph([node("LayerNormalization", "x s b", "y")], x=("N", 3), **NORM))
    assert kinds(export(norm, dtype="float64")) == []
    assert kinds(export(norm, opset=16)) == []


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_along_any_axis_it_is_one_node_and_the_genome_keeps_its_order(operator, axis):
    model = graph([node(operator, "x", "y", axis=axis)], x=("N", 3, 4, 5))
    net = assert_lifts(model)
    written = export(net)
    assert [each.op_type for each in written.graph.node] == [operator]
    assert "neat_onnx.genome" not in written.metadata
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def test_shares_of_a_product_are_computed_where_it_stands():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 1, 3, 2]),
        node("MatMul", "x t", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares x", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 2, 6, 4)))
    written = export(net)
    assert [each.op_type for each in written.graph.node].count("Reshape") == 0
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(("axes", "keepdims"), [([1], 0), ([2], 1), ([2, 3], 0), ([-1], 0)])
@pytest.mark.parametrize("opset", [13, 18])
def test_the_logarithm_of_the_sum_of_exponentials_is_one_node(axes, keepdims, opset):
    given = {"axes": axes} if opset == 18 else {}
    attributes = {"keepdims": keepdims} | ({} if given else {"axes": axes})
    reduced = node("ReduceLogSumExp", "x axes" if given else "x", "y", **attributes)
    net = assert_lifts(graph([reduced], x=("N", 3, 4, 5), opset=opset, **given))
    for made in (export(net), export(net, opset=opset), export(net, dtype="float64")):
        found = [each.op_type for each in made.graph.node]
        assert found.count("ReduceLogSumExp") == 1
        assert {*found} <= {"ReduceLogSumExp", "Flatten", "Reshape"}
        assert verify(net, made, runtime="onnxruntime").passed
        assert import_model(made.to_json()) == net


def test_a_row_may_have_one_element_repeatedly_and_others_may_read_it():
    """As masks have it that are no infinities."""
    mask = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0]])
    nodes = [
        node("Cast", "mask", "b", to=9),
        node("Where", "b low x", "m"),
        node("Softmax", "m", "s"),
        node("Sin", "x", "t"),
        node("Add", "s t", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 4, 4), mask=mask, low=np.array(-1e9)))
    written = export(net)
    assert kinds(written) == ["Softmax"]
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def test_no_neuron_reads_another_inside_of_a_node(monkeypatch):
    monkeypatch.setattr(RowFinder, "_is_closed", lambda *_: True)  # a planner's mistake
    nodes = [
        node("ReduceMax", "x last", "m"),
        node("Sub", "x m", "d"),
        node("Exp", "d", "e"),
        node("ReduceSum", "e last", "t"),
        node("Div", "e t", "s"),
        node("MatMul", "e w", "p"),
        node("Concat", "s p", "y", axis=1),
    ]
    net = assert_lifts(graph(nodes, last=[1], w=np.array([[1.0], [2.0], [3.0]])))
    with pytest.raises(AssertionError, match="in no tensor so far"):
        export(net)
