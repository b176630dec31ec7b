"""Graphs inside of nodes that stay are simple as well: constants, functions, branches and loops."""

import numpy as np
import pytest

from neat_onnx import export, import_model, load_model, verify

HEAD = '<ir_version: 8, opset_import: ["": 18, "my": 1]>'
FUNCTION = """
<domain: "my", opset_import: ["": 18]>
halved (a) => (b) { c = Constant <value_float = 0.5> () b = Mul (a, c) }
"""
BODIES = {
    "a number": "k = Constant <value_float = 0.5> () s = Mul (h, k) n = Add (s, v)",
    "numbers": "k = Constant <value_floats = [1.5, -2.0, 0.5, 1.0]> () n = Mul (v, k)",
    "an integer": "i = Constant <value_int = 3> () k = Cast <to = 1> (i) n = Mul (v, k)",
    "axes": "i = Constant <value_ints = [1]> () k = ReduceMax (v, i) n = Sub (v, k)",
    "a function": "s = my.halved (h) n = Add (s, v)",
    "a branch": """i = Constant <value_int = 1> () c = Cast <to = 9> (i)
        n = If (c) <
            then_branch = yes () => (float[N, 4] q) {
                k = Constant <value_float = 2.0> () q = Mul (v, k)
            },
            else_branch = no () => (float[N, 4] q2) { q2 = Neg (v) }
        >""",
    "a loop": """i = Constant <value_int = 3> () c = Constant <value = bool {1}> ()
        n = Loop (i, c, v) <body = round (int64 at, bool go, float[N, 4] p)
            => (bool on, float[N, 4] q) {
            k = Constant <value_float = 0.5> () w = Mul (p, k) q = Tanh (w) on = Identity (go)
        }>""",
    "sizes": """z = Shape (v) i = Constant <value_ints = [0]> () batch = Gather (z, i)
        two = Constant <value_ints = [2]> () wide = Concat <axis = 0> (batch, two, two)
        r = Reshape (v, wide) t = Transpose <perm = [0, 2, 1]> (r)
        four = Constant <value_ints = [4]> ()
        flat = Concat <axis = 0> (batch, four) n = Reshape (t, flat)""",
    "a sequence": """i = Constant <value_ints = [2, 2]> () q = SplitToSequence <axis = 1> (v, i)
        one = Constant <value_int = 1> () zero = Constant <value_int = 0> ()
        a = SequenceAt (q, one) b = SequenceAt (q, zero) n = Concat <axis = 1> (a, b)""",
}  # fmt: skip


def through_time(body: str) -> bytes:
    """A Scan of which each step adds what `body` makes, called n, of a row and the state."""
    return f"""{HEAD}
agraph (float[T, N, 4] x) => (float[T, N, 4] y) {{
    sizes = Shape <start = 1> (x)
    row = Constant <value = float[4] {{0.1, 0.2, -0.3, 0.4}}> ()
    begin = Expand (row, sizes)
    last, y = Scan <num_scan_inputs = 1, body = step (float[N, 4] h, float[N, 4] v)
        => (float[N, 4] after, float[N, 4] result) {{
            {body}
            after = Tanh (n)
            result = Sin (after)
    }}> (begin, x)
}}
{FUNCTION}""".encode()


@pytest.mark.parametrize("body", BODIES)
def test_the_body_of_a_scan_may_have_them(body: str) -> None:
    model = load_model(through_time(BODIES[body]))
    net = import_model(model)
    assert verify(net, model, samples=32, runtime="onnxruntime").passed
    assert verify(net, export(net), samples=32, runtime="onnxruntime").passed


def test_new_tensors_of_a_body_have_names_of_their_own() -> None:
    model = load_model(
        through_time(BODIES["a loop"])
        .replace(b"sizes = ", b"n_step = Abs (x) n_carried = Cos (x) sizes = ")
        .replace(b"}> (begin, x)", b"}> (begin, x) m = Add (n_step, n_carried) z = Sub (m, n_step)")
        .replace(b"[T, N, 4] y)", b"[T, N, 4] y, float[T, N, 4] z)")
    )
    x = np.random.default_rng(0).normal(size=(5, 2, 4))
    np.testing.assert_allclose(import_model(model).run({"x": x})["z"], np.cos(x), atol=1e-12)


def test_a_branch_that_a_size_chooses_may_have_them() -> None:
    model = load_model(
        f"""{HEAD}
agraph (float[N, 3, 4] x) => (float[N, 3, 4] y) {{
    t = Transpose <perm = [0, 2, 1]> (x) s = Shape (t)
    i = Constant <value_int = 2> () n = Gather (s, i)
    three = Constant <value_int = 3> () c = Equal (n, three)
    y = If (c) <
        then_branch = yes () => (float[N, 3, 4] q) {{
            i2 = Constant <value_ints = [1]> () k = ReduceMax (x, i2) q = Sub (x, k)
        }},
        else_branch = no () => (float[N, 3, 4] q2) {{ q2 = Neg (x) }}
    >
}}""".encode()
    )
    assert verify(import_model(model), model, runtime="onnxruntime").passed
