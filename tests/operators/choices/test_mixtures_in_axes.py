"""Mixtures are written in the axes of a tensor that has all their elements, if there is one."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx.model import DataType, load_model
from neat_onnx.operators.choices.mixtures import Choice, Condition, Elements
from neat_onnx.operators.choices.mixtures_in_axes import in_axes
from neat_onnx.short_form.groups.search import Search

EVERY = Elements("c", np.arange(6))
CONDITIONS = {
    "computed": Condition(EVERY),
    "not": Condition(EVERY, holds=False),
    "nested": Condition(Condition(EVERY), mask=np.arange(6) > 2),
    "constant": np.arange(6) > 2,
}


def search():
    nodes = [node("Abs", "x", "z"), node("Greater", "x z", "c"), node("Where", "c x z", "y")]
    return Search(load_model(graph(nodes, x=("N", 2, 3))), largest=True)


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_choice_between_numbers_has_no_axes(condition):
    assert in_axes(search(), Choice(condition, (1.0, 2.0)), DataType.FLOAT) is None


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_choice_has_the_axes_of_a_tensor(condition):
    found = in_axes(search(), Choice(condition, (Elements("x", np.arange(6)), 2.0)), DataType.FLOAT)
    assert found is not None
    nodes, name, axes = found
    assert axes == (2, 3)
    assert (nodes[-1].op_type, nodes[-1].output) == ("Where", [name])
