"""Losses: each kind is found, named with its neuron, and nothing else is refused."""

import json
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.harness.sweep import count
from support.peers.interpreter import computed

from neat_onnx import NeatOnnxError, NeatOnnxWarning, Network, NetworkError, export, load_network

SINGLE_STEP = {"allow_recurrent": True, "recurrent_single_step": True}
OPEN = {**SINGLE_STEP, "allow_partial_connectivity": True, "allow_mixed_activations": True}
LOOP = {"source": 2, "target": 2, "weight": 0.5, "delay": 1, "reads_state": True}
FORWARD = {"source": 0, "target": 2, "weight": 0.5}


def net(*connections: dict[str, Any], **neuron: Any) -> Network:
    """Inputs 0 and 1, the hidden neuron 2 of tanh, the output 3."""
    neurons = [{"id": 2, "activation": "tanh", **neuron}, 3]
    connections = [{"source": 1, "target": 2, "weight": 1.0}, *connections, (2, 3, 1.0)]
    return Network.build(inputs=2, outputs=[3], neurons=neurons, connections=connections)


@pytest.mark.parametrize(
    ("lossy", "what"),
    [
        (net(FORWARD, activation="hard_tanh"), "the activation hard_tanh is written as Tanh"),
        (net(FORWARD, activation="bipolar_sigmoid"), "bipolar_sigmoid is written as Sigmoid"),
        (net(FORWARD, activation="neat_tanh"), "the activation neat_tanh is written as Tanh"),
        (net(FORWARD, activation="mish"), "the activation mish is written as Identity"),
        (net(FORWARD, aggregation="max"), "aggregations other than the sum"),
        (net(FORWARD, response=2.0), "responses are left out"),
        (net({**FORWARD, "enabled": False}), "disabled connections are written as if"),
        (net({**FORWARD, "gater": 1}), "gates are left out"),
        (net({**FORWARD, "delay": 1}), "delays are left out"),
        (net(FORWARD, FORWARD), "with the same ends only the first is written"),
        (net(FORWARD, {**LOOP, "delay": 2}), "delays are left out"),
        (net(FORWARD, {**LOOP, "reads_state": False}), "a self-connection is taken to read"),
        (net(FORWARD, {**LOOP, "gater": 1}), "gates are left out"),
        (net(FORWARD, {**LOOP, "enabled": False}), "disabled connections are written as if"),
        (net(FORWARD, LOOP, initial=0.5), "initial values are left out"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)  # fmt: skip
def test_every_kind_is_refused_or_warned_of(lossy: Network, what: str):
    with pytest.raises(NetworkError, match=f"would lose something: .*{what}") as refusal:
        export(lossy, dialect="neataptic", **OPEN)
    assert refusal.value.where == "neuron 2"
    assert "lossy=True" in str(refusal.value.hint)
    with pytest.warns(NeatOnnxWarning, match=f"lost: .*{what}.*\\(neuron 2\\)") as caught:
        export(lossy, dialect="neataptic", lossy=True, **OPEN)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "kept",
    [
        net({**FORWARD, "weight": 0.0, "enabled": False}),
        net(FORWARD, {**FORWARD, "enabled": False}),
        net({**FORWARD, "weight": 0.0, "gater": 1}),
        net(FORWARD, LOOP),
        net(FORWARD, {**LOOP, "reads_state": False}, activation="identity"),
    ],
)
def test_what_computes_the_same_is_no_loss(kept: Network):
    document = export(kept, dialect="neataptic", **OPEN).to_document()
    x = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(computed(document, {}, x), kept.run(x), rtol=1e-12)


def test_each_kind_is_told_once():
    neurons = [{"id": id, "activation": "mish", "response": 2.0} for id in (1, 2, 3)]
    many = Network.build(
        inputs=1, outputs=[1, 2, 3], neurons=neurons, connections=[(0, id, 1.0) for id in (1, 2, 3)]
    )
    with pytest.warns(NeatOnnxWarning) as caught:
        export(many, dialect="neataptic", lossy=True)
    assert [str(warning.message) for warning in caught] == [
        "lost: the activation mish is written as Identity (neuron 1)",
        "lost: responses are left out (neuron 1)",
    ]


@st.composite
def networks(draw: st.DrawFn) -> dict[str, Any]:
    """NeatapticTS documents: layers, and here and there a connection that fits in none."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    layer = np.repeat(np.arange(len(sizes)), sizes).tolist()
    kinds = {0: "input", len(sizes) - 1: "output"}
    squash = st.sampled_from(["tanh", "logistic", "relu", "identity", "hardTanh"])
    nodes = [
        {"type": kinds.get(k, "hidden"), "bias": draw(st.integers(-2, 2)), "squash": draw(squash)}
        for k in layer
    ]
    places = range(len(nodes))
    pairs = [(a, b) for a in places for b in places if layer[b] == layer[a] + 1]
    more = st.tuples(st.sampled_from(places), st.sampled_from(places[sizes[0] :]))
    loops = [(a, a) for a in places if layer[a] and draw(st.booleans())]
    pairs += [*loops, *draw(st.lists(more, max_size=1))]
    genes = [
        {
            **{"from": a, "to": b, "weight": draw(st.integers(-3, 3)) / 2},
            "enabled": draw(st.integers(0, 30)) > 0,
            "gater": draw(st.sampled_from([None] * 30 + [places[-1]])),
        }
        for a, b in pairs
    ]
    return {"formatVersion": 2, "nodes": nodes, "connections": genes}


@settings(max_examples=count(60, 150), deadline=None)
@given(networks(), st.booleans())
def test_what_is_not_refused_computes_the_same(source: dict[str, Any], single_step: bool):
    options = {**OPEN, "recurrent_single_step": single_step}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        try:
            model = export(source, dialect="neataptic", **options)
        except NeatOnnxError as refusal:
            assert refusal.hint
            return
        network = load_network(source)
    x = np.random.default_rng(0).normal(size=(6, len(network.input_neurons)))
    document = json.loads(model.to_json())
    np.testing.assert_allclose(computed(document, {}, x), network.run(x), rtol=1e-9, atol=1e-9)
