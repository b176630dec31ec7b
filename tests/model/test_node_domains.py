"""Nodes of domains that their operators are not in: the error says so, and how to go on."""

import pytest
from onnx import helper
from support.examples.graphs import graph, node

from neat_onnx import ModelError, load_model


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ("org.else", r"is 'org.else', op_type Relu is known in '' only"),
        ("com.microsoft.nchwc", r"laid the model out for one processor; .* ORT_ENABLE_EXTENDED"),
    ],
)
def test_a_node_of_another_domain_is_refused_by_name(domain, message):
    model = graph([node("Relu", "x", "y")])
    model.graph.node[0].domain = domain
    model.opset_import.append(helper.make_opsetid(domain, 1))
    with pytest.raises(ModelError, match=message):
        load_model(model)
