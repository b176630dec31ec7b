"""Every attribute of every operator, with several values, against onnxruntime.

Import either gives what onnxruntime gives, or refuses the node. The cases are made from the
declared attributes, so that one which is declared and not read is seen.
"""

import functools
from itertools import combinations, product
from typing import Any, Literal, get_args, get_origin

import numpy as np
import onnx
import pytest
from support.examples.graphs import node
from support.harness.sessions import open_session
from support.harness.sweep import WHOLE

from neat_onnx import NeatOnnxError, NeatOnnxWarning, import_model
from neat_onnx.model.node import node_classes

BY_KIND: dict[Any, tuple[Any, ...]] = {
    int: (0, 1, 2, -1),
    float: (0.0, 0.5, 1.0, -2.0, 3.0),
    tuple[int, ...]: (
        (0,),
        (1,),
        (2,),
        (1, 2),
        (-1,),
        (1, 1),
        (2, 2),
        (0, 2, 1),
        (1, 1, 1, 1),
        (0, 1, 0, 1),
    ),
    tuple[float, ...]: ((0.5,), (1.0, -1.0)),
}
STRINGS = {"equation": ("bcw->bwc", "bcw,bcw->bc")}
ORDERS = {"Resize": {"axes": ((0, 1, 2, 3), (0, 1, 3, 2))}}
SQUARE = np.random.default_rng(0).normal(size=(1, 4, 4)).astype(np.float32)
IMAGE = np.random.default_rng(1).normal(size=(2, 2, 4, 4)).astype(np.float32)
CHANNELS = np.array([0.5, -1.5], np.float32)
KERNEL = np.random.default_rng(2).normal(size=(2, 2, 2, 2)).astype(np.float32)
MATRIX = np.random.default_rng(3).normal(size=(4, 4)).astype(np.float32)
ROW = np.array([0.5, -1.0, 2.0, 0.25], np.float32)

DEEP = np.random.default_rng(4).normal(size=(1, 8, 2, 2)).astype(np.float32)

INPUTS: dict[str, list[np.ndarray[Any, Any]]] = {
    "Gemm": [SQUARE[0], MATRIX, ROW],
    "Conv": [IMAGE, KERNEL, CHANNELS],
    "ConvTranspose": [IMAGE, KERNEL, CHANNELS],
    "MaxPool": [IMAGE],
    "AveragePool": [IMAGE],
    "BatchNormalization": [IMAGE, CHANNELS, CHANNELS, CHANNELS, np.abs(CHANNELS)],
    "InstanceNormalization": [IMAGE, CHANNELS, CHANNELS],
    "GroupNormalization": [IMAGE, CHANNELS, CHANNELS],
    "IsInf": [np.where(SQUARE > 1.0, np.inf, np.where(SQUARE < -1.0, -np.inf, SQUARE))],
    "LayerNormalization": [SQUARE, ROW, ROW],
    "RMSNormalization": [SQUARE, ROW],
    "LRN": [IMAGE],
    "MeanVarianceNormalization": [IMAGE],
    "CumSum": [SQUARE, np.array(1)],
    "LpPool": [IMAGE],
    "GlobalLpPool": [IMAGE],
    "Gather": [SQUARE, np.array([0, -1])],
    "AffineGrid": [
        np.array([[[1.0, 0.5, -0.2], [0.1, 2.0, 0.3]]], np.float32),
        np.array([1, 1, 3, 4]),
    ],
    "Concat": [SQUARE, SQUARE],
    "Mod": [SQUARE, ROW],
    "Dropout": [SQUARE],
    "Reshape": [SQUARE, np.array([0, 2, 8])],
    "Einsum": [SQUARE, SQUARE],
    "TopK": [SQUARE, np.array([2])],
    "DepthToSpace": [DEEP],
    "SpaceToDepth": [IMAGE],
    "Pad": [IMAGE, np.array([0, 0, 1, 2, 0, 0, 0, 1])],
    "ReverseSequence": [SQUARE[0], np.array([1, 2, 4, 3])],
    "Compress": [SQUARE, np.array([True, False, True])],
    "CenterCropPad": [SQUARE, np.array([3])],
    "Resize": [IMAGE, ROW[:0], np.array([1, 1, 1.5, 0.5], np.float32)],
    "GatherND": [SQUARE, np.array([[[0, 1], [0, 3]]])],
    "ScatterElements": [SQUARE, np.array([[[0, 0]]]), SQUARE[:, :1, :2]],
    "DFT": [np.random.default_rng(5).normal(size=(2, 4, 4, 1)).astype(np.float32)],
    "STFT": [SQUARE[:, 0, :, None], np.array(2), ROW[:2]],
    "GridSample": [IMAGE, np.random.default_rng(6).uniform(-1, 1, (2, 3, 2, 2)).astype(np.float32)],
    "ScatterND": [SQUARE, np.array([[0, 1], [0, 1]]), SQUARE[0, :2]],
}
REQUIRED: dict[str, dict[str, Any]] = {
    "ArgMax": {"axis": 1},
    "ArgMin": {"axis": 1},
    "ConvTranspose": {"strides": (2, 2)},
    "Concat": {"axis": 1},
    "Cast": {"to": 1},
    "MaxPool": {"kernel_shape": (2, 2)},
    "AveragePool": {"kernel_shape": (2, 2)},
    "GroupNormalization": {"num_groups": 2},
    "LpPool": {"kernel_shape": (2, 2)},
    "LRN": {"size": 3},
    "Split": {"num_outputs": 2},
    "DepthToSpace": {"blocksize": 2},
    "SpaceToDepth": {"blocksize": 2},
    "Resize": {"mode": "linear"},
    "CenterCropPad": {"axes": (1,)},
}
ELSEWHERE = {
    "BitShift": "of integers; test_bits",
    "Col2Im": "its input fits few of them; test_sampling",
    "Constant": "a tensor; folded",
    "GatherElements": "test_arranging",
    "OneHot": "of integers; test_arranging",
    "CastLike": "of types; test_arranging",
    "QuantizeLinear": "their numbers are integers",
    "DequantizeLinear": "their numbers are integers",
    "CumProd": "in no opset that onnxruntime loads; test_integer_products",
    "EyeLike": "a constant; test_integer_products",
    "Shape": "a constant; folded",
    "ConvInteger": "of integers; test_integer_products",
    "QLinearConv": "of integers; test_integer_products",
    "Scan": "a graph; test_rnn_graphs",
    "RNN": "test_rnn_nodes",
    "GRU": "test_rnn_nodes",
    "LSTM": "test_rnn_nodes",
}


def values_of(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        given = get_args(annotation)
        more = (0, 1, 2) if isinstance(given[0], int) else ()
        return tuple(dict.fromkeys((*given, *more)))
    options = [each for each in get_args(annotation) if each is not type(None)]
    if type(None) in get_args(annotation):
        return values_of(options[0])
    return BY_KIND.get(annotation, ())


FLOATS = BY_KIND[float]
PAIRS = (
    list(product(FLOATS, FLOATS)) if WHOLE else [*zip(FLOATS, FLOATS[2:] + FLOATS[:2], strict=True)]
)
"""Values of two numbers of one operator; in most neither is at its default."""


@functools.cache
def cases() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name, kind in node_classes().items():
        other = kind.model_fields["domain"].default != ""  # test_ml
        if name in ELSEWHERE or other or not kind.__module__.startswith("neat_onnx."):
            continue
        attributes = kind.model_fields["attributes"].annotation
        assert attributes is not None
        values = {
            field: ORDERS.get(name, {}).get(field)
            or STRINGS.get(field)
            or values_of(declared.annotation)
            for field, declared in attributes.model_fields.items()
        }
        given = REQUIRED.get(name, {})
        found += [(name, given | {field: each}) for field in values for each in values[field]]
        numbers = [field for field in values if values[field] == BY_KIND[float]]
        for one, other in combinations(numbers, 2):
            found += [(name, given | {one: a, other: b}) for a, b in PAIRS]
    return found


def model_of(name: str, attributes: dict[str, Any], opset: int) -> onnx.ModelProto:
    inputs = INPUTS.get(name, [SQUARE])
    if name == "Einsum":
        inputs = inputs[: attributes["equation"].split("->")[0].count(",") + 1]
    names = [f"i{k}" for k in range(len(inputs))]
    tensors = [
        onnx.numpy_helper.from_array(value, each) for each, value in zip(names, inputs, strict=True)
    ][1:]
    kind = node_classes()[name]
    outputs = [f"y{k}" for k in range(kind.outputs[0])]
    if name == "Split":
        outputs = ["y0", "y1"]
    entry = onnx.helper.make_tensor_value_info("i0", onnx.TensorProto.FLOAT, inputs[0].shape)
    result = onnx.helper.make_tensor_value_info("result", onnx.TensorProto.FLOAT, None)
    made = [
        node(name, " ".join(names), " ".join(outputs), **attributes),
        node("Cast", outputs[0], "result", to=onnx.TensorProto.FLOAT),
    ]
    body = onnx.helper.make_graph(made, "graph", [entry], [result], tensors)
    ids = [onnx.helper.make_opsetid("", opset)]
    return onnx.helper.make_model(body, opset_imports=ids, ir_version=10)


def by_runtime(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """What onnxruntime gives, or None where it refuses the model."""
    try:
        session = open_session(model)
        (found,) = session.run(None, {"i0": x})
    except Exception:  # noqa: BLE001 (its exceptions have no base of their own)
        return None
    return np.asarray(found)


def opset_of(name: str, attributes: dict[str, Any]) -> int:
    """An opset in which the operator has the attributes."""
    if name.startswith("Reduce") and "axes" in attributes:  # an input later
        return 12 if name == "ReduceSum" else 17
    if name == "DFT":  # its axis is an input later
        return 17
    since = {
        ("Cast", "saturate"): 19,
        ("GridSample", "mode"): 20,
        ("Cast", "round_mode"): 25,
        ("AveragePool", "dilations"): 19,
        ("GroupNormalization", "stash_type"): 21,
    }
    return max(18, node_classes()[name].since, *(since.get((name, key), 0) for key in attributes))


def compare(name: str, attributes: dict[str, Any]) -> bool:
    """Compare one case; whether there was anything to compare."""
    x = INPUTS.get(name, [SQUARE])[0].astype(np.float32)
    try:
        model = model_of(name, attributes, opset_of(name, attributes))
        net = import_model(model, batch_axis=None, check=False)
    except (ValueError, TypeError, NeatOnnxError):
        return False
    except NeatOnnxWarning:  # of FLOAT16, whose rounding the network leaves out
        return False
    want = by_runtime(model, x)
    if want is None:
        return False
    got = net.activate({"i0": x[None]})["result"][0]
    assert got.shape == want.shape, attributes
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(attributes))
    return True


@pytest.mark.parametrize("name", sorted({name for name, _ in cases()}))
def test_no_attribute_is_left_out_of_account(name: str):
    compared: set[str] = set()
    attempted: set[str] = set()
    for _, attributes in (case for case in cases() if case[0] == name):
        attempted.update(attributes)
        if compare(name, attributes):
            compared.update(attributes)
    assert attempted == compared  # or a case is missing


@pytest.mark.parametrize("name", sorted({name for name, _ in cases()}))
@pytest.mark.parametrize("axis", [7, -8])
def test_an_axis_that_is_not_there_is_refused(name: str, axis: int):
    fields = {field for other, given in cases() if other == name for field in given}
    for field in fields & {"axis", "axes", "batch_axis", "time_axis"}:
        given = {**REQUIRED.get(name, {}), field: (axis,) if field == "axes" else axis}
        model = model_of(name, given, opset_of(name, given))
        with pytest.raises(NeatOnnxError):
            import_model(model, batch_axis=None, check=False)
