"""The three verdicts: on what the peers wrote, on wrong weights, on long sequences, on misfits."""

import re
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.examples.cases import case
from support.examples.graphs import graph, graph_of_inputs, node
from support.harness.sweep import count

from neat_onnx import (
    Model,
    ModelError,
    NeatOnnxWarning,
    Network,
    NetworkError,
    export,
    import_model,
    load_model,
    load_network,
    verify,
)
from neat_onnx.model import Tensor

SENSITIVE = ["np-ff-05", "np-ff-09", "np-ff-11", "np-ff-16", "np-ff-27", "np-rec-01"]
SENSITIVE_SEED = 6  # its samples meet the poles of all of them


def with_relative_error(model: Model, size: float) -> Model:
    """The model with the weights that its outputs are made with off by `size`, relatively."""
    tensors = list(model.graph.initializer)
    level = max(int(each.name[1:].split("_")[0]) for each in tensors if each.name[0] == "W")
    for at, each in enumerate(tensors):
        if each.name.split("_")[0] == f"W{level}":
            tensors[at] = Tensor.of(each.name, each.values * (1.0 + size), each.data_type)
    graph = model.graph.model_copy(update={"initializer": tensors})
    return model.model_copy(update={"graph": graph})


@pytest.mark.parametrize("name", SENSITIVE)
def test_no_float32_could_be_closer(name):
    net = case(name).network()
    model = export(net)
    import_model(export(net, include_metadata=False))  # whose proof rounds no numbers
    report = verify(net, model, seed=SENSITIVE_SEED, runtime="onnxruntime")
    assert report.verdict == "equal within float32"
    assert report.passed
    assert report.normalised_mse <= 16 * report.rounding
    assert report.normalised_mse > report.bound or report.left_out
    for other, verdict in (
        (export(net, dtype="float64"), "equal"),
        (with_relative_error(model, 1e-3), "different"),
    ):
        report = verify(net, other, seed=SENSITIVE_SEED, runtime="onnxruntime")
        assert report.verdict == verdict


def attention(seed: int) -> onnx.ModelProto:
    """Attention of large scores, whose shares change much by little."""
    rng = np.random.default_rng(seed)
    nodes = [node("MatMul", f"x w{part}", part) for part in "qkv"]
    nodes += [
        node("Transpose", "k", "turned", perm=[0, 2, 1]),
        node("MatMul", "q turned", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares v", "y"),
    ]
    weights = {f"w{part}": rng.normal(size=(8, 8)) for part in "qkv"}
    return graph(nodes, x=("N", 12, 8), opset=17, **weights)


@pytest.mark.parametrize("seed", [7, 58, 6, 17][: count(2, 4)])
def test_sums_in_another_order_are_rounding_too(seed: int):
    """Genes that float32 holds are not rounded; a runtime adds in its own order all the same."""
    model = attention(seed)
    net = import_model(model)
    report = verify(net, model, runtime="onnxruntime")
    assert report.verdict == "equal within float32"
    for tensor in model.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * 1.001, tensor.name))
    assert verify(net, model, runtime="onnxruntime").verdict == "different"


def two_loops() -> Network:
    """Two tanh outputs whose states grow by 1.5, and shrink by 0.5, a step."""
    loops = [
        {"source": j, "target": j, "weight": weight, "delay": 1, "reads_state": True}
        for j, weight in ((1, 1.5), (2, 0.5))
    ]
    neurons = [{"id": 1, "activation": "tanh"}, {"id": 2, "activation": "tanh"}]
    connections = [(0, 1, 1.0), (0, 2, 1.0), *loops]
    return Network.build(inputs=1, outputs=[1, 2], neurons=neurons, connections=connections)


def looped(padded: bool) -> onnx.ModelProto:
    """`two_loops`, its states multiplied by a matrix with zeros, or each by its own weight."""
    nodes = [
        node("MatMul" if padded else "Mul", "hidden_prev R", "kept"),
        node("MatMul", "input W", "new"),
        node("Add", "kept new", "hidden_next"),
        node("Tanh", "hidden_next", "output"),
    ]
    loops = np.array([1.5, 0.5])
    return graph_of_inputs(
        nodes, {"input": ("N", 1), "hidden_prev": ("N", 2)},
        outputs={"output": ("N", 2), "hidden_next": ("N", 2)},
        R=np.diag(loops) if padded else loops, W=np.ones((1, 2)),
    )  # fmt: skip


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_a_state_that_becomes_nan_after_hundreds_of_steps_is_different(runtime):
    net = two_loops()
    right = verify(net, looped(padded=False), runtime=runtime)
    assert right.verdict == "equal"
    assert right.long_steps >= 400
    wrong = verify(net, looped(padded=True), runtime=runtime)
    assert wrong.verdict == "different"
    assert wrong.not_finite > 0


def test_export_warns_of_a_state_that_outgrows_float32():
    """A winner of neataptic that multiplies its state by itself: NaN from the ninth step on."""
    squares = [{"source": 2 + k, "target": 2 + k, "gater": 2 + k} for k in (0, 1)]
    loops = [{**each, "weight": 1.0, "delay": 1, "gate_delay": 1} for each in squares]
    neurons = [{"id": 2, "bias": -0.03}, {"id": 3, "activation": "softsign"}]
    connections = [(1, 2, 2.8), (0, 2, -0.6), (1, 3, 2.8), (2, 3, -0.08), *loops]
    net = Network.build(inputs=2, outputs=[3], neurons=neurons, connections=connections)
    with pytest.warns(NeatOnnxWarning, match=r"float32 .* from step \d on: dtype=.float64. does"):
        model = export(net)
    report = verify(net, model)
    assert report.verdict == "equal within float32"
    assert re.match(r"equal until step \d, then float32 cannot hold it: use float64", str(report))


def test_export_warns_of_genes_whose_rounding_shows():
    net = in_a_row(-1e9, 0.5, activation="sin")
    with pytest.warns(NeatOnnxWarning, match="float32 rounds genes of up to 1e"):
        export(net)
    export(net, dtype="float64")


def test_genes_that_leave_no_digit_in_float64_are_refused():
    """A state that grows by 1e16 in each step, squared by its gate, in a sine."""
    loop = {"source": 1, "target": 1, "weight": 1e16, "delay": 1}
    gated = {"source": 1, "target": 2, "weight": 0.03, "gater": 1}
    neurons = [{"id": 1, "bias": 0.5}, {"id": 2, "activation": "sin"}]
    neurons.append({"id": 3, "activation": "sigmoid", "bias": 1e300})
    net = Network.build(
        inputs=1, outputs=[2, 3], neurons=neurons, connections=[(0, 3, 1.0), loop, gated]
    )
    with pytest.raises(NetworkError, match=r"genes of up to 1e\+300 make values that float64"):
        export(net, dtype="float64")


def test_genes_that_nothing_reads_are_not_rounded():
    net = Network.build(
        inputs=2,
        outputs=[4],
        neurons=[2, 3, {"id": 4, "activation": "tanh"}, 5],
        connections=[
            *[(0, 5, 1e300), (1, 5, -1e300)],
            *[(0, 2, 1234567.8), (1, 2, 0.1), (0, 3, 1234567.1), (1, 3, 0.7)],
            *[(2, 4, 1.0), (3, 4, -1.0)],
        ],
    )
    with pytest.warns(NeatOnnxWarning, match="float32 rounds genes"):
        model = export(net)
    assert verify(net, model).verdict == "equal within float32"


def looping(weight: float, activation: str = "identity") -> Network:
    """A neuron that reads itself."""
    loop = {"source": 1, "target": 1, "weight": weight, "delay": 1}
    neurons = [{"id": 1, "activation": activation}]
    return Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0), loop])


@pytest.mark.filterwarnings("ignore:float32 ")
def test_what_float32_cannot_hold_is_not_compared():
    net = looping(1.5)
    report = verify(net, export(net))
    assert report.verdict == "equal within float32"
    assert 150 < report.overflow_step < 220
    step = report.overflow_step
    assert str(report).startswith(f"equal until step {step}, then float32 cannot hold it: use ")
    assert verify(net, export(net, dtype="float64")).verdict == "equal"


def in_a_row(*weights: float, activation: str = "identity", bias: float = 0.0) -> Network:
    """Neurons one after the other, the first with a bias, the last with an activation."""
    neurons: list[dict[str, Any]] = [{"id": k + 1} for k in range(len(weights))]
    neurons[0]["bias"], neurons[-1]["activation"] = bias, activation
    links = [(k, k + 1, weight) for k, weight in enumerate(weights)]
    return Network.build(inputs=1, outputs=[len(weights)], neurons=neurons, connections=links)


@pytest.mark.filterwarnings("ignore:float32 ")
@pytest.mark.parametrize(
    ("net", "left_out"),
    [(in_a_row(1e19, activation="square"), 8), (looping(1e4), 40), (looping(30.0), 8)],
)
def test_overflow_within_the_ordinary_steps_is_left_out_and_said(net: Network, left_out: int):
    model = export(net)
    report = verify(net, model, samples=32, runtime="onnxruntime")
    assert report.verdict == "equal within float32"
    assert (report.not_finite, report.overflow_step is None) == (0, False)
    assert left_out // 2 < report.left_out <= left_out
    assert "beyond float32" in str(report) or "then float32 cannot hold it" in str(report)
    double = export(net, dtype="float64")
    assert verify(net, double, samples=32, runtime="onnxruntime").left_out == 0
    wrong = verify(net, with_relative_error(model, 1e-3), samples=32, runtime="onnxruntime")
    assert wrong.verdict == "different"


@pytest.mark.filterwarnings("ignore:float32 ")
def test_overflow_that_is_the_models_alone_is_different():
    model = export(in_a_row(1e30, 1e30, 1e-30, 1e-30))
    report = verify(in_a_row(1.0), model)
    assert report.verdict == "different"
    assert (report.mse, report.left_out) == (None, 0)
    assert report.not_finite > 0
    assert "not finite" in str(report)


@pytest.mark.filterwarnings("ignore:float32 ")
def test_where_nothing_can_be_compared_nothing_is_equal():
    net = in_a_row(1.0, 1e5, activation="tanh", bias=1e38)
    assert verify(net, export(net)).verdict == "equal"
    net = in_a_row(1.0, 1e5, bias=1e38)
    report = verify(net, export(net), samples=8)
    assert (report.verdict, report.left_out) == ("different", 8)


@pytest.mark.filterwarnings("ignore:float32 ")
def test_an_output_that_is_nan_by_itself_leaves_the_others_to_be_compared():
    """A root of a negative number, a sine of what float32 does not hold, and a plain sum."""
    roots = "formula: pow(z, 0.5)"
    neurons: list[dict[str, Any]] = [
        {"id": 1, "activation": roots, "bias": -1e9},
        {"id": 2, "activation": "formula: sin(exp(z))", "bias": 80.0},
        {"id": 3, "bias": 0.5},
    ]
    links = [(0, 1, 1.0), (0, 2, 8.0), (0, 3, 0.75)]
    net = Network.build(inputs=1, outputs=[1, 2, 3], neurons=neurons, connections=links)
    alone = Network.build(inputs=1, outputs=[1, 3], neurons=[neurons[0], neurons[2]],
                          connections=[links[0], links[2]])  # fmt: skip
    for each in (net, alone):
        model = export(each)
        report = verify(each, model, samples=32, runtime="onnxruntime")
        assert report.passed
        text = model.to_json().replace("0.75", "0.7625")
        assert not verify(each, load_model(text), samples=32, runtime="onnxruntime").passed
        assert import_model(export(each, include_metadata=False).to_bytes()) is not None


@pytest.mark.parametrize(
    ("formula", "said"), [("pow(-1 - z * z, 0.5)", "All 32 output"), ("log(z)", " of 32 output")]
)
def test_outputs_that_are_nan_on_both_sides_are_counted_and_told(formula: str, said: str):
    report = verify(net := in_a_row(1.0, activation=f"formula: {formula}"), export(net), samples=32)
    assert report.verdict == "equal"
    assert 0 < report.not_finite <= report.values == 32
    assert f"{said} values are NaN or infinite, on both sides." in str(report)


def test_errors_of_values_whose_squares_overflow_are_measured():
    net = looping(3.0)
    report = verify(net, export(net, dtype="float64"))
    assert report.verdict == "equal"
    assert report.not_finite == 0
    wrong = verify(net, with_relative_error(export(net, dtype="float64"), 1e-9))
    assert wrong.verdict == "different"


def test_a_chaotic_network_is_told_from_a_wrong_one():
    net = looping(6.0, "sin")
    for dtype, verdict in (("float32", "equal within float32"), ("float64", "equal")):
        model = export(net, dtype=dtype)
        assert verify(net, model).verdict == verdict
        assert verify(net, with_relative_error(model, 1e-3)).verdict == "different"
    # processors differ in the last bit of a sine, or do not
    report = verify(net, with_relative_error(model, 2.0**-52))
    assert report.verdict == "equal"
    assert report.normalised_mse > report.bound


def mixing(op: str) -> onnx.ModelProto:
    """A model [N, 2] → … that is the identity but for the batch."""
    numbers = {
        "gather": {"index": [0]},
        "slice": {"start": [0], "stop": [1], "axis": [0]},
        "reverse": {"start": [-1], "stop": [-(2**31)], "axis": [0], "step": [-1]},
    }[op]
    made = node("Gather" if op == "gather" else "Slice", " ".join(["input", *numbers]), "output")
    ports = {"input": ("N", 2)}, {"output": ("N", 2)}
    return graph_of_inputs([made], ports[0], outputs=ports[1], **numbers)


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
@pytest.mark.parametrize("op", ["gather", "slice", "reverse"])
def test_a_model_that_mixes_its_batch_is_different(op, runtime):
    net = Network.build(
        inputs=2, outputs=[2, 3], neurons=[2, 3], connections=[(0, 2, 1.0), (1, 3, 1.0)]
    )
    report = verify(net, mixing(op), runtime=runtime)
    assert report.verdict == "different"
    assert not report.passed
    if op != "reverse":
        assert "the output 'output' has the shape [1, 2] where [256] rows go in" in str(report)


def test_what_no_runtime_loads_is_not_repaired():
    net = Network.mlp([2, 3, 1], activation="tanh", seed=0)
    with pytest.raises(ModelError, match="no node produces the output 'output'"):
        verify(net, export(net, dialect="neataptic"))
    model = export(net)
    backwards = model.graph.model_copy(update={"node": model.graph.node[::-1]})
    with pytest.raises(ModelError, match=r"does not run the model"):
        verify(net, model.model_copy(update={"graph": backwards}))


def test_a_model_that_one_runtime_lacks_is_verified_in_another():
    """onnxruntime has a linear model of floats alone."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18, "ai.onnx.ml": 1]> linear '
        "(double[N, 2] x) => (double[N, 1] y) { y = ai.onnx.ml.LinearRegressor"
        "<coefficients = [0.5, -0.25], intercepts = [0.125]>(x) }"
    )
    net = import_model(model)
    with pytest.raises(ModelError, match="does not load") as caught:
        verify(net, model, runtime="onnxruntime")
    assert "another runtime may run it as it is, reference above all" in str(caught.value.hint)
    assert verify(net, model, runtime="reference").passed


def test_a_spike_that_few_orders_of_a_sum_move_is_rounding():
    net = load_network(case("np-iznn-4").source, time_step=0.1)
    model = export(net)
    assert verify(net, model, runtime="onnxruntime").passed
    assert not verify(net, with_relative_error(model, 1e-2), runtime="onnxruntime").passed
