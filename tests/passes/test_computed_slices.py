"""Slices between places that are inputs, as PyTorch writes an EmbeddingBag with offsets."""

import numpy as np
import onnx
import pytest
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, verify

TABLE = ", ".join(f"{(7 * k) % 11 - 5}.25" for k in range(15))
CONSTANTS = f"""float[5, 3] table = {{{TABLE}}}, int64[1] zero = {{0}}, int64[1] one = {{1}},
    int64[1] end = {{9223372036854775807}}, int64[1] count = {{6}},
    int64 bags = {{2}}, bool on = {{1}}"""


def sliced(body: str, result: str = "3") -> onnx.ModelProto:
    """A graph of the places a and b, and the tokens x, of a single sample."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    g (int64[6] x, int64[1] a, int64[1] b) => (float[{result}] y) <{CONSTANTS}> {{ {body} }}""")


def bags(reduction: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    g (int64[6] x, int64[2] offsets) => (float[2, 3] y) <{CONSTANTS}> {{
        all = Concat <axis = 0> (offsets, count) last = Slice (all, one, end, zero)
        y = Loop <body = bag (int64 i, bool c) => (bool d, float[s] r) {{
            d = Identity (on) f = Gather <axis = 0> (all, i) g = Gather <axis = 0> (last, i)
            f1 = Unsqueeze (f, zero) g1 = Unsqueeze (g, zero) some = Slice (x, f1, g1, zero)
            rows = Gather <axis = 0> (table, some)
            r = {reduction} <keepdims = 0> (rows, zero)
        }}> (bags, on)
    }}""")


ROWS = "part = Slice (x, a, b) rows = Gather <axis = 0> (table, part)"
CASES = {
    **{
        name: (f"{ROWS} y = {name} <keepdims = 0> (rows, zero)", "3")
        for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2")
    },
    "an axis that stays": (f"{ROWS} y = ReduceProd (rows, zero)", "1, 3"),
    "weights between the same places": (
        f"""{ROWS} f = Cast <to = 1> (x) w = Slice (f, a, b) v = Unsqueeze (w, one)
        m = Mul (rows, v) n = Tanh (m) y = ReduceSum <keepdims = 0> (n, zero)""",
        "3",
    ),
    "one place": (
        """f = Cast <to = 1> (x) w = Slice (f, a, end) y = ReduceSum <keepdims = 0> (w, zero)""",
        "",
    ),
    "the last axis": (
        """rows = Gather <axis = 0> (table, x) part = Slice (rows, a, b, one)
        y = ReduceSum <keepdims = 0> (part, one)""",
        "6",
    ),
}
PLACES = [(0, 6), (1, 3), (2, 2), (4, 1), (-2, 9), (-9, -1), (0, 2)]


@pytest.mark.filterwarnings("ignore:.*first axis is no batch")
@pytest.mark.parametrize("case", CASES)
def test_a_slice_between_computed_places_is_reduced(case: str):
    model = sliced(*CASES[case])
    net = import_model(model)
    session = open_session(model)
    back = open_session(export(net).to_proto())
    for k, (a, b) in enumerate(PLACES):
        x = np.random.default_rng(k).integers(0, 5, 6)
        fed = {"x": x, "a": np.array([a]), "b": np.array([b])}
        fed = {each.name: fed[each.name] for each in session.get_inputs()}
        (want,) = session.run(None, fed)
        given = np.concatenate([fed[port.name] for port in net.inputs])
        np.testing.assert_allclose(net.activate(given), want.ravel(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(back.run(None, fed)[0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*first axis is no batch")
@pytest.mark.parametrize("reduction", ["ReduceSum", "ReduceMean"])
def test_a_bag_of_embeddings_from_one_offset_to_the_next(reduction: str):
    model = bags(reduction)
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    want = open_session(model).run(None, {"x": np.arange(6) % 5, "offsets": np.array([0, 4])})[0]
    got = net.activate([*(np.arange(6) % 5), 0, 4])
    np.testing.assert_allclose(got, want.ravel(), rtol=1e-6)


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("f = Cast <to = 1> (x) y = Slice (f, a, b)", "m"),
        ("f = Cast <to = 1> (x) p = Slice (f, a, b) q = Slice (f, b, a) s = Add (p, q) "
         "y = ReduceSum <keepdims = 0> (s, zero)", ""),
        (f"{ROWS} s = Add (rows, rows) p = Softmax <axis = 0> (s) y = ReduceSum (p, zero)", "1, 3"),
        (f"{ROWS} y = ReduceSum <keepdims = 0> (rows, one)", "m"),
    ],
    ids=["an output", "between other places", "a Softmax", "another axis"],
)  # fmt: skip
def test_elements_of_an_unknown_number_are_refused(body: str, result: str):
    with pytest.raises(ModelError, match="is computed, and has to be constant"):
        import_model(sliced(body, result))
