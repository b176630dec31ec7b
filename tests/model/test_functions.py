"""Local functions: inlined through all their calls; recursion and explosions are refused."""

import onnx
import pytest
from onnx import helper

from neat_onnx import ModelError, load_model


def model(calls: dict[str, list[str]]) -> onnx.ModelProto:
    """y = f0(x); each function calls these others one after the other; Tanh is ONNX's."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    functions = []
    for name, called in calls.items():
        nodes = [
            helper.make_node(each, [f"t{k}" if k else "x"], [f"t{k + 1}"],
                             domain="" if each == "Tanh" else "local")
            for k, each in enumerate(called)
        ]  # fmt: skip
        last = nodes[-1].output[0]
        functions.append(helper.make_function("local", name, ["x"], [last], nodes, imports))
    value = [helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy"]
    call = helper.make_node("f0", ["x"], ["y"], domain="local")
    graph = helper.make_graph([call], "g", value[:1], value[1:])
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=8)


def test_functions_are_inlined_hierarchically():
    given = model({"f0": ["f1", "f1"], "f1": ["f2", "Tanh"], "f2": ["Tanh"]})
    assert [node.op_type for node in load_model(given).graph.node] == ["Tanh"] * 4


@pytest.mark.parametrize("calls", [{"f0": ["f0"]}, {"f0": ["f1"], "f1": ["Tanh", "f0"]}])
def test_recursion_is_refused(calls: dict[str, list[str]]):
    with pytest.raises(ModelError, match="calls itself, directly or through others"):
        load_model(model(calls))


def test_two_to_the_power_of_forty_nodes_are_refused_before_there_are_any():
    calls = {f"f{k}": [f"f{k + 1}"] * 2 for k in range(40)} | {"f40": ["Tanh"]}
    with pytest.raises(ModelError, match=f"it takes {2**40} nodes, and the limit is"):
        load_model(model(calls))
