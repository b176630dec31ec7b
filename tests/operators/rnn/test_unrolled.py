"""RNN, LSTM and GRU over a sequence of fixed length: neurons for every step, and one node again."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from unrolled_layers import BACK, GATES, INPUTS, STEPS, UNITS, layer, weights

from neat_onnx import export, import_model, verify

T = 4


def prefixed(prefix, given):
    return {f"{prefix}{name}": values for name, values in given.items()}


LAST = [node("Gather", "h last", "l"), node("Squeeze", "l one", "y")]
ENDS = {"last": np.array(-1), "one": np.array([0])}
START = [
    node("Flatten", "x", "f"),
    node("Gemm", "f kh", "p"),
    node("Tanh", "p", "a"),
    node("Gemm", "f kc", "q"),
    node("Unsqueeze", "a first", "i"),
    node("Unsqueeze", "q first", "j"),
]
STARTED = {
    name: np.random.default_rng(k).normal(size=(T * INPUTS, UNITS)).round(2)
    for k, name in enumerate(("kh", "kc"))
} | {"first": [0]}
FORMS = {
    "every step of an LSTM": ([STEPS, layer("LSTM"), BACK], weights("LSTM"), ["LSTM"]),
    "every step of a GRU": ([STEPS, layer("GRU"), BACK], weights("GRU"), ["GRU"]),
    "a GRU that resets before the product": (
        [STEPS, layer("GRU", linear=False), BACK],
        weights("GRU"),
        ["GRU"],
    ),
    "and begins at a computed state": (
        [STEPS, *START[:3], START[4], layer("GRU", start="_ i", linear=False), BACK],
        weights("GRU") | STARTED,
        ["GRU"],
    ),
    "every step of an RNN": ([STEPS, layer("RNN"), BACK], weights("RNN"), ["RNN"]),
    "an RNN of Relu": (
        [STEPS, layer("RNN", activations=["Relu"]), *LAST],
        weights("RNN") | ENDS,
        ["RNN"],
    ),
    "an RNN both ways": (
        [STEPS, layer("RNN", direction="bidirectional"), BACK],
        weights("RNN", 2),
        ["RNN", "RNN"],
    ),
    "an RNN from a computed state": (
        [STEPS, *START[:3], START[4], layer("RNN", start="_ i"), BACK],
        weights("RNN") | STARTED,
        ["RNN"],
    ),
    "an RNN from where another one ends": (
        [
            STEPS,
            node("RNN", "s w r b", "a e", hidden_size=UNITS),
            layer("RNN", prefix="g", start="_ e"),
            BACK,
        ],
        weights("RNN") | prefixed("g", weights("RNN", seed=1)),
        ["RNN", "RNN"],
    ),
    "two layers of an RNN": (
        [
            STEPS,
            layer("RNN", y="a"),
            node("Squeeze", "a one", "c"),
            layer("RNN", x="c", prefix="g"),
            BACK,
        ],
        weights("RNN") | prefixed("g", weights("RNN", inputs=UNITS, seed=1)) | {"one": [1]},
        ["RNN", "RNN"],
    ),
    "an LSTM and the memory that it ends with": (
        [STEPS, layer("LSTM", y="h e c"), BACK, node("Squeeze", "c one", "z")],
        weights("LSTM") | {"one": [0]},
        ["LSTM"],
    ),
    "both states that an LSTM ends with, backwards": (
        [
            STEPS,
            layer("LSTM", y="h e c", direction="reverse"),
            node("Squeeze", "c one", "y"),
            node("Squeeze", "e one", "z"),
        ],
        weights("LSTM") | {"one": [0]},
        ["LSTM"],
    ),
    "an LSTM that begins where another one ends": (
        [STEPS, layer("LSTM", y="a e c"), layer("LSTM", prefix="g", start="_ e c"), BACK],
        weights("LSTM") | prefixed("g", weights("LSTM", seed=1)),
        ["LSTM", "LSTM"],
    ),
    "an LSTM of other activations": (
        [STEPS, layer("LSTM", activations=["Sigmoid", "Softsign", "Relu"]), BACK],
        weights("LSTM"),
        ["LSTM"],
    ),
    "an LSTM of Keras, whose gates are hard": (
        [STEPS, layer("LSTM", activations=["HardSigmoid", "Tanh", "Tanh"]), BACK],
        weights("LSTM"),
        ["LSTM"],
    ),
    "hard gates of other slopes": (
        [
            STEPS,
            layer(
                "GRU",
                activations=["HardSigmoid", "Tanh"],
                activation_alpha=[0.25],
                activation_beta=[0.375],
            ),
            BACK,
        ],
        weights("GRU"),
        ["GRU"],
    ),
    "a GRU of other activations, backwards": (
        [STEPS, layer("GRU", activations=["Sigmoid", "Relu"], direction="reverse"), BACK],
        weights("GRU"),
        ["GRU"],
    ),
    "the last step": ([STEPS, layer("LSTM"), *LAST], weights("LSTM") | ENDS, ["LSTM"]),
    "backwards": (
        [STEPS, layer("LSTM", direction="reverse"), BACK],
        weights("LSTM"),
        ["LSTM"],
    ),
    "both ways": (
        [STEPS, layer("GRU", direction="bidirectional"), BACK],
        weights("GRU", 2),
        ["GRU", "GRU"],
    ),
    "two layers": (
        [
            STEPS,
            layer("LSTM", y="a"),
            node("Squeeze", "a one", "c"),
            layer("GRU", x="c", prefix="g"),
            BACK,
        ],
        weights("LSTM") | prefixed("g", weights("GRU", inputs=UNITS, seed=1)) | {"one": [1]},
        ["GRU", "LSTM"],
    ),
    "without a bias": (
        [STEPS, node("LSTM", "s w r", "h", hidden_size=UNITS), BACK],
        {name: values for name, values in weights("LSTM").items() if name != "b"},
        ["LSTM"],
    ),
    "a GRU from a computed state": (
        [STEPS, *START[:3], START[4], layer("GRU", start="_ i"), BACK],
        weights("GRU") | STARTED,
        ["GRU"],
    ),
    "an LSTM from two computed states": (
        [STEPS, *START, layer("LSTM", start="_ i j"), BACK],
        weights("LSTM") | STARTED,
        ["LSTM"],
    ),
    "an LSTM whose memory begins as a tanh": (
        [STEPS, *START, layer("LSTM", start="_ j i"), BACK],
        weights("LSTM") | STARTED,
        ["LSTM"],
    ),
    "from where another one ends": (
        [
            STEPS,
            node("GRU", "s w r b", "a e", hidden_size=UNITS, linear_before_reset=1),
            layer("GRU", prefix="g", start="_ e"),
            BACK,
        ],
        weights("GRU") | prefixed("g", weights("GRU", seed=1)),
        ["GRU", "GRU"],
    ),
    "from scaled inputs to a softmax": (
        [
            node("Mul", "x f", "m"),
            node("Transpose", "m", "s", perm=[1, 0, 2]),
            layer("LSTM"),
            node("Squeeze", "h one", "q"),
            node("Transpose", "q", "k", perm=[1, 0, 2]),
            node("Softmax", "k", "y"),
        ],
        weights("LSTM") | {"f": np.array([2.0, 0.5]), "one": [1]},
        ["LSTM"],
    ),
}


def kinds(model):
    return sorted(each.op_type for each in model.graph.node if each.op_type in GATES)


def imported(form):
    nodes, constants, wanted = FORMS[form]
    outputs = [name for name in "yz" if any(name in each.output for each in nodes)]
    model = graph(nodes, x=("N", T, INPUTS), outputs=outputs, **constants)
    return assert_lifts(model), wanted


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"fused_recurrent": False}])
def test_it_is_written_step_by_step_where_no_node_is_wanted(options):
    net, _ = imported("every step of an LSTM")
    model = export(net, **options)
    assert kinds(model) == []
    assert verify(net, model, samples=16, runtime="onnxruntime").passed


@pytest.mark.parametrize("operator", GATES)
def test_a_constant_start_is_one_of_neurons(operator):
    start = {name: np.array([[[0.5, -1.0, 0.25 * k]]]) for k, name in enumerate("ij")}
    names = layer(operator, start="_ i j" if operator == "LSTM" else "_ i")
    net = import_model(graph([STEPS, names, BACK], x=(1, T, INPUTS), **weights(operator), **start))
    again = export(net)
    assert kinds(again) == [operator]
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net


@pytest.mark.parametrize(
    ("operator", "starts", "ends"), [("GRU", "h0", "hn"), ("LSTM", "h0 c0", "hn cn")]
)
@pytest.mark.filterwarnings("ignore:by their names")
def test_a_sequence_begins_where_the_one_before_ended(operator, starts, ends):
    last = layer(operator, y=f"h {ends}", start=f"_ {starts}")
    results = ("y", *ends.split())
    states = dict.fromkeys(starts.split(), (1, 1, UNITS))
    nodes, given = [STEPS, last, BACK], weights(operator)
    model = graph(nodes, x=(1, T, INPUTS), beside=states, outputs=results, **given)
    net = import_model(model)
    assert net.has_memory
    again = export(net)
    assert kinds(again) == [operator]
    assert "Gemm" not in {each.op_type for each in again.graph.node}  # no step stands alone
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net


@pytest.mark.parametrize("start", ["_ i", "_ _ i"])
def test_one_state_of_two_may_be_zero(start):
    values = {"i": np.full((1, 1, UNITS), 0.5)}
    nodes = [STEPS, layer("LSTM", start=start), BACK]
    net = import_model(graph(nodes, x=(1, T, INPUTS), **weights("LSTM"), **values))
    again = export(net)
    assert kinds(again) == ["LSTM"]
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net


def test_layers_of_the_same_weights_one_upon_the_other_are_a_node_each():
    given = weights("LSTM", inputs=UNITS)
    nodes = [STEPS, layer("LSTM", y="a"), node("Squeeze", "a one", "c"), layer("LSTM", x="c"), BACK]
    net = assert_lifts(graph(nodes, x=("N", T, UNITS), one=[1], **given))
    model = export(net)
    assert kinds(model) == ["LSTM", "LSTM"]
    assert import_model(model.to_json()) == net
