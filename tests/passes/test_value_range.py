"""The range of a tensor holds all of its values, also where integers begin anew."""

import pytest
from onnx import TensorProto, helper
from support.examples.graphs import node

from neat_onnx import load_model
from neat_onnx.model.draft import Draft
from neat_onnx.operators.frames.value_range import value_range


@pytest.mark.parametrize(
    ("kind", "limits"), [("UINT8", (0, 255)), ("INT8", (-128, 127)), ("INT16", (-32768, 32767))]
)
def test_a_type_of_few_integers_has_its_own(kind: str, limits: tuple[int, int]):
    nodes = [node("Add", "a b", "sum"), node("Cast", "sum", "y", to=TensorProto.FLOAT)]
    of_kind = getattr(TensorProto, kind)
    reads = [helper.make_tensor_value_info(name, of_kind, ["N", 2]) for name in "ab"]
    gives = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])]
    body = helper.make_graph(nodes, "graph", reads, gives)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)])
    draft = Draft(load_model(model))
    for name in ("a", "sum", "y"):
        assert value_range(draft, name) == limits
