"""Loops that end by a computed condition, as TorchScript writes `break`, round by round."""

import numpy as np
import onnx
import pytest
from support.harness.sessions import open_session
from support.harness.usual_form import usual_form

from neat_onnx import ModelError, export, import_model, verify

CONSTANTS = """<int64 zero = {0}, int64 one = {1}, int64 four = {4}, bool on = {1}, bool off = {0},
    int64 many = {9223372036854775807}, float half = {0.5}, float two = {2},
    float[3, 3] w = {0.5, -1, 0.2, 0.7, 0.1, -0.4, 0.3, 0.9, -0.6}>"""
STEP = "p = MatMul (h, w) n = Tanh (p) q = Abs (n) all = ReduceSum <keepdims = 0> (q)"
BREAK = (
    "large = Greater (all, half) m = Add (k, one) below = Less (m, four) go = And (below, large)"
)
HALVED = "n = Mul (h, half) q = Abs (n) all = ReduceSum <keepdims = 0> (q)"


def loop(body: str, reads: str, after: str, before: str = "") -> onnx.ModelProto:
    """A Loop over h, of three numbers, and k, a number of rounds."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x) => (float[a] y) {CONSTANTS} {{
        {before} h2, k2 = Loop <body = inner (int64 i, bool c, float[a] h, int64 k)
            => (bool go, float[b] n, int64 m) {{ {body} }}> ({reads}, x, zero)
        {after}
    }}"""
    return onnx.parser.parse_model(text)


LAST = "y = Neg (h2)"
SHORT_CIRCUIT = f"""{HALVED} m = Add (k, one) large = Greater (all, half) go = If <
    then_branch = yes () => (bool r) {{ r = Less (m, four) }},
    else_branch = no () => (bool s) {{ s = Identity (off) }}> (large)"""
COUNTED_FIRST = f"""{HALVED} m = Add (k, one) below = Less (m, four) go = If <
    then_branch = yes () => (bool r) {{ r = Greater (all, half) }},
    else_branch = no () => (bool s) {{ s = Identity (off) }}> (below)"""
COMPUTED_START = "z = Abs (x) sum = ReduceSum <keepdims = 0> (z) begins = Greater (sum, two)"
NESTED = f"""{STEP.replace("n = Tanh", "b = Tanh").replace("(n)", "(b)")}
    m = Add (k, one) small = Less (all, half) n = Loop <
    body = deep (int64 j, bool d, float[a] v) => (bool d2, float[b] v2) {{
        v1 = Add (v, half) v2 = Mul (v1, v1) t = ReduceMax <keepdims = 0> (v2) d2 = Less (t, two)
    }}> (four, small, b) go = Greater (all, half)"""
CASES = {
    "and": (f"{STEP} {BREAK}", "many, on", LAST),
    "the number of rounds": (
        f"{STEP} {BREAK}", "many, on", "f = Cast <to = 1> (k2) y = Mul (h2, f)",
    ),
    "a trip count": (f"{HALVED} go = Greater (all, half) m = Add (k, i)", "four, on", LAST),
    "short circuit": (SHORT_CIRCUIT, "many, begins", LAST, COMPUTED_START),
    "short circuit, rounds first": (COUNTED_FIRST, "many, on", LAST),
    "a start alone": (f"{STEP} go = Identity (c) m = Add (k, one)", "four, begins", LAST,
                      COMPUTED_START),
    "in a loop": (NESTED, "four, on", LAST),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_loop_ends_by_a_computed_condition(case: str):
    model = loop(*CASES[case])
    net = import_model(model)
    for each in (model, usual_form(net)):
        assert verify(net, each, samples=64).passed
    session, rng = open_session(model), np.random.default_rng(0)
    for scale in (0.01, 0.3, 1, 3, 30):  # of which each ends in another round
        x = (scale * rng.normal(size=3)).astype(np.float32)
        np.testing.assert_allclose(net.activate(x), session.run(None, {"x": x})[0], rtol=2e-6)


def test_a_loop_in_a_branch_by_a_computed_condition_ends_by_one():
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x) => (float[a] y) {CONSTANTS} {{
        {COMPUTED_START} y = If (begins) <then_branch = yes () => (float[c] r) {{
            r, k2 = Loop <body = inner (int64 i, bool c, float[a] h, int64 k)
            => (bool go, float[b] n, int64 m) {{ {STEP} {BREAK} }}> (many, on, x, zero)
        }}, else_branch = no () => (float[d] s) {{
            s = Loop <body = other (int64 i, bool c, float[a] h) => (bool c2, float[b] n) {{
                p = Mul (h, half) n = Cos (p) c2 = Identity (c)
            }}> (four, on, x)
        }}>
    }}"""
    model = onnx.parser.parse_model(text)
    net = import_model(model)
    for each in (model, export(net)):
        assert verify(net, each, samples=64, runtime="onnxruntime").passed


def test_a_list_that_nobody_reads_is_no_obstacle():
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x) => (float[a] y) {CONSTANTS} {{
        none = SequenceEmpty () y, list = Loop <
            body = inner (int64 i, bool c, float[a] h, seq(float[a]) s)
            => (bool go, float[b] n, seq(float[a]) s2) {{
            {STEP} s2 = SequenceInsert (s, n) go = Greater (all, half)
        }}> (four, on, x, none)
    }}"""
    model = onnx.parser.parse_model(text)
    assert verify(import_model(model), model, samples=64).passed


STAY = {
    "it has no limit": (f"{HALVED} go = Greater (all, half) m = Add (k, one)", "many, on", LAST),
    "its state grows": (f"n = Concat <axis = 0> (h, h) all = ReduceSum <keepdims = 0> (n) {BREAK}",
                        "many, on", "y = ReduceMax <keepdims = 1> (h2)"),
}  # fmt: skip


@pytest.mark.parametrize("case", STAY)
def test_other_loops_that_end_by_a_computed_condition_are_refused(case: str):
    with pytest.raises(ModelError, match=r"Loop|If"):
        import_model(loop(*STAY[case]))


def test_what_such_a_loop_collects_has_no_known_length():
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x) => (float[a, b] y) {CONSTANTS} {{
        h2, y = Loop <body = inner (int64 i, bool c, float[a] h)
            => (bool go, float[b] n, float[b] n2) {{
            {STEP} n2 = Neg (n) go = Greater (all, half)
        }}> (four, on, x)
    }}"""
    with pytest.raises(ModelError, match="Loop") as caught:
        import_model(onnx.parser.parse_model(text))
    assert "of no known length are what it collects" in str(caught.value.hint)
