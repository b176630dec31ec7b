"""Optional tensors, which TorchScript writes for arguments that may be None."""

import pytest

from neat_onnx import ModelError, export, import_model, load_model, verify

HEAD = '<ir_version: 8, opset_import: ["": 18]> agraph (float[N, 3] x) => (float[N, 3] y)'
CHOICE = """y = If (c) <
    then_branch = yes () => (float[N, 3] a) { v = OptionalGetElement (o) a = Tanh (v) },
    else_branch = no () => (float[N, 3] b) { b = Sin (x) }
>"""
GRAPHS = {
    "a tensor that is there": f"o = Optional (x) c = OptionalHasElement (o) {CHOICE}",
    "a tensor itself": f"o = Abs (x) c = OptionalHasElement (o) {CHOICE}",
    "none": f"o = Neg (x) c = OptionalHasElement () {CHOICE}",
    "one that is taken out": "o = Optional (x) v = OptionalGetElement (o) y = Cos (v)",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_it_is_known_whether_there_is_a_tensor(name: str) -> None:
    model = load_model(f"{HEAD} {{ {GRAPHS[name]} }}".encode())
    net = import_model(model)
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime").passed


def test_an_element_of_none_is_refused() -> None:
    with pytest.raises(ModelError, match="OptionalGetElement"):
        import_model(load_model(f"{HEAD} {{ v = OptionalGetElement () y = Cos (v) }}".encode()))
