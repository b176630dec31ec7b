"""Lists that a Loop appends to, as TorchScript writes custom recurrent layers: their tensors."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts
from support.harness.sessions import open_session

from neat_onnx import canonicalize, load_model

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4, 3] x) => (float[N, k, m] y)'
CONSTANTS = """<int64 four = {4}, int64 one = {1}, int64 zero = {0}, int64 two = {2},
    int64 last = {-1}, bool on = {1}, float[1, 3] start = {0.1, 0.2, 0.3},
    float[3, 3] w = {0.5, -1, 0.2, 0.7, 0.1, -0.4, 0.3, 0.9, -0.6}>"""
STEP = "row = Gather <axis = 1> (x, i) sum = Add (row, h) p = MatMul (sum, w) n = Tanh (p)"


def recurrent(append: str, after: str, steps: str = "four") -> onnx.ModelProto:
    """A recurrent layer over [N, 4, 3] whose body puts its state into a list."""
    text = f"""{HEAD} {CONSTANTS} {{
        none = SequenceEmpty <dtype = 1> ()
        h, list = Loop <body = inner (int64 i, bool c, float[a, b] h, seq(float[a, b]) s)
            => (bool c2, float[d, e] n, seq(float[d, e]) s2) {{
            c2 = Identity (c) {STEP} {append}
        }}> ({steps}, on, start, none)
        {after}
    }}"""
    return onnx.parser.parse_model(text)


APPEND = "s2 = SequenceInsert (s, n)"
STACK = "y = ConcatFromSequence <axis = 1, new_axis = 1> (list)"
EVERY_SECOND = """odd = Mod (i, two) second = Equal (odd, one) s2 = If <
    then_branch = yes () => (seq(float[a, b]) r) { r = SequenceInsert (s, n) },
    else_branch = no () => (seq(float[a, b]) r) { r = Identity (s) }> (second)"""
CASES = {
    "appended": (APPEND, STACK),
    "in front": ("s2 = SequenceInsert (s, n, zero)", STACK),
    "two a step": ("t = SequenceInsert (s, n) s2 = SequenceInsert (t, row)", STACK),
    "every second": (EVERY_SECOND, STACK),
    "the last but one": (
        APPEND,
        """minus = Sub (last, one) a = SequenceAt (list, minus) length = SequenceLength (list)
        f = Cast <to = 1> (length) b = Mul (a, f) axes = Constant <value_ints = [1]> ()
        y = Unsqueeze (b, axes)""",
    ),
    "of a loop in a loop": (
        """s2 = Loop <body = within (int64 j, bool d, seq(float[a, b]) t)
            => (bool d2, seq(float[a, b]) t2) {
            d2 = Identity (d) f = Cast <to = 1> (j) q = Mul (n, f) t2 = SequenceInsert (t, q)
        }> (two, on, s)""",
        STACK,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_list_is_its_tensors(case: str):
    model = recurrent(*CASES[case])
    simple = canonicalize(model)
    assert not {"Loop", "If"} & {each.op_type for each in simple.graph.node}
    assert not any("Sequence" in each.op_type for each in simple.graph.node)
    x = np.random.default_rng(0).normal(size=(5, 4, 3)).astype(np.float32)
    (got,), (want,) = (
        open_session(each).run(None, {"x": x}) for each in (simple.to_proto(), model)
    )
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert_lifts(model)


def test_parts_of_one_row_that_pytorch_wants_without_their_axis():
    """As it writes unbind: `keepdims` of 0 beside a `split` of 1, which onnxruntime obeys."""
    text = f"""{HEAD} {CONSTANTS} {{
        list = SplitToSequence <axis = 1, keepdims = 0> (x, one)
        a = SequenceAt (list, two) n = MatMul (a, w)
        both = SequenceConstruct (n, a)
        y = ConcatFromSequence <axis = 1, new_axis = 1> (both)
    }}"""
    assert_lifts(onnx.parser.parse_model(text))


def test_a_model_with_lists_is_json_and_protobuf():
    model = load_model(recurrent(APPEND, STACK))
    assert load_model(model.to_json()) == load_model(model.to_bytes()) == model
