"""Loops over an axis of no fixed size, as TorchScript writes custom recurrent layers, are Scans."""

import onnx
import pytest
from support.examples.graphs import node

from neat_onnx import ModelError, export, import_model, verify

CONSTANTS = """<int64 zero = {0}, int64 one = {1}, int64 last = {-1}, bool on = {1},
    float[1, 3] start = {0, 0, 0},
    float[3, 3] w = {0.5, -1, 0.2, 0.7, 0.1, -0.4, 0.3, 0.9, -0.6}>"""
ROW = "row = Gather <axis = 0> (x, i)"
OF_BATCH = """first = Constant <value_ints = [0]> ()
    end = Constant <value_ints = [9223372036854775807]> ()
    all = Slice (x, first, end, first) row = Gather <axis = 1> (all, i)"""
STEP = "p = MatMul (h, w) sum = Add (row, p) n = Tanh (sum)"
LISTED = "s2 = SequenceInsert (s, n)"
STACK = "y = ConcatFromSequence <axis = 0, new_axis = 1> (list)"


def over_time(
    body: str, after: str, axes: str = "T, N, 3", result: str = "a, b, c", axis: str = "zero"
) -> onnx.ModelProto:
    """A recurrent layer that goes through all of x, and puts what it makes into a list."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[{axes}] x) => (float[{result}] y) {CONSTANTS} {{
        shape = Shape (x) count = Gather (shape, {axis}) none = SequenceEmpty <dtype = 1> ()
        h, list = Loop <body = inner (int64 i, bool c, float[a, b] h, seq(float[a, b]) s)
            => (bool c2, float[d, e] n, seq(float[d, e]) s2) {{ c2 = Identity (on) {body} }}
        > (count, on, start, none)
        {after}
    }}"""
    return onnx.parser.parse_model(text)


SECOND_LOOP = """rounds = SequenceLength (list) again = Loop <
    body = second (int64 j, bool d, seq(float[a, b]) t) => (bool d2, seq(float[a, b]) t2) {
        d2 = Identity (d) q = SequenceAt (list, j) r = Sin (q) t2 = SequenceInsert (t, r)
    }> (rounds, on, none) y = ConcatFromSequence <axis = 0, new_axis = 1> (again)"""
UNBOUND = """seq = SplitToSequence <axis = 1, keepdims = 0> (x, one)
    rounds = SequenceLength (seq) none = SequenceEmpty <dtype = 1> () h, list = Loop <
    body = inner (int64 i, bool c, float[a, b] h, seq(float[a, b]) s)
        => (bool c2, float[d, e] n, seq(float[d, e]) s2) {
        c2 = Identity (c) row = SequenceAt (seq, i)
        p = MatMul (h, w) sum = Add (row, p) n = Tanh (sum) s2 = SequenceInsert (s, n)
    }> (rounds, on, start, none) y = ConcatFromSequence <axis = 1, new_axis = 1> (list)"""
CASES = {
    "a list": ((f"{ROW} {STEP} {LISTED}", STACK), {}),
    "a list of what it reads": ((f"{ROW} {STEP} s2 = SequenceInsert (s, row)", STACK), {}),
    "the last of a list": (
        (f"{ROW} {STEP} {LISTED}", "y = SequenceAt (list, last)"),
        {"result": "b, c"},
    ),
    "a second loop": ((f"{ROW} {STEP} {LISTED}", SECOND_LOOP), {}),
    "the batch first": (
        (f"{OF_BATCH} {STEP} {LISTED}", STACK.replace("axis = 0", "axis = 1")),
        {"axes": "batch, time, 3", "axis": "one"},
    ),
    "the batch first, by other names": (
        (f"{OF_BATCH} {STEP} {LISTED}", STACK.replace("axis = 0", "axis = 1")),
        {"axes": "u, v, 3", "axis": "one"},
    ),
    "time first, by other names": ((f"{ROW} {STEP} {LISTED}", STACK), {"axes": "N, T, 3"}),
    "the batch first, of parts along time": (
        (
            f"""{OF_BATCH} {STEP} along = Constant <value = int64[1] {{1}}> ()
            part = Unsqueeze (n, along) s2 = SequenceInsert (s, part)""",
            "y = ConcatFromSequence <axis = 1> (list)",
        ),
        {"axes": "batch, time, 3", "axis": "one"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_loop_over_time_is_imported(case: str):
    texts, options = CASES[case]
    model = over_time(*texts, **options)
    net = import_model(model)
    for each in (model, export(net)):
        assert verify(net, each, samples=16).passed


STAY = {
    "its number is a value": (f"{ROW} f = Cast <to = 1> (i) m = Mul (row, f)", STEP, LISTED),
    "its list is read": (f"{ROW} k = SequenceLength (s) f = Cast <to = 1> (k) m = Mul (row, f)",
                         STEP, LISTED),
    "its list has two of each": (ROW, STEP, "t = SequenceInsert (s, n) s2 = SequenceInsert (t, n)"),
    "its list grows in front": (ROW, STEP, "s2 = SequenceInsert (s, n, zero)"),
    "it reads a row of its state": (f"{ROW} v = Gather <axis = 0> (h, i)", STEP, LISTED),
}  # fmt: skip


@pytest.mark.parametrize("case", STAY)
def test_other_loops_over_time_are_refused(case: str):
    body = " ".join(STAY[case])
    body = body.replace("(row, p)", "(m, p)") if " m = " in body else body
    model = over_time(body.replace("(row, p)", "(v, p)") if " v = " in body else body, STACK)
    with pytest.raises(ModelError, match="Loop"):
        import_model(model)


def test_a_loop_over_another_axis_is_refused():
    with pytest.raises(ModelError, match="Loop"):
        import_model(over_time(f"{ROW} {STEP} {LISTED}", STACK, axis="one"))


def test_a_loop_that_may_not_begin_is_refused():
    model = over_time(f"{ROW} {STEP} {LISTED}", STACK)
    (loop,) = (each for each in model.graph.node if each.op_type == "Loop")
    loop.input[1] = "begins"
    model.graph.node.insert(0, node("ReduceMax", "x", "top", keepdims=0))
    model.graph.node.insert(1, node("Cast", "top", "begins", to=onnx.TensorProto.BOOL))
    with pytest.raises(ModelError, match="Loop"):
        import_model(model)


def test_a_loop_over_the_parts_of_unbind():
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, time, 3] x) => (float[a, b, c] y) {CONSTANTS} {{ {UNBOUND} }}"""
    model = onnx.parser.parse_model(text)
    assert verify(import_model(model), model, samples=16).passed
