"""Which axis a recurrence runs along: time, the batch, or features."""

from itertools import product

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.rnn_cases import GATES, Case, assert_close, by_hand, in_onnxruntime, one_graph

from neat_onnx import ModelError, NeatOnnxWarning, import_model, verify

SAMPLES = 5


def _case(op, **attributes):
    case, random, rows = Case(op, 3, 2, attributes), np.random.default_rng(4), 2 * GATES[op]
    case.tensors = {
        "W": random.normal(size=(1, rows, 3)).astype(np.float32),
        "R": random.normal(size=(1, rows, 2)).astype(np.float32),
        "B": random.normal(size=(1, 2 * rows)).astype(np.float32),
    }
    return case


def _samples(*shape):
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def _batch_first(op, dims, output="Y_h"):
    """X [N, T, 3], transposed for the node."""
    case = _case(op)
    nodes = [
        helper.make_node("Transpose", ["X"], ["scaled"], perm=[1, 0, 2]),
        helper.make_node("Mul", ["scaled", "two"], ["steps"]),
        helper.make_node(op, ["steps", "W", "R", "B"], ["Y", "Y_h"], hidden_size=2),
        helper.make_node("Transpose", [output], ["out"], perm=[1, 0, 2]),
    ]
    tensors = case.tensors | {"two": np.array(2.0, np.float32)}
    return one_graph(nodes, {"X": dims}, {"out": [dims[0], 1, 2]}, tensors)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("steps", [1, 4])
def test_samples_of_a_fixed_length_do_not_see_each_other(op, steps):
    model, x = _batch_first(op, ["N", steps, 3]), _samples(SAMPLES, steps, 3)
    net = import_model(model)
    assert not net.has_memory
    want = in_onnxruntime(model, x)["out"]
    assert_close(net.activate({"X": x})["out"], want, 1e-5)


@pytest.mark.parametrize("op", GATES)
def test_the_same_by_layout(op):
    case, x = _case(op, layout=1), _samples(SAMPLES, 1, 3)
    model = case.model(x, ["N", 1, 3])
    del model.graph.output[2:]
    shapes = {"Y": ["N", 1, 1, 2], "Y_h": ["N", 1, 2]}
    for entry in model.graph.output:
        for dim, size in zip(entry.type.tensor_type.shape.dim, shapes[entry.name], strict=True):
            dim.Clear()
            if isinstance(size, int):
                dim.dim_value = size
            else:
                dim.dim_param = size
    net = import_model(model)
    assert not net.has_memory
    want = by_hand(_case(op), x.swapaxes(0, 1).astype(np.float64))
    got = net.activate({"X": x})
    assert_close(got["Y_h"], want["Y_h"].swapaxes(0, 1), 1e-12)


@pytest.mark.parametrize("op", GATES)
def test_a_sequence_on_the_second_axis_is_played_along_it(op):
    """Batch-first: samples stay apart, and the last step gives what the node ends with."""
    model, x = _batch_first(op, ["batch", "seq", 3]), _samples(5, SAMPLES, 3)
    net = import_model(model)
    want = in_onnxruntime(model, np.ascontiguousarray(x.swapaxes(0, 1)))["out"]
    assert_close(net.run({"X": x})["out"][-1], want, 1e-5)


@pytest.mark.parametrize("op", GATES)
def test_a_sequence_of_a_fixed_length_is_unrolled(op):
    case, x = _case(op), _samples(4, 1, 3)
    model = case.model(x)
    with pytest.warns(NeatOnnxWarning, match=r"every axis is taken for features.*fixed length 4"):
        reply = import_model(model)
    for net in (reply, import_model(model, batch_axis=None)):
        got = net.activate({"X": x})
        for name, want in in_onnxruntime(model, x).items():
            assert_close(got[name], want, 1e-5)


def test_one_step_has_no_memory():
    model, x = _case("GRU").model(_samples(1, 1, 3)), _samples(1, 1, 3)
    net = import_model(model)
    assert not net.has_memory
    want = in_onnxruntime(model, x)
    assert_close(net.activate({"X": x})["Y_h"], want["Y_h"], 1e-5)


def test_an_axis_called_batch_that_a_layer_runs_along_is_time():
    case, x = _case("LSTM"), _samples(3, 2, 3)
    model = case.model(x, ["batch", "seq", 3])
    text = "runs along the axis 'batch': it is taken for time"
    with pytest.warns(NeatOnnxWarning, match=text) as told:
        net = import_model(model)
    assert told[0].filename == __file__
    want = in_onnxruntime(model, x)["Y"]
    assert_close(net.run({"X": x})["Y"].reshape(want.shape), want, 1e-5)


NAMES = {
    "none": (None, None),
    "neither": ("d0", "d1"),
    "swapped": ("t", "n"),
    "one sample": (1, "d1"),
}


ENDS = {
    "Gather": [helper.make_node("Gather", ["every", "last"], ["end"], axis=1)],
    "Gather of one": [
        helper.make_node("Unsqueeze", ["last", "zero"], ["places"]),
        helper.make_node("Gather", ["every", "places"], ["kept"], axis=1),
        helper.make_node("Squeeze", ["kept", "one"], ["end"]),
    ],
    "Slice": [
        helper.make_node("Slice", ["every", "from", "to", "one"], ["kept"]),
        helper.make_node("Squeeze", ["kept", "one"], ["end"]),
    ],
}


def _layers(op, dims, end="Gather"):
    """X [N, T, 3] through a matrix and two layers, transposed for them and back."""
    case = _case(op)
    nodes = [
        helper.make_node("MatMul", ["X", "M"], ["product"]),
        helper.make_node("Add", ["ones", "product"], ["moved"]),
        helper.make_node("Transpose", ["moved"], ["steps"], perm=[1, 0, 2]),
        helper.make_node(op, ["steps", "W", "R", "B"], ["Y1"], hidden_size=2),
        helper.make_node("Squeeze", ["Y1", "one"], ["between"]),
        helper.make_node("Pad", ["between", "pads"], ["padded"]),
        helper.make_node(op, ["padded", "W", "R", "B"], ["Y2", "Y_h"], hidden_size=2),
        helper.make_node("Squeeze", ["Y2", "one"], ["second"]),
        helper.make_node("Transpose", ["second"], ["every"], perm=[1, 0, 2]),
        *ENDS[end],
    ]
    tensors = case.tensors | {
        "M": np.eye(3, dtype=np.float32) * 0.5,
        "ones": np.ones(3, np.float32),
        "one": np.array([1]),
        "pads": np.array([0, 0, 0, 0, 0, 1]),
        "last": np.array(-1),
        "zero": np.array([0]),
        "from": np.array([-1]),
        "to": np.array([2**63 - 1]),
    }
    return one_graph(
        nodes, {"X": [*dims, 3]}, {"every": [None, None, 2], "end": [None, 2]}, tensors
    )


@pytest.mark.parametrize(
    ("names", "end"),
    [
        *product(NAMES, ["Gather"]),
        ("neither", "Gather of one"),
        ("swapped", "Slice"),
        ("one sample", "Slice"),
    ],
)
@pytest.mark.parametrize("op", GATES)
def test_the_axis_that_layers_run_along_is_time_whatever_it_is_called(op, names, end):
    model = _layers(op, NAMES[names], end)
    samples = 1 if names == "one sample" else SAMPLES
    net, x = import_model(model), _samples(samples, 4, 3)
    got, want = net.run({"X": x.swapaxes(0, 1)}), in_onnxruntime(model, x)
    assert_close(got["every"].swapaxes(0, 1), want["every"], 1e-5)
    assert_close(got["end"][-1], want["end"], 1e-5)
    assert verify(net, model, runtime="onnxruntime").passed


def test_the_end_of_a_sequence_is_no_sequence():
    model = _layers("GRU", ("batch", "time"))
    model.graph.node.append(helper.make_node("Add", ["end", "every"], ["both"]))
    model.graph.output[1].name = "both"
    with pytest.raises(ModelError, match="the end of a sequence, as if it were a sequence") as told:
        import_model(model)
    assert "shapes={'X': ('N', 16, 3)}" in str(told.value)


@pytest.mark.filterwarnings("ignore:.*it is taken for time")
@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("name", ["T", "unk__0"])
def test_an_open_sequence_beside_a_batch_of_fixed_size_is_refused(op, name):
    """The one open axis would be both time and the batch."""
    model = _case(op).model(_samples(SAMPLES, 2, 3), [name, 2, 3])
    with pytest.raises(ModelError, match="its sequence is open, and its batch has 2 samples"):
        import_model(model, check=False)


def _unbatched(end):
    """X [T, 3] through an RNN of one sample; y is each step's, the last one's, or a Scan's sums."""
    random = np.random.default_rng(6)
    tensors = {
        "W": random.normal(size=(1, 2, 3)).astype(np.float32),
        "R": random.normal(size=(1, 2, 2)).astype(np.float32),
        "first": np.zeros(3, np.float32),
        "one": np.array([1]),
    }
    if end == "Scan":
        entries = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])
            for name in ("held", "step", "next", "given")
        ]
        adds = [
            helper.make_node("Add", ["held", "step"], ["next"]),
            helper.make_node("Tanh", ["next"], ["given"]),
        ]
        body = helper.make_graph(adds, "body", entries[:2], entries[2:])
        scan = helper.make_node("Scan", ["first", "X"], ["sums", "y"], body=body, num_scan_inputs=1)
        return one_graph([scan], {"X": ["T", 3]}, {"y": ["T", 3]}, tensors)
    axes, shape = {"Y": ([1, 2], ["T", 2]), "Y_h": ([0, 1], [2])}[end]
    nodes = [
        helper.make_node("Unsqueeze", ["X", "one"], ["steps"]),
        helper.make_node("RNN", ["steps", "W", "R"], ["Y", "Y_h"], hidden_size=2),
        helper.make_node("Squeeze", [end, "axes"], ["y"]),
    ]
    return one_graph(nodes, {"X": ["T", 3]}, {"y": shape}, tensors | {"axes": np.array(axes)})


@pytest.mark.parametrize("end", ["Y", "Y_h", "Scan"])
@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_a_sequence_without_a_batch_is_played_alone(end, runtime):
    model = _unbatched(end)
    net = import_model(model)
    assert net.has_memory
    report = verify(net, model, runtime=runtime, samples=16)
    assert report.verdict == "equal"
    assert report.steps > 1


def test_a_scan_over_a_fixed_length_has_neurons_for_every_step():
    model = _unbatched("Scan")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with pytest.warns(NeatOnnxWarning, match=r"every axis is taken for features.*fixed length 4"):
        net = import_model(model)
    assert [port.shape for port in net.inputs] == [(4, 3)]
    assert verify(net, model, samples=16).verdict == "equal"


def test_the_steps_of_a_scan_without_states_are_samples():
    step, given = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("a", "b"))
    body = helper.make_graph([helper.make_node("Tanh", ["a"], ["b"])], "body", [step], [given])
    scan = helper.make_node("Scan", ["X"], ["y"], body=body, num_scan_inputs=1)
    net = import_model(one_graph([scan], {"X": [4, 3]}, {"y": [4, 3]}, {}))
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(3,), (3,)]
