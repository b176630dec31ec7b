"""Operators with the batch on each axis: imported as onnxruntime computes them, or refused."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, import_model

Case = tuple[list[onnx.NodeProto], dict[str, Any]]
RNG = np.random.default_rng(0)
SIZES = (2, 3, 4, 5)
OrtError = (Fail, InvalidArgument, RuntimeException)


def one(operator: str, reads: str = "x", *, constants: dict[str, Any] | None = None,
        **attributes: Any) -> Case:  # fmt: skip
    """A graph of one node."""
    return [node(operator, reads, "y", **attributes)], constants or {}


SPACE = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
WEIGHTS = {"w": RNG.normal(size=(3, 3, 3, 3)), "each": RNG.normal(size=(3, 1, 3, 3))}
SPATIAL = {
    "Conv": one("Conv", "x w", constants=WEIGHTS, **SPACE),
    "Conv of each channel": one("Conv", "x each", constants=WEIGHTS, group=3, **SPACE),
    "ConvTranspose": one("ConvTranspose", "x w", constants=WEIGHTS, **SPACE),
    "GlobalMaxPool": one("GlobalMaxPool"),
    "GlobalAveragePool": one("GlobalAveragePool"),
    "GlobalLpPool": one("GlobalLpPool"),
    "GridSample": one("GridSample", "x g", constants={"g": RNG.normal(size=(2, 1, 1, 2))}),
} | {
    f"{operator} with {name}": one(operator, **given)
    for operator in ("MaxPool", "AveragePool", "LpPool")
    for name, given in {
        "pads": SPACE,
        "strides": SPACE | {"strides": [2, 2]},
        "auto_pad": {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER"},
    }.items()
}


def is_right(case: Case, place: int, opset: int = 20) -> bool:
    """Whether a graph with the batch on this axis is imported as onnxruntime computes it.

    Returns:
        False if it is refused, or runs with one sample only.
    """
    nodes, constants = case
    shape: list[int | str] = [*SIZES]
    shape[place] = "N"
    model = graph(nodes, x=shape, opset=opset, **constants)
    model = onnx.shape_inference.infer_shapes(model)
    given, found = (entries[0].type for entries in (model.graph.input, model.graph.output))
    names = [size.dim_param for size in found.tensor_type.shape.dim]
    if len(names) in (0, len(shape)) and "N" not in names:  # onnx does not infer it
        found.CopyFrom(given)
    try:
        net = import_model(model, check=False)
    except ModelError:
        return False
    for count in (2, 5):
        x = RNG.normal(size=[count if size == "N" else size for size in shape]).astype(np.float32)
        try:
            (want,) = open_session(model).run(None, {"x": x})
        except OrtError:
            return False
        got = net.activate({"x": np.moveaxis(x, place, 0)})["y"]
        np.testing.assert_allclose(got, np.moveaxis(want, place, 0), rtol=1e-5, atol=1e-5)
    return True


@pytest.mark.parametrize("name", SPATIAL)
def test_windows_of_space(name: str):
    found = [is_right(SPATIAL[name], place) for place in range(4)]
    assert found == [name != "GridSample", "Conv" not in name, False, False]


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"])
def test_windows_of_a_single_row(operator: str):
    """Each row is by itself, as in a convolution of each step of a sequence."""
    row, single = {"kernel_shape": [1, 3], "pads": [0, 1, 0, 1]}, {"kernel_shape": [1, 1]}
    for given, last in ((row, False), (single, True), (single | {"strides": [1, 2]}, False)):
        w = RNG.normal(size=(3, 3, *given["kernel_shape"]))
        reads = "x" if "Pool" in operator else "x w"
        case = one(operator, reads, constants={"w": w}, **given)
        assert [is_right(case, place) for place in range(4)] == [
            True,
            "Pool" in operator,
            True,
            last,
        ]


EACH = {"each": [0.5, -1.0, 2.0], "shift": [0.25, 1.0, -3.0]}
NORMALIZED = {
    "InstanceNormalization": (
        one("InstanceNormalization", "x each shift", constants=EACH),
        [True, False, False, False],
    ),
    "GroupNormalization": (
        one("GroupNormalization", "x each shift", constants=EACH, num_groups=1),
        [True, False, False, False],
    ),
    "LRN": (one("LRN", size=3, alpha=1.0), [True, False, True, True]),
}


@pytest.mark.parametrize("name", NORMALIZED)
def test_normalizations(name: str):
    case, wanted = NORMALIZED[name]
    assert [is_right(case, place, opset=21) for place in range(4)] == wanted


def test_triangles():
    assert [is_right(one("Trilu"), place) for place in range(4)] == [True, True, False, False]


@pytest.mark.parametrize("axis", range(4))
def test_pads(axis: int):
    """Those that move samples along by one, too: the batch stays as long."""
    for before, after in ((1, 0), (-1, 1)):
        pads = np.zeros((2, 4), np.int64)
        pads[:, axis] = before, after
        case = one("Pad", "x pads", constants={"pads": pads.ravel()})
        assert [is_right(case, place) for place in range(4)] == [k != axis for k in range(4)]


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("size", [1, 2, 7])
def test_crops(axis: int, size: int):
    case = one("CenterCropPad", "x size", constants={"size": [size]}, axes=[axis])
    assert [is_right(case, place) for place in range(4)] == [k != axis for k in range(4)]


ROW, SHARES, BACK = node("Reshape", "x row", "r"), node("Softmax", "r", "s"), "s sizes"
MERGED = {
    "a row": [node("Reshape", "x row", "y")],
    "shares of a row": [ROW, node("Softmax", "r", "y")],
    "shares of a row in the old shape": [
        ROW,
        SHARES,
        node("Shape", "x", "sizes"),
        node("Reshape", BACK, "y"),
    ],
    "norms of a row": [ROW, node("LpNormalization", "r", "y")],
    "the largest of a row": [ROW, node("ReduceMax", "r last", "m"), node("Sub", "x m", "y")],
}


@pytest.mark.parametrize("name", MERGED)
def test_all_samples_in_one_row(name: str):
    """[1, -1] merges the batch, wherever it is, with features."""
    case = MERGED[name], {"row": [1, -1], "last": [1]}
    assert [is_right(case, place) for place in range(4)] == [False] * 4


def test_a_row_of_all_samples_is_parted_again():
    nodes = [ROW, node("Relu", "r", "p"), node("Reshape", "p sizes", "y")]
    assert is_right((nodes, {"row": [1, -1], "sizes": [-1, *SIZES[1:]]}), 0)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_samples_among_the_columns_of_a_matrix(axis: int):
    nodes = [
        node("Flatten", "x", "f", axis=axis),
        node("Softmax", "f", "s"),
        node("Shape", "x", "sizes"),
        node("Reshape", "s sizes", "y"),
    ]
    assert [is_right((nodes, {}), place) for place in range(4)] == [k < axis for k in range(4)]


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_shares_of_all_axes_from_one_on(operator: str, axis: int):
    """As Softmax was up to opset 12."""
    case = one(operator, axis=axis)
    found = [is_right(case, place, opset=11) for place in range(4)]
    assert found == [place < axis for place in range(4)]


@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize("stated", ["N", "unk__0", None, "no shape"])
def test_an_output_has_its_batch_where_it_is_followed_to(axis: int, stated: str | None):
    """An axis of size 1 stands first, and the shape of the output need not name the batch."""
    perm = [3, 2, 1]
    perm.insert(axis, 0)
    nodes = [node("Transpose", "x", "t", perm=perm), node("Tile", "t repeats", "y")]
    repeats = [2 if place == 3 - (axis == 3) else 1 for place in range(4)]
    model = graph(nodes, x=("N", 1, 3, 1), repeats=repeats)
    if stated != "no shape":
        sizes: list[Any] = [
            size * count
            for size, count in zip((1, 3, 1), repeats[:axis] + repeats[axis + 1 :], strict=True)
        ]
        sizes.insert(axis, stated)
        model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, sizes))
    net = import_model(model)
    x = RNG.normal(size=(5, 1, 3, 1)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x})["y"], np.moveaxis(want, axis, 0), rtol=1e-6)


def test_an_output_with_samples_beside_each_other_is_refused():
    """[N, 1, 4] as [1, 4·N] mixes nothing; but no row is a sample's."""
    turned = node("Transpose", "x", "t", perm=[1, 0, 2])
    for last, constants in (
        (node("Flatten", "t", "y"), {}),
        (node("Reshape", "t row", "y"), {"row": [1, -1]}),
        (node("Reshape", "t row", "y"), {"row": [0, -1]}),
    ):
        with pytest.raises(ModelError, match="first axis of output 'y' is not the batch"):
            import_model(graph([turned, last], x=("N", 1, 4), **constants), check=False)


def test_a_single_sample_may_be_anywhere_in_a_row():
    nodes = [node("Transpose", "x", "t", perm=[1, 0, 2]), node("Flatten", "t", "y")]
    net = import_model(graph(nodes, x=(1, 1, 4)))
    assert net.activate([[1.0, 2.0, 3.0, 4.0]]).tolist() == [[1.0, 2.0, 3.0, 4.0]]


TURNED, SIZES_OF_IT = node("Transpose", "x", "a", perm=[0, 2, 1]), node("Shape", "a", "sizes")
AGAIN = node("Reshape", "s sizes", "b")
THROUGH_TIME = {
    "windows": [node("Conv", "a w", "b", pads=[1, 1])],
    "largest of windows": [node("MaxPool", "a", "b", kernel_shape=[3], pads=[1, 1])],
    "means": [node("InstanceNormalization", "a ones ones", "b")],
    "triangles": [node("Trilu", "a", "b")],
    "rows": [node("Flatten", "a", "f"), node("Softmax", "f", "s"), SIZES_OF_IT, AGAIN],
    "steps in one row": [
        node("Reshape", "a row", "f"),
        node("Softmax", "f", "s"),
        SIZES_OF_IT,
        AGAIN,
    ],
    "all in one row": [
        node("Reshape", "a one", "f"),
        node("Softmax", "f", "s"),
        SIZES_OF_IT,
        AGAIN,
    ],
}


@pytest.mark.parametrize("name", THROUGH_TIME)
def test_steps_are_not_mixed(name: str):
    constants = {"w": np.ones((4, 4, 3)), "ones": np.ones(4), "row": [0, -1], "one": [1, -1]}
    nodes = [TURNED, *THROUGH_TIME[name], node("Transpose", "b", "y", perm=[0, 2, 1])]
    with pytest.raises(ModelError, match="mix samples"):
        import_model(graph(nodes, x=("N", "T", 4), **constants), check=False)


def test_each_step_by_itself():
    nodes = [TURNED, node("Conv", "a w", "b"), node("Transpose", "b", "y", perm=[0, 2, 1])]
    model = graph(nodes, x=("N", "T", 4), w=RNG.normal(size=(2, 4, 1)))
    net = import_model(model, check=False)
    x = RNG.normal(size=(3, 5, 4)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    got = net.run(x.swapaxes(0, 1))
    np.testing.assert_allclose(got.swapaxes(0, 1), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("x", [("N", "T", 4), ("N", 5, 4)])
def test_products_do_not_sum_over_samples(x: tuple[int | str, ...]):
    nodes = [
        node("Transpose", "x", "a", perm=[2, 0, 1]),
        node("Transpose", "a", "b", perm=[0, 2, 1]),
        node("MatMul", "b a", "m"),
        node("MatMul", "a m", "c"),
        node("Transpose", "c", "y", perm=[1, 2, 0]),
    ]
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(graph(nodes, x=x), check=False)
