"""Damaged files: read, or refused by an error of ours; never another exception."""

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser
from support.examples.cases import case
from support.examples.graphs import graph, node
from support.harness.fuzzing import damaged, damaged_bytes
from support.harness.sweep import count

from neat_onnx import (
    ModelError,
    NeatOnnxError,
    Network,
    canonicalize,
    export,
    import_model,
    load_model,
    load_network,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]

_MODELS = [
    export(net, **options)
    for net in (Network.gru(1, 2, 1), Network.mlp([2, 3, 2]))
    for options in ({}, {"dtype": "float64"})
]
_NETWORKS = ["nts-net-gate-7", "nap-net-gru-1", "nap-net-evolved-3", "np-ff-02", "np-rec-10"]


def _survives(work: Callable[[], Any]) -> None:
    with suppress(NeatOnnxError):
        work()


@pytest.mark.parametrize("name", _NETWORKS)
def test_damaged_networks(name: str) -> None:
    source = case(name).source
    for seed in range(count(24, 1000)):
        _survives(lambda: _played(load_network(damaged(source, seed))))  # noqa: B023


def _played(net: Network) -> None:
    net.run(np.ones((2, len(net.input_neurons))))
    export(net)


@pytest.mark.parametrize("model", _MODELS, ids=range(len(_MODELS)))
def test_damaged_models(model: Any) -> None:
    document, data = json.loads(model.to_json()), model.to_bytes()
    for seed in range(count(60, 1000)):
        _survives(lambda: import_model(load_model(damaged(document, seed))))  # noqa: B023
        _survives(lambda: import_model(load_model(damaged_bytes(data, seed))))  # noqa: B023


def test_an_old_slice_without_starts_is_refused() -> None:
    slicing = helper.make_node("Slice", ["x"], ["y"], axes=[1], ends=[1])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 2]) for name in "xy"]
    graph = helper.make_graph([slicing], "g", ends[:1], ends[1:])
    old = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)])
    with pytest.raises(NeatOnnxError, match="starts"):
        import_model(load_model(old.SerializeToString()))


_SCAN = """(float[N, 4, 3] x) => (float y) {{ t = Transpose <perm = [1, 0, 2]> (x)
y = Scan <num_scan_inputs = 1, body = body (float[1, 3] s) => (float[1, 3] r) {{ {} }}> (t) }}"""
_LOOP = """(float[N, 3] x) => (float y) <int64 most = {{{}}}, bool on = {{1}}>
{{ {} = Loop (most, on, x) <body = body (int64 i, bool go, float[N, 3] s)
=> (bool kept{}) {{ kept = Identity (go) r = Tanh (s) }}> }}"""
_DAMAGED = {
    "an attribute that is missing inside a Scan": (
        _SCAN.format("r = Cast (s)"),
        "node r \\(Cast\\).*to",
    ),
    "a CastLike like nothing": (
        '(float[N, 3] x) => (float y) { y = CastLike (x, "") }',
        "CastLike",
    ),
    "a function body beside an unknown domain": (
        """(float[3, 5] x, int64[3] t) => (float y) { s = com.microsoft.Shape (x) r = Reshape (x, s)
        y = NegativeLogLikelihoodLoss <reduction = "none"> (r, t) }""",
        "Shape",
    ),
    "a Loop of more outputs than its body": (_LOOP.format(3, "y, z", ", float[N, 3] r"), "Loop"),
    "an If of more outputs than its branch": (
        """(float[N, 3] x) => (float y) <bool on = {1}> { y, z = If (on)
        <then_branch = a () => (float r) { r = Tanh (x) },
        else_branch = b () => (float r) { r = Abs (x) }> }""",
        "If",
    ),
    "a node of no outputs": ("(float[N, 3] x) => (float y) { = RNN (x, x, x) }", "no node"),
    "the negative of a truth value": (
        """(float[N, 3] x) => (float y) <float one = {1}>
        { b = Cast <to = 9> (one) n = Neg (b) y = Where (n, x, one) }""",
        "node n \\(Neg\\)",
    ),
    "more sequences than inputs": (
        _SCAN.format("r = Tanh (s)").replace("num_scan_inputs = 1", "num_scan_inputs = 1000000000"),
        "num_scan_inputs is 1000000000",
    ),
    "an axis of two billion": (
        """(float x) => (float y) <float[2] g = {1, 2}>
        { y = SimplifiedLayerNormalization <axis = -2147483648> (x, g) }""",
        "SimplifiedLayerNormalization",
    ),
    "an attribute of another type": (
        '(float[N, 3] x) => (float y) { y = com.microsoft.QuickGelu <alpha = "new"> (x) }',
        "QuickGelu.*alpha is 'new'",
    ),
    "a difference from a truth value": (
        "(float[N, 3] x) => (float y) <bool[3] b = {1, 0, 1}> { y = Sub (x, b) }",
        "operator \\(Sub\\)",
    ),
    "a normalization by means of more channels": (
        """(float[N, 2, 4] x) => (float y)
        <float[2, 2, 1] w = {1, 2, 3, 4}, float[2] s = {1, 2}, float[4] m = {1, 2, 3, 4}>
        { c = Conv (x, w) y = BatchNormalization (c, s, s, m, s) }""",
        "BatchNormalization.*\\(4,\\)",
    ),
    "a Loop that carries a tensor of no node, on which its condition depends": (
        """(float[N, 3] x) => (float y) <bool on = {1}, float one = {1}>
        { n, y = Loop ("", on, one, x) <body = body (int64 i, bool go, float c, float[N, 3] s)
        => (bool kept, float missing, float[N, 3] r) { kept = Less (c, c) r = Tanh (s) }> }""",
        "Loop",
    ),
    "two Transposes, one of more axes": (
        """(float[N, 3] x) => (float y)
        { t = Transpose <perm = [1, 0]> (x) h = Tanh (t) y = Transpose <perm = [1, 0, 3]> (h) }""",
        "perm",
    ),
    "running sums of 200,000": (
        "(float[N, 200000] x) => (float y) <int64 one = {1}> { y = CumSum (x, one) }",
        "CumSum.*elements, and the limit is",
    ),
}


@pytest.mark.parametrize("name", _DAMAGED)
def test_what_random_changes_have_found_is_refused_by_name(name: str) -> None:
    text, refusal = _DAMAGED[name]
    model = parser.parse_model('<ir_version: 8, opset_import: ["": 18]> g ' + text)
    with pytest.raises(ModelError, match=refusal):
        import_model(model)
    _survives(lambda: canonicalize(model))


@pytest.mark.parametrize("rounds", [0, -3])
def test_a_loop_that_never_runs_hands_its_value_on(rounds: int) -> None:
    text = '<ir_version: 8, opset_import: ["": 18]> g ' + _LOOP.format(
        rounds, "y", ", float[N, 3] r"
    )
    text = text.replace("(float y)", "(float[N, 3] y)")
    model = parser.parse_model(text)
    onnx.checker.check_model(canonicalize(model).to_proto(), full_check=True)
    row = [0.5, -2.0, 3.0]
    assert import_model(model, check=False).activate(row).tolist() == row


def test_an_output_of_a_node_that_is_no_text_is_refused() -> None:
    model = graph([node("Relu", "x", "made"), node("Tanh", "made", "y")])
    model.graph.node[0].name = ""
    model.graph.output[0].ClearField("type")
    data = model.SerializeToString()
    with pytest.raises(ModelError, match="UTF-8"):
        load_model(data.replace(b"made", b"m\x94de"))


@pytest.mark.parametrize(
    "text",
    [
        """opset_import: ["": 18, "com.microsoft": 1]>
        g (float[N, 3] x) => (float y) { = com.microsoft.QuickGelu (x) y = Tanh (x) }""",
        """opset_import: ["": 18, "own": 1]>
        g (float[N, 3] x) => (float y) { = own.Twice (x) y = Tanh (x) }
        <domain: "own", opset_import: ["": 18]> Twice (a) => (c) { b = Neg (a) c = Add (b, a) }""",
    ],
)
def test_a_call_that_gives_nothing_is_dropped(text: str) -> None:
    simple = canonicalize(parser.parse_model("<ir_version: 10, " + text))
    assert [each.op_type for each in simple.graph.node] == ["Tanh"]


LEFT_ALONE = {
    "the mean of nothing": graph(
        [node("ReduceMean", "nothing", "m", keepdims=0), node("Add", "x m", "y")],
        nothing=np.zeros(0),
    ),
    "a variance below zero": graph(
        [node("Conv", "x w", "c"), node("BatchNormalization", "c s s s v", "y")],
        x=("N", 1, 3), w=np.ones((2, 1, 2)), s=np.ones(2), v=-np.ones(2),
    ),
    "a number that is none and signals it": graph(
        [node("Where", "c x w", "y")],
        c=np.array([1, 0, 1]), w=np.array([0x7FA00000, 0, 0], "<u4").view("<f4"),
    ),
    "sizes that are compared with nothing": graph(
        [node("Shape", "x", "n"), node("Equal", "n _", "e"), node("Where", "e x x", "y")],
        x=(2, 4),
    ),
    "an axis beyond 32 bits": parser.parse_model("""<ir_version: 8, opset_import: ["": 6]>
        g (float[2, 3, 4] x) => (float y) <float[3] b = {1, 2, 3}>
        { y = Add <axis = -9223372036854775808, broadcast = 1> (x, b) }"""),
    "a product beyond 64 bits": parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
        g (float[1, 4] x) => (float y) <int64 many = {4611686018427387904}, int64 none = {0}>
        { n = Size (x) m = Mul (n, many) e = Equal (m, none) y = Where (e, x, x) }"""),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_cannot_be_computed_beforehand_is_left_alone_in_silence(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        _survives(lambda: canonicalize(LEFT_ALONE[name]))
        if "beyond" in name:
            _survives(lambda: import_model(LEFT_ALONE[name]))
