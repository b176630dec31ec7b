"""Networks with memory: run, exported as single steps and as one Scan, and brought back."""

import json
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.cases import Case, assert_within, cases
from support.harness.playing import played, sequences
from support.harness.sweep import WHOLE, count

import neat_onnx
from neat_onnx import NeatOnnxWarning, Network, export, import_model, load_model, validate, verify
from neat_onnx.network.evaluate import evaluate

GROUPS = [
    "nts-net-loop",
    "nts-net-back",
    "nts-net-gate",
    "nts-net-lstm",
    "nts-net-gru",
    "nts-net-edge",
    "nts-net-disabled",
    "nap-net",
    "np-rec",
]
FORMS: list[dict[str, Any]] = [
    {},
    {"sequence": True},
    {"dtype": "float64"},
    {"dtype": "float64", "sequence": True},
    {"dtype": "float64", "fold": True},
]


REMEMBERING = [case for case in cases(*GROUPS) if case.network().has_memory]


def _trips() -> list[tuple[Case, dict[str, Any]]]:
    """Each case in one of the forms, in turn; the first of each group in one of each type."""
    first = {case.group: case for case in reversed(REMEMBERING)}
    found = []
    for at, case in enumerate(REMEMBERING):
        forms = [FORMS[at % len(FORMS)]]
        if first[case.group] is case:
            forms = [FORMS[at % 2], FORMS[2 + at % 3]]
        found += [(case, form) for form in (FORMS if WHOLE else forms)]
    return found


@pytest.fixture(scope="module", params=_trips(), ids=lambda trip: f"{trip[0].name}-{trip[1]}")
def trip(request: pytest.FixtureRequest) -> tuple[Case, dict[str, Any], neat_onnx.Model]:
    """A case, a form, and the export; all tests of it run one after the other."""
    case, form = request.param
    with warnings.catch_warnings(action="ignore", category=neat_onnx.NeatOnnxWarning):
        return case, form, export(case.network(), **form)  # some grow beyond float32 in the end


def test_every_group_is_played_in_both_types() -> None:
    played = {(case.group, form.get("dtype", "float32")) for case, form in _trips()}
    groups = {case.group for case in REMEMBERING}
    assert played == {(group, dtype) for group in groups for dtype in ("float32", "float64")}


def test_onnxruntime_plays_every_case_within_tolerance(
    trip: tuple[Case, dict[str, Any], neat_onnx.Model],
) -> None:
    case, form, model = trip
    x, want, tolerance32, tolerance64 = sequences(case)
    assert validate(model) == []
    single = form.get("dtype") != "float64"
    assert_within(played(model, x), want, tolerance32 if single else tolerance64)


@pytest.mark.filterwarnings("ignore:float32 ")
def test_it_comes_back_as_the_same_genome(
    trip: tuple[Case, dict[str, Any], neat_onnx.Model],
) -> None:
    case, form, model = trip
    net = case.network()
    x, want, _, tolerance = sequences(case)
    back = import_model(load_model(model.to_json()))
    assert back == net
    np.testing.assert_array_equal(back.run(x), net.run(x))
    starts = bool(np.any(net.neurons.initial)) and "sequence" not in form
    lost = pytest.warns(NeatOnnxWarning, match="do not start at zero") if starts else nullcontext()
    with lost:
        bare = export(net, include_metadata=False, lossy=starts, **form)
    assert not bare.metadata_props
    if not starts:
        alone = import_model(load_model(bare.to_json()), check=False)
        assert_within(alone.run(x), want, tolerance)


def test_verify_names_the_neuron_that_a_wrong_recurrent_weight_spoils() -> None:
    net = _loop()
    model = export(net)
    document = json.loads(model.to_json())
    recurrent = next(t for t in document["graph"]["initializer"] if t["name"] == "R0")
    recurrent["float_data"][0] += 0.1
    report = verify(net, load_model(document), samples=8)
    assert not report.passed
    assert "neuron 1" in str(report.first_error)


def test_a_plain_recurrent_layer_has_a_matrix_of_its_own() -> None:
    model = export(_loop())
    assert [node.name for node in model.graph.node[:4]] == [
        "gemm_in_l1",
        "gemm_rec_l1",
        "add_recurrent_l1",
        "act_l1",
    ]
    assert [entry.name for entry in model.graph.inputs] == ["input", "hidden_prev"]
    assert [entry.name for entry in model.graph.outputs] == ["output", "hidden_next"]
    assert model.graph.tensors["R0"].dims == (1, 1)


def test_the_start_of_a_state_is_in_the_metadata_or_inside_the_scan() -> None:
    net = _loop(initial=0.75)
    x = np.array([[[1.0]], [[0.5]]])
    step = export(net)
    assert json.loads(step.metadata["neat_onnx.initial_state"]) == {"hidden_prev": [0.75]}
    for model in (step, export(net, sequence=True)):
        np.testing.assert_allclose(played(model, x), net.run(x), rtol=1e-6)
        assert import_model(model) == net


def test_options_refuse_memory() -> None:
    for name in ("allow_recurrent", "recurrent_single_step"):
        with pytest.raises(neat_onnx.OptionError, match="memory") as caught:
            export(_loop(), **{name: False})
        assert caught.value.where == name
    export(_loop(), recurrent_single_step=False, sequence=True)


def _loop(initial: float = 0.0) -> Network:
    return Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 1, "activation": "tanh", "initial": initial}, 2],
        connections=[
            (0, 1, 0.5),
            {"source": 1, "target": 1, "weight": 0.9, "delay": 1},
            (1, 2, 1.5),
        ],
    )


ACTIVATIONS = ["tanh", "sigmoid", "identity", "neat_sigmoid", "neat_sin", "relu", "gaussian"]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Anything with delays, states and gates; sums, and now and then another aggregation.

    Weights are not 0: of some in a hundred such networks, whose states or gates are read by dead
    connections alone, the genome does not come back, and import says so.
    """
    inputs, count = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    ids = list(range(inputs, inputs + count))
    weights = st.floats(-1.5, 1.5).map(lambda value: round(value, 3))
    neurons = [
        {
            "id": neuron,
            "activation": draw(st.sampled_from(ACTIVATIONS)),
            "aggregation": draw(st.sampled_from(["sum", "sum", "sum", "mean", "max", "product"])),
            "bias": draw(weights),
            "response": draw(st.sampled_from([1.0, 1.0, 0.5])),
            "initial": draw(st.sampled_from([0.0, 0.0, 0.25])),
        }
        for neuron in ids
    ]
    connections = []
    for _ in range(draw(st.integers(0, 14))):
        target = draw(st.sampled_from(ids))
        source = draw(st.integers(0, inputs + count - 1))
        least = 0 if source < target else 1
        weight = draw(weights) or 0.001
        gene: dict[str, Any] = {"source": source, "target": target, "weight": weight}
        gene["delay"] = draw(st.integers(least, least + 2))
        gene["reads_state"] = draw(st.booleans())
        if draw(st.integers(0, 2)) == 0:
            gene["gater"] = draw(st.integers(0, inputs + count - 1))
            least = 0 if gene["gater"] < target else 1
            gene["gate_delay"] = draw(st.integers(least, least + 1))
            gene["initial_gain"] = draw(st.sampled_from([0.0, 1.0]))
        connections.append(gene)
    outputs = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
    return Network.build(inputs=inputs, outputs=outputs, neurons=neurons, connections=connections)


@given(net=networks(), form=st.sampled_from(FORMS[2:]))
@settings(max_examples=count(16, 100))
def test_any_memory_survives_export_and_import(net: Network, form: dict[str, Any]) -> None:
    x = np.random.default_rng(0).normal(size=(5, 2, len(net.input_neurons)))
    want = np.stack([evaluate(net, x[:, k]) for k in range(2)], axis=1)
    np.testing.assert_allclose(net.run(x), want, rtol=1e-9, atol=1e-9)
    model = export(net, **form)
    assert validate(model) == []
    np.testing.assert_allclose(played(model, x), want, rtol=1e-9, atol=1e-9)
    assert import_model(load_model(model.to_json())) == net


def test_a_state_that_is_read_alone_keeps_the_activation_of_its_neuron() -> None:
    neurons = [{"id": 1, "activation": "tanh"}, {"id": 2, "activation": "tanh"}]
    read = {"source": 1, "target": 2, "weight": 1.0, "reads_state": True, "gater": 0}
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=[(0, 1, 0.5), read])
    assert import_model(export(net)) == net


def test_a_neuron_that_is_an_output_twice_is_one_neuron() -> None:
    gated = {"source": 1, "target": 1, "weight": 0.001, "delay": 1, "gater": 1, "gate_delay": 2}
    read = {"source": 1, "target": 1, "weight": 0.5, "delay": 2, "reads_state": True}
    net = Network.build(
        inputs=1, outputs=[1, 1], neurons=[{"id": 1, "aggregation": "mean", "response": 0.5}],
        connections=[{**gated, "initial_gain": 1.0}, read],
    )  # fmt: skip
    assert import_model(export(net, dtype="float64")) == net


def test_gates_and_sources_of_one_neuron_may_begin_differently() -> None:
    gated = {"source": 0, "target": 1, "weight": 1.0, "gater": 1, "gate_delay": 2}
    loop = {"source": 1, "target": 1, "weight": 0.5, "delay": 1}
    net = Network.build(
        inputs=1, outputs=[1], neurons=[{"id": 1, "activation": "tanh"}],
        connections=[{**gated, "initial_gain": 1.0}, loop],
    )  # fmt: skip
    assert import_model(export(net)) == net


def test_the_metadata_says_in_words_how_memory_is_fed() -> None:
    loop = {"source": 1, "target": 1, "weight": 0.5, "delay": 1}
    neurons = [{"id": 1, "initial": 0.25}]
    net = neat_onnx.Network.build(
        inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0), loop]
    )
    words = export(net).metadata["neat_onnx.memory"]
    assert words == "hidden_next feeds hidden_prev, first as neat_onnx.initial_state says"
    assert "neat_onnx.memory" not in export(net, sequence=True).metadata
