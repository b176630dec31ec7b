"""Local functions that onnx cannot put in the place of their calls."""

import onnx
import onnx.inliner
import pytest
from onnx import helper

from neat_onnx import ModelError, import_model

CALLED = """<ir_version: 9, opset_import: ["": 18, "d": 1]>
g (float[N, 3] x) => (float[N, 3] y) { y = d.F (x) }
<domain: "d", opset_import: ["": OPSET]> F (a) => (b) { b = Pad (a) }"""
"""A function of this opset in a model of opset 18; its Pad lacks an input."""


def model(opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(CALLED.replace("OPSET", str(opset)))


def test_functions_of_another_opset_are_told_of():
    with pytest.raises(ModelError, match="its local functions cannot be inlined") as refusal:
        import_model(model(opset=16))
    assert "They are of opset 16, the model is of 18" in str(refusal.value.hint)


def test_functions_of_another_opset_whose_operators_are_the_same_are_inlined(monkeypatch):
    """onnx's converter fails in some that it need not convert, as scikit-learn's imputers."""
    made = model(opset=17)
    made.functions[0].node[0].CopyFrom(helper.make_node("Tanh", ["a"], ["b"]))
    run = onnx.inliner.inline_local_functions

    def strict(proto, *args, **options):
        assert [entry.version for entry in proto.functions[0].opset_import] == [18]
        return run(proto, *args, **options)

    monkeypatch.setattr(onnx.inliner, "inline_local_functions", strict)
    assert import_model(made, check=False).activations == ("identity", "tanh")
    assert [entry.version for entry in made.functions[0].opset_import] == [17]


def test_the_place_in_the_code_of_onnx_is_nobodys_business(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("/p/onnx/inliner.cc:418: GetType: Assertion `false` failed: no type")

    monkeypatch.setattr(onnx.inliner, "inline_local_functions", fail)
    with pytest.raises(ModelError) as refusal:
        import_model(model(opset=18))
    assert refusal.value.message == "its local functions cannot be inlined: no type"
    assert refusal.value.hint is None
