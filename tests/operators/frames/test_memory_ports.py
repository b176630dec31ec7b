"""Memory with names of other tools goes out under them, so that a file is run as the first one."""

import json
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node
from support.examples.texts import read
from support.harness.sessions import open_session
from support.harness.sweep import pairs

from neat_onnx import (
    Model,
    ModelError,
    NeatOnnxWarning,
    Network,
    OptionError,
    export,
    import_model,
    verify,
)
from neat_onnx.model import MetadataEntry
from neat_onnx.model.states import STATE_KEY

UNITS, INPUTS = 4, 3
LAYOUTS = {  # of the states of a layer, with the batch called N
    "layers first": ([1, "N", UNITS], None),
    "layers first, one sample": ([1, 1, UNITS], None),
    "batch first": (["N", 1, UNITS], (1, 0, 2)),
}


def policy(operator: str, sizes: list[Any], perm: tuple[int, ...] | None, name: str) -> Model:
    """One step of a recurrent layer and a dense one, whose states are inputs and outputs."""
    gates, kinds = {"GRU": (3, "h"), "LSTM": (4, "hc"), "RNN": (1, "h")}[operator]
    states = [name.format(kind) for kind in kinds]
    batch = next((size for size in sizes if isinstance(size, str)), 1)
    shape = ",".join(map(str, sizes))
    inputs = ", ".join(f"float[{shape}] {state}_in" for state in states)
    outputs = ", ".join(f"float[{shape}] {state}_out" for state in states)
    turn = f"Transpose<perm={list(perm or (0, 1, 2))}>"
    before = " ".join(f"{state}0 = {turn}({state}_in)" for state in states)
    after = " ".join(f"{state}_out = {turn}({state}1)" for state in states)
    first, last = (", ".join(f"{state}{k}" for state in states) for k in (0, 1))
    made = read(
        f"(float[{batch},{INPUTS}] obs, {inputs}) => (float[{batch},2] action, {outputs})"
        f"{{ x = Unsqueeze(obs, i_0) {before} every, {last} = {operator}<hidden_size={UNITS}>"
        f"(x, W_1_{gates * UNITS}_{INPUTS}, R_1_{gates * UNITS}_{UNITS}, B_1_{2 * gates * UNITS},,"
        f" {first}) {after} h = Squeeze({states[0]}1, i_0) action = MatMul(h, V_{UNITS}_2) }}",
        opset=17,
    )
    fed = [[f"{state}_in", f"{state}_out"] for state in states]
    entry = MetadataEntry(key=STATE_KEY, value=json.dumps(fed))
    return made.model_copy(update={"metadata_props": [entry] if name != "{}" else []})


def played(model: Model, samples: int) -> dict[str, np.ndarray]:
    """What a program makes of a model that knows the first one's inputs and outputs by name."""
    session, draw = open_session(model), np.random.default_rng(1)
    sizes = {each.name: each.shape for each in session.get_inputs() if each.name != "obs"}
    states = {
        name: np.zeros([each if isinstance(each, int) else samples for each in shape], np.float32)
        for name, shape in sizes.items()
    }
    names = [output.name for output in session.get_outputs()]
    for _ in range(4):
        obs = draw.normal(size=(samples, INPUTS)).astype(np.float32)
        got = dict(zip(names, session.run(names, {"obs": obs} | states), strict=True))
        states = {name: got[name.replace("_in", "_out")] for name in states}
    return got


@pytest.mark.parametrize(
    ("operator", "layout", "name"), pairs(["GRU", "LSTM", "RNN"], LAYOUTS, ["{}", "some_{}"])
)
@pytest.mark.filterwarnings("ignore:by their names")
def test_a_policy_is_run_as_before_it_was_imported(operator, layout, name):
    sizes, perm = LAYOUTS[layout]
    first = policy(operator, sizes, perm, name)
    net = import_model(first)
    again = export(net.without_source())
    samples = 1 if layout == "layers first, one sample" else 3
    want, got = played(first, samples), played(again, samples)
    assert want.keys() == got.keys()
    for output, values in want.items():
        assert np.allclose(values, got[output], atol=1e-5)
        assert values.shape == got[output].shape
    assert verify(net, again, runtime="onnxruntime").passed
    assert verify(net, first, runtime="onnxruntime").passed
    assert import_model(again) == net
    assert Network.from_document(net.to_document()).to_json() == net.to_json()


@pytest.mark.parametrize("samples", [1, 3])
def test_memory_is_given_where_names_do_not_tell(samples):
    told = policy("LSTM", ["N", 1, UNITS], (1, 0, 2), "x{}")
    first = told.model_copy(update={"metadata_props": []})
    memory = {"xh_in": "xh_out", "xc_in": "xc_out"}
    net = import_model(first, memory=memory)
    assert [port.name for port in net.inputs] == ["obs"]
    want, got = played(first, samples), played(export(net.without_source()), samples)
    assert all(np.allclose(values, got[name], atol=1e-5) for name, values in want.items())
    assert verify(net, first, runtime="onnxruntime").passed
    assert [port.name for port in import_model(first).inputs] == ["obs", *memory]


def test_names_that_would_tell_are_ports_where_no_memory_is_given():
    first = policy("GRU", ["N", 1, UNITS], (1, 0, 2), "{}")
    net = import_model(first, memory={})
    assert [port.name for port in net.inputs] == ["obs", "h_in"]
    assert not net.has_memory
    assert verify(net, first).passed
    again = export(net.without_source())
    assert verify(net, again).passed
    assert import_model(again) == net


def test_a_buffer_of_inputs_is_memory_and_is_verified_with_the_same_word():
    """Frames that are stacked: what is remembered is inputs, and older ones, not activations."""
    nodes = [
        node("Slice", "old begin end axis", "kept"),
        node("Concat", "kept x", "new", axis=1),
        node("MatMul", "new w", "y"),
    ]
    weights = np.random.default_rng(0).normal(size=(6, 2))
    sizes = {"begin": [3], "end": [6], "axis": [1]}
    model = graph(nodes, outputs=["y", "new"], w=weights, **sizes)
    model.graph.input.append(helper.make_tensor_value_info("old", TensorProto.FLOAT, ["N", 6]))
    net = import_model(model, memory={"old": "new"})
    assert verify(net, model, memory={"old": "new"}, runtime="onnxruntime").passed
    assert verify(net, export(net.without_source()), runtime="onnxruntime").passed
    with pytest.raises(OptionError, match="the model has no input 'x2'"):
        verify(net, model, memory={"x2": "new"})


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ({"h": "h_out"}, "the model has no input 'h'"),
        ({"h_in": "out"}, "the model has no output 'out'"),
        ({"h_in": ["h_out"]}, "the model has no output"),
        ({"obs": "action"}, "the output 'action' is "),
        ({"h_in": "h_out", "c_in": "h_out"}, "one output feeds two inputs"),
    ],
)
def test_memory_that_does_not_fit_is_refused(memory, message):
    with pytest.raises(OptionError, match=message):
        import_model(policy("LSTM", ["N", 1, UNITS], (1, 0, 2), "{}"), memory=memory)


@pytest.mark.filterwarnings("ignore:by their names")
def test_without_metadata_only_names_that_tell_are_kept():
    telling = import_model(policy("GRU", ["N", 1, UNITS], (1, 0, 2), "{}"))
    model = export(telling, include_metadata=False)
    assert [entry.name for entry in model.graph.inputs] == ["obs", "h_in"]
    assert verify(telling, model).passed
    silent = import_model(policy("GRU", ["N", 1, UNITS], (1, 0, 2), "a{}b"))
    model = export(silent, include_metadata=False)
    assert [entry.name for entry in model.graph.inputs] == ["obs", "hidden_prev"]
    assert verify(silent, model).passed


@pytest.mark.filterwarnings("ignore:the first axis is no batch")
def test_layers_of_a_fixed_number_of_steps_keep_time_where_it_is():
    """The first axis is time, and the state's second the batch: neither is found by sizes."""
    draw = np.random.default_rng(0)
    tensors = {"W": draw.normal(size=(1, 12, 2)), "R": draw.normal(size=(1, 12, 4))}
    layer = node("GRU", "x W R _ _ h_0", "steps h_n", hidden_size=4)
    model = graph(
        [layer, node("Squeeze", "steps axis", "y")], x=(4, 1, 2), outputs=["y", "h_n"], axis=[1],
        **tensors,
    )  # fmt: skip
    entry = helper.make_tensor_value_info("h_0", TensorProto.FLOAT, [1, 1, 4])
    model.graph.input.append(entry)
    with pytest.warns(NeatOnnxWarning, match="'h_n' is taken to feed 'h_0'"):
        net = import_model(model)
    assert net.inputs[0].shape == (4, 1, 2)
    assert verify(net, model, runtime="onnxruntime").passed


def test_what_a_file_says_of_its_memory_comes_before_the_networks_names():
    net = import_model(policy("LSTM", ["N", 1, UNITS], (1, 0, 2), "x{}"))
    swapped = export(net.without_source()).to_proto()
    helper.set_model_props(swapped, {STATE_KEY: '[["xh_in", "xc_out"], ["xc_in", "xh_out"]]'})
    assert not verify(net, swapped).passed
    lost = export(net.without_source()).to_proto()
    helper.set_model_props(lost, {})
    del lost.graph.output[1]
    with pytest.raises(ModelError, match="the model's inputs are"):
        verify(net, lost)
