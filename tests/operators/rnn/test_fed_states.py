"""Recurrent layers over open sequences whose states are an input and an output of the graph."""

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.examples.rnn_cases import GATES
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, export, import_model, verify
from neat_onnx.operators.rnn import walk

UNITS, INPUTS = 2, 3
STATES = {"RNN": ["h"], "GRU": ["h"], "LSTM": ["h", "c"]}
pytestmark = pytest.mark.filterwarnings("ignore:.*is taken to feed:neat_onnx.NeatOnnxWarning")


def layered(
    op: str,
    *,
    layers: int = 1,
    x: Sequence[int | str] = ("seq", "batch", INPUTS),
    batch: int | str = "batch",
    more: Sequence[onnx.NodeProto] = (),
    outputs: Sequence[str] = (),
    order: Sequence[int] | None = None,
) -> onnx.ModelProto:
    """Layers on top of each other, each with its part of the states, as PyTorch writes them.

    Args:
        x: the shape of the input; with the batch first it is transposed, and y back.
        batch: the size of the states' second axis.
        more: nodes that read `y`, `h_first`, `h_last` and others.
        outputs: further ones; and "-name" for one to leave out.
        order: of the layers in the states that are given.
    """
    random, nodes, tensors = np.random.default_rng(3), [], {"zero": np.array([0], np.int64)}
    states, above = STATES[op], "steps"
    first = [1, 0, 2] if x[0] in ("batch", 1) else [0, 1, 2]
    nodes.append(node("Transpose", "x", "steps", perm=first))
    for k in range(layers):
        rows = GATES[op] * UNITS
        width = INPUTS if k == 0 else UNITS
        tensors |= {
            f"W{k}": random.normal(size=(1, rows, width)).astype(np.float32),
            f"R{k}": random.normal(size=(1, rows, UNITS)).astype(np.float32),
            f"B{k}": random.normal(size=(1, 2 * rows)).astype(np.float32),
            f"at{k}": np.array([k], np.int64),
        }
        begins = [f"{state}_first" if layers == 1 else f"{state}_first{k}" for state in states]
        if layers > 1:
            nodes += [
                node("Gather", f"{state}_first at{k}", f"{state}_first{k}", axis=0)
                for state in states
            ]
        ends = [f"{state}_end{k}" for state in states]
        reads = " ".join([above, f"W{k}", f"R{k}", f"B{k}", "_", *begins])
        nodes.append(node(op, reads, " ".join([f"Y{k}", *ends]), hidden_size=UNITS))
        above = f"y{k}"
        nodes.append(node("Squeeze", f"Y{k} one", above))
    tensors["one"] = np.array([1], np.int64)
    for state in states:
        parts = " ".join(f"{state}_end{k}" for k in order or range(layers))
        nodes.append(node("Concat", parts, f"{state}_last", axis=0))
    nodes += [node("Transpose", above, "y", perm=first), *more]
    given = {"x": list(x)} | {f"{state}_first": [layers, batch, UNITS] for state in states}
    results = ["y", *(f"{state}_last" for state in states), *outputs]
    results = [name for name in results if f"-{name}" not in results and name[0] != "-"]
    shapes = {name.replace("first", "last"): shape for name, shape in given.items() if name != "x"}
    body = helper.make_graph(
        nodes,
        "layers",
        [entry(name, shape) for name, shape in given.items()],
        [entry(name, shapes.get(name)) for name in results],
        [numpy_helper.from_array(values, name) for name, values in tensors.items()],
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def entry(name: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def in_parts(model: onnx.ModelProto, x: np.ndarray, cuts: Sequence[int]) -> np.ndarray:
    """The outputs y of a sequence (T, N, I) that onnxruntime runs in parts, fed on."""
    session = open_session(model)
    sizes = {entry.name: entry.shape for entry in session.get_inputs() if entry.name != "x"}
    states = {name: np.zeros((sizes[name][0], x.shape[1], UNITS), np.float32) for name in sizes}
    last = [name.replace("first", "last") for name in states]
    found = []
    for part in np.split(x, cuts):
        y, *ends = session.run(["y", *last], {"x": part, **states})
        states = dict(zip(states, ends, strict=True))
        found.append(y)
    return np.concatenate(found)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("layers", [1, 2])
def test_a_state_that_is_fed_is_the_networks_memory(op, layers):
    model = layered(op, layers=layers)
    with pytest.warns(NeatOnnxWarning, match="'h_last' is taken to feed 'h_first'"):
        net = import_model(model)
    assert [port.name for port in (*net.inputs, *net.outputs)] == ["x", "y"]
    x = np.random.default_rng(1).normal(size=(9, 4, INPUTS)).astype(np.float32)
    for cuts in ([], [2], [1, 2, 6]):
        np.testing.assert_allclose(net.run(x), in_parts(model, x, cuts), rtol=1e-5, atol=1e-5)
    assert verify(net, model, runtime="onnxruntime", samples=16).passed


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize(
    ("x", "batch"),
    [
        (("batch", "seq", INPUTS), "batch"),
        (("seq", 1, INPUTS), 1),
        ((1, "seq", INPUTS), 1),
        (("n", "t", INPUTS), "t"),
    ],
)
@pytest.mark.parametrize("layers", [1, 2])
def test_axes_of_any_names_and_of_one_sample(op, x, batch, layers):
    model = layered(op, layers=layers, x=x, batch=batch)
    net = import_model(model)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(INPUTS,), (UNITS,)]
    assert net.has_memory
    assert verify(net, model, runtime="onnxruntime", samples=16).passed


@pytest.mark.parametrize(
    "wrong",
    [
        {"more": [node("Squeeze", "h_first zero", "s"), node("Add", "y s", "z")], "outputs": ["z"]},
        {"more": [node("Tanh", "h_first", "z")], "outputs": ["z"]},
        {"layers": 2, "order": [1, 0]},
        {"more": [node("RNN", "Y0 W1 R0 B0 _ h_first", "u v", hidden_size=UNITS)]},
    ],
    ids=["read at every step", "shown", "crossed", "shared"],
)
def test_a_state_that_is_no_memory_of_the_layers_is_refused(wrong):
    with pytest.raises(ModelError):
        import_model(layered("GRU", **wrong))


@pytest.mark.parametrize(
    "given",
    [
        {"more": [node("Add", "h_last h_last", "twice")], "outputs": ["twice", "-h_last"]},
        {"outputs": ["-h_last"]},
    ],
    ids=["changed", "not given"],
)
def test_a_state_that_is_not_handed_on_is_an_input_of_the_first_step(given):
    model = layered("GRU", **given)
    net = import_model(model)
    assert [port.name for port in net.inputs] == ["x", "h_first"]
    assert not net.memory
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime", samples=16).passed


def test_lstms_states_by_the_other_names():
    model = layered("LSTM")
    swapped = {"h_last": "c_last", "c_last": "h_last"}
    for each in (*model.graph.node, *model.graph.output):
        if isinstance(each, onnx.NodeProto):
            each.output[:] = [swapped.get(name, name) for name in each.output]
        else:
            each.name = swapped.get(each.name, each.name)
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime", samples=16).passed


BEFORE = {
    "another input": [node("Concat", "x x", "steps", axis=2)],
    "a convolution over time": [
        node("Transpose", "x", "u", perm=[1, 2, 0]),
        node("Conv", "u K", "v", pads=[0, 0], kernel_shape=[1]),
        node("Transpose", "v", "steps", perm=[2, 0, 1]),
    ],
    "a reshape of both axes": [
        node("Shape", "x", "shape"),
        node("Reshape", "x rows", "u"),
        node("Tanh", "u", "v"),
        node("Reshape", "v shape", "steps"),
    ],
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("names", [("h_first", "h_last"), ("p", "q")])
def test_layers_may_stand_behind_other_nodes(before, names):
    """Their states pair whatever they are called, by the layers that begin and end with them."""
    width = 2 * INPUTS if before == "another input" else INPUTS
    random, (first, last) = np.random.default_rng(4), names
    tensors = {
        "W": random.normal(size=(1, 3 * UNITS, width)).astype(np.float32),
        "R": random.normal(size=(1, 3 * UNITS, UNITS)).astype(np.float32),
        "K": random.normal(size=(INPUTS, INPUTS, 1)).astype(np.float32),
        "one": np.array([1]),
        "rows": np.array([-1, INPUTS]),
    }
    nodes = [
        *BEFORE[before],
        node("GRU", f"steps W R _ _ {first}", f"Y {last}", hidden_size=UNITS),
        node("Squeeze", "Y one", "y"),
    ]
    read = {name for each in nodes for name in each.input}
    given = {"x": ["s", "n", INPUTS], first: [1, "n", UNITS]}
    body = helper.make_graph(
        nodes,
        "behind",
        [entry(name, shape) for name, shape in given.items()],
        [entry(name, None) for name in ("y", last)],
        [numpy_helper.from_array(values, name) for name, values in tensors.items() if name in read],
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    net = import_model(model)
    assert [port.name for port in (*net.inputs, *net.outputs)] == ["x", "y"]
    assert verify(net, model, runtime="onnxruntime", samples=16).passed


def partly_fed() -> onnx.ModelProto:
    model = layered("LSTM")
    del model.graph.input[2]
    for each in model.graph.node:
        each.input[:] = ["" if name == "c_first" else name for name in each.input]
    return model


def test_a_state_that_begins_anew_beside_one_that_is_fed_is_refused():
    with pytest.raises(ModelError, match="one of its states is constant at the start of each part"):
        import_model(partly_fed())


def test_a_sequence_is_checked_in_parts(monkeypatch):
    """Run at once the model and the network are equal: only the second part begins elsewhere."""
    monkeypatch.setattr(walk, "check_all_fed", lambda ctx, node: None)
    model = partly_fed()
    net = import_model(model, check=False)
    assert verify(net, model, runtime="onnxruntime", samples=16).verdict == "different"
    with pytest.raises(ModelError, match="does not compute what the model does"):
        import_model(model)


@pytest.mark.parametrize("read", ["h_first", "h_last"])
def test_the_ends_of_a_sequence_are_not_read_in_the_body_of_a_scan(read):
    """A body captures names that are no inputs of its node."""
    adds = [node("Squeeze", f"{read} zero", "held"), node("Add", "step held", "sum")]
    body = helper.make_graph(adds, "body", [entry("step", None)], [entry("sum", None)])
    scan = helper.make_node("Scan", ["y"], ["z"], body=body, num_scan_inputs=1)
    with pytest.raises(ModelError, match=r"of a sequence|before a sequence"):
        import_model(layered("GRU", more=[scan], outputs=["z"]))


def summed(end: str | None = None) -> onnx.ModelProto:
    """A Scan that adds up what it reads, from a state that is an input to one that is an output."""
    held, step, after, given = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2])
        for name in ("held", "step", "after", "given")
    )
    adds = [
        node("Mul", "held half", "part"), node("Add", "part step", "after"),
        node("Tanh", "after", "given"),
    ]  # fmt: skip
    body = helper.make_graph(adds, "body", [held, step], [after, given])
    scan = helper.make_node("Scan", ["state_in", "x"], ["ends", "y"], body=body, num_scan_inputs=1)
    graph = helper.make_graph(
        [scan, node(end or "Identity", "ends", "state_out")],
        "sums",
        [entry("x", ["T", "n", 2]), entry("state_in", ["n", 2])],
        [entry("y", ["T", "n", 2]), entry("state_out", ["n", 2])],
        [numpy_helper.from_array(np.float32(0.5), "half")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_the_state_of_a_scan_may_be_fed():
    model = summed()
    net = import_model(model)
    assert [port.name for port in (*net.inputs, *net.outputs)] == ["x", "y"]
    assert verify(net, model, runtime="onnxruntime", samples=16).passed
    with pytest.raises(ModelError, match="is not the last state"):
        import_model(summed("Tanh"))


def test_an_encoder_whose_state_alone_is_an_output_says_so():
    model = layered("GRU", outputs=["-y"])
    with pytest.raises(ModelError, match="every output feeds an input"):
        import_model(model)


def test_an_output_of_the_first_state_alone_is_refused_beside_others():
    model = layered("GRU", more=[node("Neg", "h_first", "begun")], outputs=["begun"])
    with pytest.raises(ModelError, match="'begun' is the state before a sequence") as raised:
        import_model(model)
    assert "'y'" in raised.value.hint
    (advice,) = raised.value.hints
    assert import_model(model, **advice.arguments).outputs[0].name == "y"
