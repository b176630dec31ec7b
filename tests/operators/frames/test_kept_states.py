"""States that no step changes, and states that change places."""

import numpy as np
import onnx
import pytest

from neat_onnx import ModelError, export, import_model, verify

STEP = "p = Add (h, c) q = Add (p, r) n = Tanh (q) o = Identity (n)"
KEPT = f"{STEP} k = Identity (c)"
SWAPPED = "o = Add (h, r) n = Identity (c) k = Identity (h)"
INPUTS = "float[T, N, 3] x, float[N, 3] a, float[N, 3] b"
OUTPUTS = "float[T, N, 3] y, float[N, 3] a_next"
MEMORY = {"a": "a_next", "b": "b_next"}


def scan(
    body: str, inputs: str = INPUTS, outputs: str = f"{OUTPUTS}, float[N, 3] b_next", held: str = ""
) -> onnx.ModelProto:
    """A Scan with two states, that begin with a and b."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    g ({inputs}) => ({outputs}) <int64 zero = {{0}} {held}> {{
        a_next, b_next, y = Scan <num_scan_inputs = 1, body = step (
            float[M, 3] h, float[M, 3] c, float[M, 3] r
        ) => (float[M, 3] n, float[M, 3] k, float[M, 3] o) {{ {body} }}> (a, b, x)
    }}""")


@pytest.mark.parametrize("body", [KEPT, SWAPPED])
def test_inputs_that_steps_hand_on_are_memory(body: str):
    model = scan(body)
    net = import_model(model, memory=MEMORY)
    assert {port.input: port.output for port in net.memory} == MEMORY
    for each in (model, export(net)):
        for runtime in ("onnxruntime", "reference"):
            assert verify(net, each, runtime=runtime, memory=MEMORY).passed


@pytest.mark.parametrize(("body", "neurons"), [(KEPT, 9), (SWAPPED, 12)])
def test_constants_that_steps_hand_on(body: str, neurons: int):
    held = ", float[1, 3] a = {0.5, -1, 2}, float[1, 3] b = {0.1, 0.2, -0.3}"
    model = scan(body, "float[T, 1, 3] x", "float[T, 1, 3] y", held)
    net = import_model(model)
    assert len(net) == neurons  # a constant that is kept has none
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime").passed


def test_a_scan_that_only_keeps_constants_takes_steps_for_samples():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
    g (float[N, 3] x) => (float[N, 3] y) <float[3] w = {2, 3, 4}> {
        last, y = Scan <num_scan_inputs = 1, body = step (float[3] w1, float[3] r)
        => (float[3] w2, float[3] o) { w2 = Identity (w1) o = Mul (w1, r) }> (w, x)
    }""")
    net = import_model(model)
    assert not net.has_memory
    assert net.activate([1.0, 1.0, -1.0]).tolist() == [2.0, 3.0, -4.0]


def test_a_kept_input_whose_last_state_is_no_output_is_refused_with_a_way_on():
    model = scan(KEPT, outputs=OUTPUTS)
    with pytest.raises(ModelError, match="its initial state b is computed") as refused:
        import_model(model, memory={"a": "a_next"})
    assert "'b_next' among the outputs" in (refused.value.hint or "")


def test_memory_that_a_single_step_keeps():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
    g (float[N, 3] x, float[N, 3] a) => (float[N, 3] y, float[N, 3] a_next) {
        y = Add (x, a) a_next = Identity (a)
    }""")
    net = import_model(model, memory={"a": "a_next"})
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime", memory={"a": "a_next"}).passed
    _, state = net.step([1.0, 2.0, 3.0], net.initial_state())
    assert np.array_equal(net.step([1.0, 2.0, 3.0], state)[0], [1.0, 2.0, 3.0])


def test_an_input_of_one_unknown_axis_beside_sequences_is_refused_by_name():
    body = "p = Add (h, b) n = Add (p, r) k = Identity (c) o = Identity (n)"
    held = ", float[1, 3] a = {0, 0, 0}, float[1, 3] z = {0, 0, 0}"
    model = scan(body, "float[T, N, 3] x, float[M, 3] b", "float[T, N, 3] y", held)
    model.graph.node[0].input[1] = "z"
    for check in (True, False):
        with pytest.raises(ModelError, match="'b' has one axis of time or samples") as refused:
            import_model(model, check=check)
    assert "shapes={'x': (16, 'N', 3)}" in (refused.value.hint or "")
    assert "give shapes={'b': ('N', 3)}" in (refused.value.hint or "")
    net = import_model(model, shapes={"b": ("N", 3)})
    assert [port.time_axis for port in net.inputs] == [0, None]
