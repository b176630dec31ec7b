"""Faults of the kinds that adversaries found, generated: told in a line, or right.

Small files that ask for much, files that end too early or announce more than they have, documents
that are nested deeply, numbers that are none or beyond float32, states that grow. Streams, pipes
and full disks have theirs in tests/cli/test_streams.py.
"""

import itertools
import json
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.cases import case
from support.harness.sweep import pairs

from neat_onnx import (
    NeatOnnxError,
    NeatOnnxWarning,
    Network,
    canonicalize,
    export,
    import_model,
    limits,
    load_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.model import Tensor

pytestmark = [
    pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]
MANY = 10**9


@contextmanager
def small(seconds: float = 4.0, bytes_: float = 64e6) -> Iterator[None]:
    """What it does takes little memory and time."""
    begun = time.process_time()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < bytes_
    finally:
        tracemalloc.stop()
    assert time.process_time() - begun < seconds


def told(work: Callable[[], Any]) -> str:
    """The error of this package, or "" where there is none."""
    try:
        work()
    except NeatOnnxError as error:
        assert str(error).isprintable()
        return str(error)
    return ""


# --- a few bytes that ask for much ----------------------------------------------------------------

ONE, WIDE, TALL = "float[1] one = {1}", "int64[2] wide = {1, 40000}", "int64[2] tall = {40000, 1}"
OUTER = f"{ONE}, {WIDE}, {TALL}", "p = Expand (one, tall) q = Expand (one, wide) "
PAIR = "float[1,1,2] w = {1, 1}, float[1,1,2] k = {1, 2}"
SQUARE = "int64[2] s = {40000, 40000}"
LONG = "int64[1] n = {1000000000}"
LOOP = (
    "body = b (int64 i, bool g) => (bool kept, float[1] r) { kept = Identity (g) f = Cast <to = 1>"
)
MADE = {
    "Range": ("float a = {0}, float b = {1e9}, float c = {1}", "big = Range (a, b, c)"),
    "EyeLike": (SQUARE, "c = ConstantOfShape (s) big = EyeLike (c)"),
    "Trilu": (SQUARE, "c = ConstantOfShape (s) big = Trilu (c)"),
    "ConstantOfShape": (LONG, "big = ConstantOfShape (n)"),
    "Expand": (f"{ONE}, {LONG}", "big = Expand (one, n)"),
    "Tile": (f"{ONE}, {LONG}", "big = Tile (one, n)"),
    "Pad": (f"{ONE}, int64[2] n = {{0, {MANY}}}", "big = Pad (one, n)"),
    "CenterCropPad": (f"{ONE}, {LONG}", "big = CenterCropPad (one, n)"),
    "OneHot": (
        f"int64[1] i = {{1}}, int64 d = {{{MANY}}}, float[2] v = {{0, 1}}",
        "big = OneHot (i, d, v)",
    ),
    "strides": (PAIR, f"big = ConvTranspose <strides = [{MANY}]> (w, k)"),
    "output_padding": (
        PAIR,
        f"big = ConvTranspose <strides = [{2 * MANY}], output_padding = [{MANY}]> (w, k)",
    ),
    "output_shape": (PAIR, f"big = ConvTranspose <output_shape = [{MANY}]> (w, k)"),
    "pads": (PAIR, f"big = Conv <pads = [0, {MANY}]> (w, k)"),
    "MaxPool": (
        PAIR,
        f"big = MaxPool <kernel_shape = [{MANY + 1}], pads = [{MANY}, {MANY}]> (w)",
    ),
    "LpPool": (PAIR, f"big = LpPool <kernel_shape = [2], pads = [{MANY}, {MANY}]> (w)"),
    "MaxUnpool": (
        f"float[1,1,1] w = {{1}}, int64[1,1,1] i = {{0}}, int64[3] s = {{1, 1, {MANY}}}",
        "big = MaxUnpool <kernel_shape = [1]> (w, i, s)",
    ),
    "Col2Im": (
        f"float[1,1,1] w = {{1}}, {SQUARE}, int64[2] k = {{1, 1}}",
        "big = Col2Im (w, s, k)",
    ),
    "RoiAlign": (
        "float[1,1,2,2] w = {1, 2, 3, 4}, float[1,4] q = {0, 0, 1, 1}, int64[1] b = {0}",
        "big = RoiAlign <output_height = 40000, output_width = 40000> (w, q, b)",
    ),
    "Resize": (
        "float[1,1,1,1] w = {1}, int64[4] s = {1, 1, 40000, 40000}",
        'big = Resize <mode = "cubic"> (w, , , s)',
    ),
    "DFT": (f"float[1,2,1] w = {{1, 2}}, int64 n = {{{MANY}}}", "big = DFT (w, n)"),
    **{
        name: (f"int64 n = {{{MANY}}}", f"big = {name} (n)")
        for name in ("HannWindow", "HammingWindow", "BlackmanWindow")
    },
    "RandomUniform": ("", f"big = RandomUniform <shape = [{MANY}]> ()"),
    **{
        name: (OUTER[0], f"{OUTER[1]}big = {name} (p, q)")
        for name in ("Mul", "Add", "Sub", "Div", "Pow", "Max", "Min", "Sum", "Mean", "PRelu",
                     "MatMul", "Gemm")
    },
    **{
        name: (OUTER[0], f"{OUTER[1]}c = {name} (p, q) big = Cast <to = 1> (c)")
        for name in ("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual")
    },
    "Where": (OUTER[0], f"{OUTER[1]}c = Cast <to = 9> (p) big = Where (c, p, q)"),
    "Mod": (OUTER[0], f"{OUTER[1]}big = Mod <fmod = 1> (p, q)"),
    "And": (
        OUTER[0],
        f"{OUTER[1]}c = Cast <to = 9> (p) d = Cast <to = 9> (q) e = And (c, d) "
        "big = Cast <to = 1> (e)",
    ),
    "Einsum": (OUTER[0], f'{OUTER[1]}big = Einsum <equation = "ia,bj->ij"> (p, q)'),
    "Gather": (OUTER[0], f"{OUTER[1]}z = Cast <to = 7> (q) big = Gather <axis = 1> (p, z)"),
    "GatherND": (
        f"{ONE}, int64[2] a = {{1000, 1000}}, int64[1] z = {{0}}, int64[2] b = {{4000, 1}}",
        "p = Expand (one, a) i = Expand (z, b) big = GatherND (p, i)",
    ),
    "Concat": (
        ONE,
        "t0 = Concat <axis = 0> (one, one) "
        + " ".join(f"t{k + 1} = Concat <axis = 0> (t{k}, t{k})" for k in range(40))
        + " big = Identity (t40)",
    ),
    "Loop": (
        f"int64 n = {{{MANY}}}, bool c = {{1}}, int64[1] a = {{0}}",
        f"big = Loop (n, c) <{LOOP} (i) r = Unsqueeze (f, a) }}>",
    ),
    "what nothing reads": (LONG, "unread = ConstantOfShape (n) big = Identity (x)"),
}  # fmt: skip
OF_INPUTS = {
    "Expand": ("int64[3] s = {1, 1, 1000000000}, int64[3] t = {-1, 3, 1}",
               "a = Reshape (x, t) y = Expand (a, s)"),
    "Tile": ("int64[2] s = {1, 1000000000}", "y = Tile (x, s)"),
    "Pad": ("int64[4] s = {0, 0, 0, 1000000000}", "y = Pad (x, s)"),
    "Resize": ("int64[2] s = {1, 1000000000}", "y = Resize <axes = [0, 1]> (x, , , s)"),
    "Upsample": ("int64[3] t = {-1, 1, 3}, float[3] s = {1, 1, 1e9}",
                 "a = Reshape (x, t) y = Resize (a, , s)"),
    "ConvTranspose": ("float[1,1,2] k = {1, 2}, int64[3] t = {-1, 1, 3}",
                      "a = Reshape (x, t) y = ConvTranspose <strides = [1000000000]> (a, k)"),
    "AveragePool": ("int64[3] t = {-1, 1, 3}",
                    "a = Reshape (x, t) y = AveragePool <kernel_shape = [1000000000], "
                    "pads = [1000000000, 1000000000], count_include_pad = 1> (a)"),
    "Gather": (f"int64[1] z = {{0}}, {LONG}", "i = Expand (z, n) y = Gather <axis = 1> (x, i)"),
    "MatMul": ("float[1] o = {1}, int64[2] s = {3, 10000000}",
               "w = Expand (o, s) y = MatMul (x, w)"),
    "Concat": ("", "t0 = Tanh (x) "
               + " ".join(f"t{k + 1} = Concat <axis = 1> (t{k}, t{k})" for k in range(40))
               + " y = Identity (t40)"),
    "pairs": ("int64[2] s = {1, 400}, int64[3] p = {-1, 1, 1200}, int64[3] q = {-1, 1200, 1}",
              "a = Tile (x, s) b = Reshape (a, p) c = Reshape (a, q) y = Mul (b, c)"),
    "Softmax": ("int64[2] s = {1, 100000}", "a = Tile (x, s) y = Softmax (a)"),
    "OneHot": ("int64 d = {1000000000}, float[2] v = {0, 1}",
               "i = Cast <to = 7> (x) y = OneHot (i, d, v)"),
    "Loop": ("int64 n = {1000000000}, bool c = {1}",
             "y = Loop (n, c, x) <body = b (int64 i, bool g, float[N, 3] s) => "
             "(bool kept, float[N, 3] r) { kept = Identity (g) r = Tanh (s) }>"),
}  # fmt: skip
VERBS = {"import_model": import_model, "canonicalize": canonicalize, "validate": validate}


def asking(constants: str, body: str) -> bytes:
    head = '<ir_version: 8, opset_import: ["": 18]>\ng (float[N, 3] x) => (float[N, M] y)'
    return f"{head} {f'<{constants}>' if constants else ''} {{ {body} }}".encode()


@pytest.mark.parametrize("name", MADE)
def test_constants_are_counted_before_they_are_made(name: str):
    constants, body = MADE[name]
    data = asking(constants, f"{body} r = ReduceSum <keepdims = 0> (big) y = Add (x, r)")
    assert len(data) < 3000
    with small(), limits(elements=1 << 18, nodes=1 << 10):
        found = {verb: told(lambda: VERBS[verb](data)) for verb in VERBS}  # noqa: B023
    assert found["import_model"] or name in ("what nothing reads", "RandomUniform")


@pytest.mark.parametrize("name", OF_INPUTS)
def test_neurons_are_counted_before_they_are_made(name: str):
    data = asking(*OF_INPUTS[name])
    with small(), limits(elements=1 << 18, neurons=1 << 12, connections=1 << 14, nodes=1 << 10):
        found = {verb: told(lambda: VERBS[verb](data)) for verb in VERBS}  # noqa: B023
    assert found["import_model"]


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
@pytest.mark.parametrize("name", ["Range", "EyeLike", "ConstantOfShape", "pads", "Mul", "MatMul"])
def test_verify_runs_no_model_that_makes_more_than_the_limit(name: str, runtime: str):
    constants, body = MADE[name]
    net = import_model(asking("", "y = Identity (x)"))
    unread = asking(constants, f"{body} y = Identity (x)")
    assert verify(net, unread, runtime=runtime).verdict == "equal"
    read = asking(constants, f"{body} r = ReduceSum <keepdims = 0> (big) y = Add (x, r)")
    with small():
        assert "elements, and the limit is" in told(lambda: verify(net, read, runtime=runtime))


# --- files that end too early, announce too much, or are nested deeply ----------------------------

WHOLE = export(Network.gru(2, 2, 1, seed=0))
SIZES = (-1, 2**31 - 1, 2**31, 2**62, 2**63 - 1)


@pytest.mark.parametrize("share", np.linspace(0, 1, 20, endpoint=False))
def test_a_file_that_ends_too_early_is_told(share: float):
    for whole in (WHOLE.to_bytes(), WHOLE.to_json().encode()):
        with small():
            assert told(lambda: load_model(whole[: int(share * len(whole))]))  # noqa: B023


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", ["dims", "dims of floats", "shape", "attribute"])
def test_announced_sizes_take_no_memory(place: str, size: int):
    proto = WHOLE.to_proto()
    tensor = next(each for each in proto.graph.initializer if each.dims)
    match place:
        case "dims":
            tensor.dims[0] = size
        case "dims of floats":
            values = onnx.numpy_helper.to_array(tensor).ravel()
            tensor.ClearField("raw_data")
            tensor.float_data.extend(values)
            tensor.dims[0] = size
        case "shape":
            proto.graph.input[0].type.tensor_type.shape.dim[-1].dim_value = size
        case "attribute":
            node = proto.graph.node.add(op_type="Tile", output=["tiled"])
            node.attribute.add(name="tiles", type=onnx.AttributeProto.INT, i=size)
    with small():
        assert told(lambda: import_model(proto.SerializeToString()))


def nested(depth: int) -> dict[str, Any]:
    graph: dict[str, Any] = {"outputs": [], "node": []}
    for _ in range(depth):
        entries = [{"name": name, "type": "GRAPH", "g": graph} for name in ("then_branch",)]
        node = {"op_type": "If", "input": ["c"], "output": ["y"], "attributes": entries}
        graph = {"outputs": [], "node": [node]}
    return {"graph": graph}


NESTED = {
    "lists": b"[" * 100_000 + b"]" * 100_000,
    "objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "lists in a network": b'{"format": "neat-onnx", "neurons": '
    + b"[" * 5_000
    + b"]" * 5_000
    + b"}",
    "lists in a model": b'{"graph": {"node": ' + b"[" * 5_000 + b"]" * 5_000 + b"}}",
    "branches": json.dumps(nested(120)).encode(),
    "types": b"\x08\x08\x3a" + b"\x7f" * 30,
    "text": b"graph { " * 5_000,
    "onnxtxt": b"<ir_version: 8>\ng (float x) => (float y) { y = If (x) <then_branch = " * 1,
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("read", [load_model, load_network], ids=["model", "network"])
def test_deep_nesting_is_told(name: str, read: Callable[[Any], Any]):
    with small():
        assert told(lambda: read(NESTED[name]))


# --- numbers that are none, or beyond float32 -----------------------------------------------------

ODD = (float("nan"), float("inf"), -float("inf"), 1e39, -1e39, 1e300, 1e308, 5e-324)
SOURCES = ("np-ff-02", "np-rec-01", "nts-net-gate-7", "nap-net-gru-1")


def with_number(value: Any, number: float, place: Iterator[int]) -> Any:
    """A copy with one of the floats, the place says which counted down to 0, replaced."""
    if isinstance(value, dict):
        return {key: with_number(each, number, place) for key, each in value.items()}
    if isinstance(value, list):
        return [with_number(each, number, place) for each in value]
    return number if isinstance(value, float) and next(place) == 0 else value


@pytest.mark.parametrize("number", ODD, ids=str)
@pytest.mark.parametrize("name", SOURCES)
def test_genes_that_no_float_holds_are_told_or_exported_right(name: str, number: float):
    for at in (0, 7):
        source = with_number(case(name).source, number, itertools.count(-at))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = told(lambda: verified(load_network(source)))  # noqa: B023
        kinds = {each.category for each in caught}
        assert kinds <= {NeatOnnxWarning}, (at, caught)
        assert found or np.isfinite(number), at


def verified(net: Network) -> None:
    report = verify(net, export(net, dtype="float64"), samples=4, runtime="onnxruntime")
    assert report.passed, str(report)


@pytest.mark.parametrize("number", ODD, ids=str)
def test_numbers_of_a_model_that_are_none_are_told_or_come_back(number: float):
    document = WHOLE.to_document()
    document["graph"]["initializer"][0]["float_data"][0] = number
    if np.isnan(number):  # an infinity is a number, as masks of attention have it
        assert "is not a finite number" in told(lambda: load_model(document))
        return
    assert load_model(load_model(document).to_json()) == load_model(document)
    beyond = np.isfinite(number) and abs(number) > 3.4e38
    assert ("too large for float32" in told(load_model(document).to_bytes)) == beyond


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_texts_of_numbers_that_are_none_come_back(text: str):
    document = {"name": "W", "data_type": 1, "dims": [2], "float_data": [text, 0.5]}
    tensor = Tensor.model_validate(document)
    assert tensor.model_dump() == document
    raw = Tensor.model_validate(tensor.model_dump(context={"encoding": "raw"}))
    assert raw == tensor


GROWING = pairs(
    ("identity", "relu", "softplus", "square", "neat_exp"), (1.2, -1.5, 3.0, 40.0), (1, 2)
)


@pytest.mark.parametrize(("activation", "weight", "delay"), GROWING)
def test_a_state_that_outgrows_float32_is_told_by_export(
    activation: str, weight: float, delay: int
):
    """Whatever `verify` leaves out, export has warned of."""
    loop = {"source": 1, "target": 1, "weight": weight, "delay": delay}
    neurons = [{"id": 1, "activation": activation}, {"id": 2, "activation": "identity"}]
    net = Network.build(
        inputs=1, outputs=[2], neurons=neurons, connections=[(0, 1, 1.0), (1, 2, 1e-3), loop]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = export(net)
    report = verify(net, model, samples=8, runtime="onnxruntime")
    warned = any("float32 cannot hold" in str(each.message) for each in caught)
    assert report.passed, str(report)
    assert warned >= (report.overflow_step is not None), str(report)
    if report.overflow_step is not None:
        assert f"until step {report.overflow_step}, then float32 cannot hold it" in str(report)
