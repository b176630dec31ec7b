"""Forms in short names: each is lifted once, and none is imported that is too long to be chosen."""

from pathlib import Path

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import export, import_model
from neat_onnx.genome import restore
from neat_onnx.lifting.core import lift
from neat_onnx.lowering import short_model, shortened
from neat_onnx.lowering.short_model import CandidateMaker
from neat_onnx.model import Model, Tensor, load_model
from neat_onnx.passes.draft import with_graph
from neat_onnx.short_form.straight import Form

RECORDED = Path(__file__).parents[1] / "models_of_others" / "recorded"


@pytest.fixture(scope="module")
def net():
    """A network of which a dozen forms are tried."""
    return import_model(RECORDED / "sklearn_support_vectors.onnx", check=False)


def with_number(number: float) -> Model:
    model = load_model(graph([node("Mul", "x w", "y")], x=("N", 2), w=np.ones(2)))
    return with_graph(model, initializer=[Tensor.of("w", np.array([number, 2.0]))])


def test_no_form_is_lifted_twice(net, monkeypatch):
    lifted = []

    def recorded(model, batch_axis):
        lifted.append(model.to_bytes())
        return lift(model, batch_axis)

    monkeypatch.setattr(short_model, "lift", recorded)
    export(net)
    assert len(lifted) > 1
    assert len({*lifted}) == len(lifted)


def test_forms_are_the_same_if_no_digit_of_their_numbers_differs():
    candidates = CandidateMaker(remembers=True)
    one, same, rounded = (
        candidates.of(Form(with_number(each), {})) for each in (0.1, 0.1, 0.1 + 1e-12)
    )
    assert one.bare.content == rounded.bare.content
    assert one.bare is same.bare
    assert one.bare is not rounded.bare


def test_a_file_longer_than_another_is_not_imported(net, monkeypatch):
    imported, import_network = [], shortened.import_network

    def recorded(model, **known):
        if known:  # it is a form in short names
            imported.append(len(model.to_bytes()))
        return import_network(model, **known)

    monkeypatch.setattr(shortened, "import_network", recorded)
    chosen = export(net)
    assert len(imported) > 1
    assert imported == sorted(imported, reverse=True)
    assert imported[-1] == len(chosen.to_bytes())


def test_a_graph_that_is_known_is_not_lifted_again(net, monkeypatch):
    model = export(net)
    known = lift(model)
    monkeypatch.setattr(restore, "lift_with_hints", None)
    assert restore.import_network(model, lifted=known) == net
    turned = model.model_copy(
        update={"graph": model.graph.model_copy(update={"node": model.graph.node[::-1]})}
    )
    with pytest.raises(TypeError), pytest.warns(match="sorted"):
        restore.import_network(turned, lifted=known)  # it is repaired: another graph
