"""A network that was imported leaves with the inputs and outputs of its file: their types, the
place of the batch or none, time, and memory; also after it has evolved.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.texts import drawn, ends, read
from support.harness.sessions import open_session

from neat_onnx import (
    Model,
    NeatOnnxWarning,
    Network,
    NetworkError,
    OptionError,
    certify,
    export,
    import_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.genome.port_hints import PORTS
from neat_onnx.model import MetadataEntry
from neat_onnx.model.ports import BATCH_AXIS

pytestmark = [
    pytest.mark.filterwarnings("ignore:by their names"),
    pytest.mark.filterwarnings("ignore:.* is taken to feed"),
    pytest.mark.filterwarnings("ignore:numbers are rounded to FLOAT16"),
]
RNG = np.random.default_rng(0)
INTEGERS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")

TYPES = {
    kind: f"({kind}[N,4] x, float[N,3] o) => (float[N,3] y)"
    "{ f = Cast<to=1>(x) g = MatMul(f, W_4_3) h = Add(g, o) y = Tanh(h) }"
    for kind in INTEGERS
} | {
    "images": "(uint8[N,1,5,5] x) => (float[N,18] y) <float c = {255.0}>"
    "{ f = Cast<to=1>(x) g = Div(f, c) h = Conv(g, W_2_1_3_3) i = Relu(h) y = Flatten(i) }",
    "masks": "(float[N,3] x, bool[N,3] m) => (float[N,3] p, bool[N,3] y)"
    "<float low = {-1e8}, float half = {0.5}>"
    "{ s = Where(m, x, low) p = Softmax(s) y = Greater(x, half) }",
    "half": "(float16[N,3] x) => (float16[N,3] y) { h = Gemm(x, H_3_3) y = Tanh(h) }",
    "half in": "(float16[N,3] x) => (float[N,3] y) { y = Cast<to=1>(x) }",
    "half out": "(float[N,3] x) => (float16[N,3] y) { y = Cast<to=10>(x) }",
    "an image of half": "(float16[N,2,3] x) => (float16[N,2,3] y) { y = Relu(x) }",
    "two": "(float16[N,3] x, float16[N,2] s) => (float16[N,3] y, float[N,2] z)"
    "{ y = Tanh(x) z = Cast<to=1>(s) }",
    "double": "(double[N,4] x) => (double[N,4] y) { y = Tanh(x) }",
    "double beside float": "(double[N,4] x) => (float[N,3] y, double[N,3] z)"
    "{ f = Cast<to=1>(x) h = MatMul(f, W_4_3) y = Tanh(h) z = Cast<to=11>(h) }",
}
COMPUTED = {
    "truths": "(float[N,4] x) => (bool[N,4,2] y) <float half = {0.5}, float low = {-1.0}>"
    "{ t = Greater(x, half) u = Less(x, low) v = Concat<axis=1>(t, u) w = Reshape(v, i_0_2_4)"
    " y = Transpose<perm=[0,2,1]>(w) }",
    "actions": "(float[N,4] x) => (int32[N,2] y) { h = MatMul(x, W_4_3) a = ArgMax<axis=1>(h)"
    " b = ArgMax<axis=1>(x) c = Concat<axis=1>(a, b) y = Cast<to=6>(c) }",
    "signs": "(float[N,4] x) => (int64[N,1] y)"
    "<float zero = {0.0}, int64[1] one = {1}, int64[1] less = {-1}>"
    "{ h = MatMul(x, W_4_3) s = ReduceSum(h, i_1) t = Greater(s, zero) y = Where(t, one, less) }",
    "labels": "(float[N,4] x) => (int64[N] y) <int64[3] names = {10, -20, 7}>"
    "{ h = MatMul(x, W_4_3) a = ArgMax<axis=1, keepdims=0>(h) y = Gather(names, a) }",
    "sums": "(bool[N,2] b, int64[N,2] k) => (int64[N,2] y) { c = Cast<to=7>(b) y = Add(c, k) }",
}
BATCH = {
    "in the middle": "(float[2,N,2] x) => (float[3,N,1] y) { t = Transpose<perm=[1,0,2]>(x)"
    " f = Flatten(t) g = MatMul(f, W_4_3) h = Tanh(g) i = Reshape(h, i_0_3_1)"
    " y = Transpose<perm=[1,0,2]>(i) }",
    "last": "(float16[3,N] x) => (float16[N,3] y) { t = Transpose<perm=[1,0]>(x)"
    " f = Cast<to=1>(t) e = Exp(f) y = Cast<to=10>(e) }",
}
SHARED = {
    "a number": "(float[N,3] x, float dt) => (float[N,2] y) <float[2] b = {0.5, -0.25}>"
    "{ h = MatMul(x, W_3_2) t = Tanh(h) s = Mul(t, dt) y = Add(s, b) }",
    "before the samples": "(float dt, float[N,3] x) => (float[N,2] y)"
    "{ h = MatMul(x, W_3_2) t = Tanh(h) y = Mul(t, dt) }",
    "an integer": "(float[N,3] x, int64 dt) => (float[N,2] y)"
    "{ d = Cast<to=1>(dt) h = MatMul(x, W_3_2) t = Tanh(h) y = Mul(t, d) }",
    "one for each feature": "(float[N,3] x, float[2] dt) => (float[N,2] y)"
    "{ h = MatMul(x, W_3_2) t = Tanh(h) y = Mul(t, dt) }",
    "added to a layer": "(float[N,3] x, float c) => (float[N,2] y) { u = Unsqueeze(c, i_0)"
    " v = Mul(u, W_1_2) h = MatMul(x, W_3_2) s = Add(h, v) y = Tanh(s) }",
    "two, and samples behind": "(float[3,N] x, float a, float[2] b) => (float[N,2] y)"
    "{ t = Transpose<perm=[1,0]>(x) h = MatMul(t, W_3_2) u = Unsqueeze(a, i_0)"
    " v = Mul(u, W_1_2) s = Add(h, v) y = Mul(s, b) }",
} | {
    name: f"(float[N,3] x, float[{sizes}] s) => (float[N,k] y) {{ {nodes} }}"
    for name, sizes, nodes in (
        ("MatMul", "3", "t = MatMul(s, W_3_3) y = Add(x, t)"),
        ("Softmax", "3", "t = Softmax(s) y = Mul(x, t)"),
        ("sum of rows", "2,3", "t = ReduceSum(s, i_0) y = Mul(x, t)"),
        ("mean of all", "3", "t = ReduceMean<keepdims=0>(s) y = Mul(x, t)"),
        ("Gather", "3", "t = Gather(s, i_2_0_1) y = Mul(x, t)"),
        ("one number", "1", "t = Exp(s) y = Mul(x, t)"),
        ("x · s", "3,3", "y = MatMul(x, s)"),
        ("x · s transposed", "2,3", "y = Gemm<transB=1>(x, s)"),
        ("x · s, a vector", "3", "t = MatMul(x, s) y = Unsqueeze(t, i_1)"),
        ("given to each", "3", "n = Shape(x) c = Gather(n, i_0) w = Concat<axis=0>(c, i_3)"
         " e = Expand(s, w) y = Concat<axis=1>(x, e)"),
    )
}  # fmt: skip
SINGLE = {
    "a vector": "(float[4] x) => (float[3] y) { h = MatMul(x, W_4_3) y = Tanh(h) }",
    "a graph network": "(float[4,3] x) => (float[4,5] r, float y)"
    "{ n = MatMul(W_4_4, x) h = MatMul(n, W_3_5) r = Relu(h) y = ReduceMax<keepdims=0>(r) }",
    "an image": "(float[2,6,6] x) => (float[3,4,4] y)"
    "{ i = Unsqueeze(x, i_0) c = Conv(i, W_3_2_3_3) r = Relu(c) y = Squeeze(r, i_0) }",
    "memory": "(float[4] x, float[3] h_in) => (float[3] y, float[3] h_out) <float two = {2.0}>"
    "{ a = MatMul(x, W_4_3) b = MatMul(h_in, W_3_3) c = Add(a, b) h_out = Tanh(c)"
    " y = Mul(h_out, two) }",
}
WALK = "h = RNN<hidden_size=4>(t, W_1_4_3, R_1_4_4) s = Squeeze(h, i_1)"
TURNED = "t = Transpose<perm=[1,0,2]>(x)"
ENDED = "end = Constant<value_int=-1>() e = Gather<axis=0>(s, end) y = MatMul(e, W_4_2)"
SEQUENCES = {
    "time first": f"(float[T,N,3] x) => (float[T,N,2] y)"
    f"{{ t = Identity(x) {WALK} y = MatMul(s, W_4_2) }}",
    "the batch first": f"(float[N,T,3] x) => (float[N,T,2] y)"
    f"{{ {TURNED} {WALK} m = MatMul(s, W_4_2) y = Transpose<perm=[1,0,2]>(m) }}",
    "the end alone": f"(float[N,T,3] x) => (float[N,2] y) {{ {TURNED} {WALK} {ENDED} }}",
    "a GRU with a state": "(float[N,T,3] x, float[1,N,4] h0) => (float[N,T,4] y, float[1,N,4] hn)"
    f"{{ {TURNED} r, hn = GRU<hidden_size=4>(t, W_1_12_3, R_1_12_4, , , h0) s = Squeeze(r, i_1)"
    " y = Transpose<perm=[1,0,2]>(s) }",
    "an LSTM with states": "(float[N,T,3] x, float[N,4] h0, float[N,4] c0) =>"
    f"(float[N,T,4] y, float[N,4] hn, float[N,4] cn) {{ {TURNED} h1 = Unsqueeze(h0, i_0)"
    " c1 = Unsqueeze(c0, i_0)"
    " r, h2, c2 = LSTM<hidden_size=4>(t, W_1_16_3, R_1_16_4, B_1_32, , h1, c1)"
    " s = Squeeze(r, i_1) y = Transpose<perm=[1,0,2]>(s) hn = Squeeze(h2, i_0)"
    " cn = Squeeze(c2, i_0) }",
}
EVERY = {**TYPES, **COMPUTED, **BATCH, **SHARED, **SINGLE, **SEQUENCES}
ROUNDED = {"an image of half", "last"}  # whose numbers have no weights to know them by
OPEN = {"T", "k"}  # axes that an export may call otherwise


def imported(name: str) -> Network:
    return import_model(read(EVERY[name]), batch_axis=None if name in SINGLE else "auto")


def assert_takes_the_place(name: str, net: Network, model: Model) -> None:
    """The export runs in the program of the file, and what the network computes is the same."""
    first = read(EVERY[name])
    for (label, kind, sizes), (own, ours, shape) in zip(ends(first), ends(model), strict=True):
        assert (label, kind) == (own, ours)
        known = [size for size in sizes if size not in OPEN]
        assert known == shape if len(known) == len(sizes) else len(sizes) == len(shape)
    feed = drawn(first, RNG, N=6, T=5)
    for want, got in zip(*(open_session(each).run(None, feed) for each in (first, model)),
                         strict=True):  # fmt: skip
        assert (want.dtype, want.shape) == (got.dtype, got.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    for each in (first, model):
        assert verify(net, each, samples=16, runtime="onnxruntime").passed


@pytest.mark.parametrize("name", EVERY)
def test_the_export_runs_in_the_program_of_the_file(name: str):
    net = imported(name)
    model = export(net.without_source())
    assert_takes_the_place(name, net, model)
    if name not in ROUNDED:
        again = import_model(model)
        assert again == net
        stated = [(each.dtype, each.batch_axis, each.time_axis) for each in net.inputs]
        assert [(each.dtype, each.batch_axis, each.time_axis) for each in again.inputs] == stated


EVOLVED = [*list(TYPES)[8:], *BATCH, *list(SHARED)[:6], *SINGLE, *SEQUENCES]


@pytest.mark.parametrize("name", [name for name in EVOLVED if name not in ROUNDED])
def test_so_it_does_after_evolution(name: str):
    net = imported(name)
    weight = net.connections.weight
    changed = np.where(weight == 1.0, weight, 0.75 * weight)
    grown = replace(net, connections=replace(net.connections, weight=changed), library="mine")
    grown = load_network(grown.without_source().to_json())
    model = export(grown)
    assert [end[:2] for end in ends(model)] == [end[:2] for end in ends(read(EVERY[name]))]
    assert verify(grown, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == grown


OPTIONS: dict[str, Any] = {
    "opset": 13, "profile": "sonnx", "dtype": "float64", "include_metadata": False,
    "batch_dimension": "samples", "fused_recurrent": False,
}  # fmt: skip
SOME = ["uint8", "half", "double beside float", "labels", "in the middle", "a number",
        "two, and samples behind", "a vector", "memory", "the batch first",
        "an LSTM with states"]  # fmt: skip


@pytest.mark.filterwarnings("ignore:without metadata nothing says that there is no batch")
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("option", OPTIONS)
def test_options_change_nothing_of_it(name: str, option: str):
    options = {option: OPTIONS[option]}
    net = imported(name)
    if (name in SINGLE or name in SEQUENCES) and "batch_dimension" in options:
        return
    model = export(net.without_source(), **options)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    wanted, found = ends(read(EVERY[name])), ends(model)
    if "dtype" not in options:
        assert [end[:2] for end in found] == [end[:2] for end in wanted]
    assert [len(sizes) for *_, sizes in found] == [len(sizes) for *_, sizes in wanted]
    if "profile" in options:
        assert validate(model, profile="sonnx") == []
    if "include_metadata" not in options:
        assert import_model(model) == net


# --- types ----------------------------------------------------------------------------------------


def counter() -> Network:
    """A network that gives its integers plus one."""
    return import_model(read("(int64[N,2] x) => (int64[N,2] y) { y = Add(x, i_1) }"))


def test_integers_alone_are_exact():
    x = np.array([[2**24 + 1, -(2**52) + 1]])
    (got,) = open_session(export(counter())).run(None, {"x": x})
    np.testing.assert_array_equal(got, x + 1)
    assert set(import_model(read(COMPUTED["sums"])).activations) == {"identity"}
    model = export(counter(), sequence=True)
    assert {kind for _, kind, _ in ends(model)} == {"INT64"}
    assert verify(counter(), model, samples=16).passed


@pytest.mark.parametrize("options", [{"dtype": "float32"}, {"quantize": "weights"}])
def test_float64_stays_unless_an_option_says_otherwise(options):
    net = imported("double")
    assert {kind for _, kind, _ in ends(export(net.without_source(), **options))} == {"FLOAT"}


def test_a_genome_has_the_type_of_numbers_that_it_had():
    """float64 is an option of the export of networks that were not imported."""
    again = import_model(export(Network.mlp([3, 4, 2]), dtype="float64"))
    assert {kind for _, kind, _ in ends(export(again))} == {"FLOAT"}


@pytest.mark.parametrize("metadata", [True, False])
def test_integers_that_float32_rounds_are_warned_of_once(metadata):
    net = imported("int64")
    genes = net.connections
    net = replace(net, connections=replace(genes, weight=np.full(len(genes), 2.0**24 + 1)))
    with pytest.warns(NeatOnnxWarning, match="16777217 is rounded in float32") as told:
        export(net, include_metadata=metadata, dtype="float32")
    assert len(told) == 1


def test_int8_reads_bytes():
    net = imported("uint8")
    model = export(net.without_source(), quantize="weights")
    assert ends(model) == ends(read(EVERY["uint8"]))
    feed = drawn(read(EVERY["uint8"]), RNG, N=40)
    (got,) = open_session(model).run(None, feed)
    assert np.abs(got - net.activate(feed)["y"]).max() < 0.05


@pytest.mark.parametrize(
    ("key", "value"), [("batch_axis", 2), ("batch_axis", 10**9), ("dtype", "x")]
)
def test_hints_that_do_not_fit_are_refused(key, value):
    document = counter().to_document().model_dump()
    document["outputs"][0][key] = value
    with pytest.raises(NetworkError, match=key):
        Network.from_document(document)
    with pytest.raises(NetworkError, match=key):
        replace(counter(), outputs=(replace(counter().outputs[0], **{key: value}),))


def test_hints_of_the_metadata_that_do_not_fit_are_left_out():
    model = export(counter())
    entry = MetadataEntry(key=PORTS, value='{"y": {"batch_axis": 40}}')
    edited = model.model_copy(update={"metadata_props": [*model.metadata_props, entry]})
    with pytest.warns(NeatOnnxWarning, match=PORTS):
        assert import_model(edited) == counter()


# --- the batch ------------------------------------------------------------------------------------


def test_values_that_all_samples_share():
    net, x = imported("a number"), RNG.normal(size=(6, 3))
    for compute in (net.activate, net.run):
        once, each = (compute({"x": x, "dt": dt})["y"] for dt in (0.5, np.full(6, 0.5)))
        np.testing.assert_array_equal(once, each)
    for wrong in (np.zeros(5), np.zeros((6, 1))):
        with pytest.raises(NetworkError, match="'dt'"):
            net.activate({"x": x, "dt": wrong})
    with pytest.raises(NetworkError, match="'x'"):
        net.activate({"x": 0.5, "dt": 0.5})
    weight = net.connections.weight * np.where(net.connections.weight == 1.0, 1.01, 1.0)
    changed = replace(net, connections=replace(net.connections, weight=weight))
    assert not verify(net, export(changed.without_source()), samples=16).passed


def test_memory_has_a_batch_beside_what_is_shared():
    first = read(
        "(float[N,3] x, float decay, float[N,3] h) => (float[N,3] y, float[N,3] h_next)"
        "{ d = Mul(h, decay) s = Add(d, x) h_next = Tanh(s) y = Identity(h_next) }"
    )
    net = import_model(first, memory={"h": "h_next"})
    model = export(net.without_source())
    assert ends(model) == ends(first)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_a_fixed_batch_is_the_first_axis():
    net = imported("in the middle")
    assert ends(export(net.without_source(), batch_dimension=False))[0][2] == [1, 2, 2]
    state = read(
        "(float[3,N] x, float[3,N] h) => (float[N,3] y, float[3,N] h_next)"
        "{ s = Add(x, h) h_next = Tanh(s) y = Transpose<perm=[1,0]>(h_next) }"
    )
    net = import_model(state, memory={"h": "h_next"})
    assert import_model(export(net.without_source(), batch_dimension=False)) == net


@pytest.mark.parametrize("net", [Network.mlp([4, 8, 2]), Network.mlp([1, 3]), Network.lstm(3, 4)])
def test_any_network_is_exported_without_a_batch(net):
    model = export(net, batch_dimension=None)
    assert all(len(sizes) == 1 for *_, sizes in ends(model))
    assert verify(net, model, runtime="onnxruntime").passed
    back = import_model(model)
    assert back == net
    assert ends(export(back.without_source()))[0][2][0] == "N"


def test_an_axis_that_was_opened_is_the_batch():
    entry = MetadataEntry(key=BATCH_AXIS, value="none")
    model = export(Network.mlp([3, 2], seed=0)).model_copy(update={"metadata_props": [entry]})
    assert import_model(model).inputs[0].shape == (3,)


def test_sequences_have_a_batch():
    with pytest.raises(OptionError, match="sequences have a batch"):
        export(Network.rnn(3, 4, 2), sequence=True, batch_dimension=None)
    net = imported("memory")
    assert export(net.without_source(), sequence=True).graph.inputs[0].shape == ("T", "N", 4)
    assert certify(net, export(net.without_source())).verdict != "different"


# --- time -----------------------------------------------------------------------------------------


def test_one_step_where_it_is_asked_for():
    net = imported("the batch first")
    step = export(net.without_source(), sequence=False)
    given, _, made, _ = (sizes for *_, sizes in ends(step))
    assert (given, made) == (["N", 3], ["N", 2])
    assert verify(net, step, samples=16).passed
    back = import_model(step)
    assert back == net
    assert len(ends(export(back.without_source()))) == 2
    assert len(ends(export(net.without_source(), quantize="weights"))) == 4


def test_a_sequence_is_an_option_of_a_network_that_was_not_imported():
    net = Network.rnn(3, 4, seed=1)
    whole = export(net, sequence=True)
    back = import_model(whole)
    assert back == net
    assert export(back.without_source()).to_bytes() == export(net).to_bytes()
    assert "neat_onnx.ports" not in whole.metadata


@pytest.mark.parametrize("fused", [True, False])
def test_ports_named_like_states_are_none(fused: bool):
    net = Network.rnn(3, 3, seed=1)
    x, y = replace(net.inputs[0], name="hidden_prev"), replace(net.outputs[0], name="hidden_next")
    net = replace(net, inputs=(x,), outputs=(y,))
    model = export(net, sequence=True, fused_recurrent=fused)
    assert import_model(model) == net
    assert verify(net, model, samples=16).passed
    with pytest.raises(OptionError, match="is an input, and no state"):
        export(net, sequence=True, fused_recurrent=fused, include_metadata=False)


def test_a_place_of_time_that_is_no_axis_is_refused():
    net = imported("time first")
    with pytest.raises(NetworkError, match="time_axis is 4"):
        replace(net, inputs=(replace(net.inputs[0], time_axis=4),))
    onnx.checker.check_model(onnx.load_from_string(export(net.without_source()).to_bytes()))


def test_a_neuron_of_the_states_may_change():
    net = imported("an LSTM with states")
    activation = net.neurons.activation.copy()
    activation[int(net.memory[0].neurons[0])] = activation[net.inputs[0].neurons[0]]
    grown = replace(net, neurons=replace(net.neurons, activation=activation)).without_source()
    model = export(grown)
    assert [name for name, *_ in ends(model)] == ["x", "h0", "c0", "y", "hn", "cn"]
    assert verify(grown, model, samples=16).passed
    assert import_model(model) == grown
