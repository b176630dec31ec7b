"""Lists that are chosen by a computed condition, against onnxruntime."""

import onnx
import pytest

from neat_onnx import ModelError, export, import_model, verify

PAIR = "a = Neg (x) p = SequenceConstruct (a, x)"
OTHER = """b = Tanh (x) e = SequenceEmpty <dtype = 1> () f = SequenceInsert (e, b)
    q = SequenceInsert (f, b)"""
AROUND = "b = Tanh (x) q = SequenceInsert (begun, b)"
READS = """first = SequenceAt (list, zero) joined = ConcatFromSequence <axis = 1> (list)
    y = Concat <axis = 1> (first, joined)"""


def chosen(then: str, other: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    g (float[N, 3] x, float[1] c) => (float[N, m] y) <int64 zero = {{0}}, float none = {{0}}> {{
        begun = SequenceConstruct (x) on = Greater (c, none)
        list = If (on) <then_branch = t () => (seq(float[N, 3]) p) {{ {then} }},
            else_branch = f () => (seq(float[N, 3]) q) {{ {other} }}>
        {READS}
    }}""")


@pytest.mark.parametrize("other", [OTHER, AROUND])
def test_a_computed_condition_chooses_a_list(other: str):
    model = chosen(PAIR, other)
    net = import_model(model)
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime").passed


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ModelError, match="branches have results of different shapes"):
        import_model(chosen("p = SequenceConstruct (x)", OTHER))
