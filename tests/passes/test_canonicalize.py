"""Each pass on a small graph: what is there afterwards, and the same outputs in onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, canonicalize, import_model, load_model


def played(model: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    session = open_session(model)
    return session.run(None, {"x": x})


def simple(model: onnx.ModelProto, x: np.ndarray | None = None) -> list[str]:
    """The operators of the canonical form, once it is checked: equal, and canonical."""
    result = canonicalize(model)
    assert canonicalize(result).to_json() == result.to_json()
    if x is None:
        x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    for got, want in zip(played(result.to_proto(), x), played(model, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert [o.name for o in result.graph.outputs] == [o.name for o in model.graph.output]
    return [each.op_type for each in result.graph.node]


SHAPE = np.array([-1, 3, 1], np.int64)
OLD = {
    "squeeze": (11, [node("Unsqueeze", "x", "a", axes=[0]), node("Squeeze", "a", "y", axes=[0])]),
    "clip": (7, [node("Clip", "x", "y", min=-0.5, max=0.25)]),
    "pad": (7, [node("Pad", "x", "y", pads=[0, 1, 0, 2], value=0.5)]),
    "slice": (7, [node("Slice", "x", "y", starts=[1], ends=[3], axes=[1])]),
    "split": (11, [node("Split", "x", "y z", axis=1, split=[1, 2])]),
    "topk": (7, [node("TopK", "x", "y i", k=2)]),
    "reduce": (11, [node("ReduceL2", "x", "y", axes=[1], keepdims=0)]),
    "softmax": (11, [node("Unsqueeze", "x", "a", axes=[2]), node("Softmax", "a", "y", axis=1)]),
    "softmax of a rank that is not known": (
        11,
        [
            node("Shape", "x", "shape"),
            node("Abs", "shape", "sizes"),
            node("Reshape", "x sizes", "a"),
            node("LogSoftmax", "a", "y", axis=0),
        ],
    ),
    "dropout": (11, [node("Dropout", "x", "a", ratio=0.3), node("Relu", "a", "y")]),
}
C = np.arange(6.0).reshape(1, 6, 1)
OLD_OF_CONSTANTS = {
    "squeeze": [node("Squeeze", "c", "s", axes=[0])],
    "unsqueeze": [node("Unsqueeze", "c", "s", axes=[3, 1])],
    "reduce": [node("ReduceMax", "c", "s", axes=[1], keepdims=0)],
    "clip": [node("Clip", "c", "s", min=1.0, max=2.5)],
    "pad": [node("Pad", "c", "s", pads=[0, 1, 0, 0, 0, 2], value=0.5)],
    "slice": [node("Slice", "c", "s", starts=[1], ends=[3], axes=[1])],
    "split": [node("Split", "c", "s r", axis=1, split=[2, 4])],
    "topk": [node("TopK", "c", "s i", k=2, axis=1)],
}


@pytest.mark.parametrize("opset", [7, 9, 10])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_enlarged_images_of_old_opsets(opset: int, mode: str):
    given = {"scales": [1.0, 1.0, 2.0, 3.0]}
    made = node("Upsample", "x", "y", mode=mode, **given)
    if opset > 7:
        made = node("Resize" if opset > 9 else "Upsample", "x scales", "y", mode=mode)
    model = graph([made], x=("N", 2, 4, 3), opset=opset, **(given if opset > 7 else {}))
    model.ir_version = 4
    x = np.random.default_rng(0).normal(size=(2, 2, 4, 3)).astype(np.float32)
    assert simple(model, x) == ["Resize"]


def test_a_tile_of_opset_1_repeats_one_axis():
    """No runtime plays it."""
    model = graph([node("Tile", "x n axis", "y")], opset=5, n=np.float32(2.0), axis=np.float32(1.0))
    assert canonicalize(model).graph.node[0].op_type == "Tile"
    net = import_model(model, check=False)
    assert net.activate([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0] * 2
    del model.graph.node[0].input[2]
    with pytest.raises(ModelError, match="have to be constant"):
        canonicalize(model)


def test_a_normalisation_of_each_element_is_one_of_each_column_where_there_are_two_axes():
    rows = {"s": [2.0, 3.0, 1.0], "t": [0.1, 0.2, 0.3], "m": [0.5, -0.5, 0.0], "v": [1.5, 0.5, 1.0]}
    model = graph([node("BatchNormalization", "x s t m v", "y", spatial=0)], opset=7, **rows)
    model.ir_version = 4
    simple(model)


def test_a_normalisation_by_mean_and_variance_is_valid_with_its_default_axes():
    model = graph([node("MeanVarianceNormalization", "x", "y")], x=("N", 2, 2, 3), opset=9)
    model.ir_version = 4
    assert simple(model, np.random.default_rng(0).normal(size=(2, 2, 2, 3)).astype(np.float32))
    onnx.shape_inference.infer_shapes(canonicalize(model).to_proto(), strict_mode=True)


@pytest.mark.parametrize("name", OLD)
def test_an_old_form_becomes_the_modern_one(name: str):
    opset, nodes = OLD[name]
    model = graph(nodes, opset=opset, outputs=("y",))
    model.ir_version = 4
    assert canonicalize(model).opset == 18
    if opset > 6:  # older ones no runtime plays
        simple(model)


@pytest.mark.parametrize("opset", [7, 9])
@pytest.mark.parametrize("name", OLD_OF_CONSTANTS)
def test_an_old_form_of_constants_is_computed(name: str, opset: int):
    nodes = [*OLD_OF_CONSTANTS[name], node("Relu", "x", "y"), node("Identity", "s", "z")]
    model = graph(nodes, opset=opset, outputs=("y", "z"), c=C)
    model.ir_version = 4
    assert "Relu" in simple(model) and len(canonicalize(model).graph.node) == 2


@pytest.mark.parametrize("axis", [0, 1])
def test_broadcasting_of_constants_from_an_axis(axis: int):
    """No runtime plays opset 6."""
    made = [node("Add", "c d", "s", broadcast=1, axis=axis), node("Add", "x s", "y")]
    c, d = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 20.0])
    model = graph(made, opset=6, x=("N", 2, 2), c=c, d=d)
    (y,) = played(canonicalize(model).to_proto(), np.zeros((1, 2, 2), np.float32))
    np.testing.assert_array_equal(y, [c + (d[:, None] if axis == 0 else d)])
    with pytest.warns(NeatOnnxWarning, match="not compared with the model"):
        net = import_model(model)
    np.testing.assert_array_equal(net.activate(np.zeros((1, 4))), y.reshape(1, 4))


def test_broadcasting_from_an_axis():
    """Opset 6: the shape of the second operand is aligned with the first's from `axis` on."""
    nodes = [node("Add", "x b", "y", broadcast=1, axis=1)]
    model = graph(nodes, opset=6, x=(2, 3, 4), b=[1.0, 2.0, 3.0])
    x = np.zeros((2, 3, 4), np.float32)
    (got,) = played(canonicalize(model).to_proto(), x)
    np.testing.assert_array_equal(got, x + np.array([1.0, 2.0, 3.0])[:, None])


def test_constant_nodes_are_initializers():
    given = [("value_float", 2.0), ("value_floats", [1.0, 2.0, 3.0])]
    for key, value in [*given, ("value", numpy_helper.from_array(np.float32([[4.0]])))]:
        assert simple(
            graph([node("Constant", "", "c", **{key: value}), node("Mul", "x c", "y")])
        ) == ["Mul"]
    with pytest.raises(ModelError, match="no tensor of numbers"):
        canonicalize(
            graph([node("Constant", "", "c", value_string="a"), node("Identity", "x", "y")])
        )


def test_what_depends_on_constants_alone_is_computed():
    nodes = [
        node("ConstantOfShape", "shape", "zeros"),
        node("Add", "zeros w", "sum"),
        node("Cast", "sum", "cast", to=TensorProto.FLOAT),
        node("Mul", "x cast", "y"),
    ]
    assert simple(graph(nodes, shape=[3], w=[1.0, 2.0, 3.0])) == ["Mul"]


@pytest.mark.parametrize("operator", ["Sigmoid", "Softplus", "Mish", "Celu", "HardSwish", "Shrink"])
def test_every_function_of_constants_is_computed(operator: str):
    nodes = [node(operator, "c", "h"), node("Add", "x h", "y")]
    assert simple(graph(nodes, c=[-1.5, 0.25, 3.0])) == ["Add"]


def test_a_billion_elements_are_left_alone():
    nodes = [node("Expand", "w shape", "wide"), node("Add", "x wide", "y")]
    result = canonicalize(graph(nodes, shape=[1000, 1000, 1000, 3], w=[1.0]))
    assert [each.op_type for each in result.graph.node] == ["Expand", "Add"]


def test_sizes_that_are_known():
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "n"),
        node("Unsqueeze", "n first", "batch"),
        node("Concat", "batch rest", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
    ]
    model = graph(nodes, zero=np.int64(0), first=[0], rest=[3, 1])
    assert simple(model) == ["Reshape"]


def test_a_choice_by_whether_there_are_elements_is_the_branch_for_some():
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    tanh, none = (
        helper.make_graph([each], "branch", [], [result])
        for each in (node("Tanh", "x", "z"), node("Sin", "x", "z"))
    )
    nodes = [
        node("Size", "x", "size"),
        node("Mul", "size three", "count"),
        node("Equal", "count zero", "is_empty"),
        node("If", "is_empty", "y", then_branch=none, else_branch=tanh),
    ]
    assert simple(graph(nodes, zero=np.int64(0), three=np.int64(3))) == ["Tanh"]


def test_nodes_that_hand_on_go():
    nodes = [
        node("Identity", "x", "a"),
        node("Cast", "a", "b", to=TensorProto.FLOAT),
        node("Dropout", "b", "c"),
        node("Tanh", "c", "d"),
        node("Sum", "d", "y"),
    ]
    assert simple(graph(nodes)) == ["Tanh"]
    assert simple(graph([node("Dropout", "x", "y")])) == ["Identity"]


def test_a_dropout_whose_mask_a_branch_reads_stays():
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    made = node("Cast", "mask", "z", to=TensorProto.FLOAT), node("Neg", "d", "z")
    yes, no = (helper.make_graph([each], "branch", [], [result]) for each in made)
    nodes = [node("Dropout", "x", "d mask"), node("ReduceMax", "x", "m", keepdims=0)]
    nodes += [node("Greater", "m zero", "c"), node("If", "c", "y", then_branch=yes, else_branch=no)]
    operators = simple(graph(nodes, zero=0.0))
    assert operators == ["Dropout", "ReduceMax", "Greater", "If"]


def test_matmul_and_add_are_a_gemm():
    nodes = [node("MatMul", "x w", "a"), node("Add", "b a", "y")]
    assert simple(graph(nodes, w=np.ones((3, 2)), b=[1.0, -1.0])) == ["Gemm"]


def test_matmul_and_add_of_integers_stay():
    """Of them onnxruntime has no Gemm."""
    nodes = [node("Cast", "x", "i", to=TensorProto.INT64), node("MatMul", "i w", "a")]
    nodes += [node("Add", "a b", "s"), node("Cast", "s", "y", to=TensorProto.FLOAT)]
    given = {"w": np.arange(6).reshape(3, 2), "b": np.arange(2)}
    assert simple(graph(nodes, **given)) == ["Cast", "MatMul", "Add", "Cast"]


def test_a_normalisation_folds_into_the_gemm_before_it():
    nodes = [node("Gemm", "x w b", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, 3.0], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, 0.5]}
    assert simple(graph(nodes, w=np.ones((3, 2)), b=[1.0, -1.0], **rows)) == ["Gemm"]


def test_a_normalisation_folds_into_a_bare_product():
    nodes = [node("MatMul", "x w", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, 3.0], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, 0.5]}
    assert simple(graph(nodes, w=np.arange(6.0).reshape(3, 2), **rows)) == ["Gemm"]


@pytest.mark.parametrize(
    ("variance", "scale", "kind"),
    [(-1.0, 1.0, np.float32), (1e-12, 1e38, np.float32), (1e-12, 6e4, np.float16)],
    ids=["a root of less than 0", "beyond float32", "beyond float16"],
)
def test_a_normalisation_that_makes_a_number_infinite_stays(variance, scale, kind):
    nodes = [node("Gemm", "x w", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, scale], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, variance]}
    model = graph(nodes, w=np.ones((3, 2)), **rows)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(kind), tensor.name)
        )
    if kind is np.float16:
        for entry in (*model.graph.input, *model.graph.output):
            entry.type.tensor_type.elem_type = TensorProto.FLOAT16
    simple = [each.op_type for each in canonicalize(model).graph.node]
    assert simple == ["Gemm", "BatchNormalization"]


def test_transposes_that_undo_each_other():
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Tanh", "a", "b"),
        node("Abs", "b", "c"),
        node("Transpose", "c", "y", perm=[1, 0]),
    ]
    assert simple(graph(nodes)) == ["Tanh", "Abs"]


def test_transposes_of_which_one_ends_a_pair_and_begins_another():
    """Three are one, since two undo each other; four are none."""
    made = [node("Transpose", "x", "a", perm=[1, 0]), node("Tanh", "a", "b")]
    made += [node("Transpose", "b", "c", perm=[1, 0]), node("Abs", "c", "d")]
    three = [*made, node("Transpose", "d", "y", perm=[1, 0])]
    assert sorted(simple(graph(three))) == ["Abs", "Tanh", "Transpose"]
    four = [
        *made,
        node("Transpose", "d", "e", perm=[1, 0]),
        node("Transpose", "e", "y", perm=[1, 0]),
    ]
    assert simple(graph(four)) == ["Tanh", "Abs"]


def test_transposes_that_undo_each_other_directly():
    made = [node("Transpose", "x", "a", perm=[1, 0]), node("Transpose", "a", "y", perm=[1, 0])]
    assert simple(graph(made)) == ["Identity"]
    made = [*made[:1], node("Transpose", "a", "b", perm=[1, 0]), node("Tanh", "b", "y")]
    assert simple(graph(made)) == ["Tanh"]


def test_double_reshapes():
    nodes = [node("Reshape", "x one", "a"), node("Reshape", "a two", "y")]
    assert simple(graph(nodes, one=[-1, 1, 3], two=[-1, 3, 1])) == ["Reshape"]


def body(name: str, operator: str) -> onnx.GraphProto:
    out = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node(operator, ["x"], ["r"])], name, [], [out])


@pytest.mark.parametrize(("condition", "operator"), [(True, "Tanh"), (False, "Abs")])
def test_a_branch_whose_condition_is_constant(condition: bool, operator: str):
    branches = {"then_branch": body("yes", "Tanh"), "else_branch": body("no", "Abs")}
    model = graph([node("Cast", "c", "b", to=TensorProto.BOOL), node("If", "b", "y", **branches)],
                  c=float(condition))  # fmt: skip
    assert simple(model) == [operator]


def loop(count: int) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(*entry) for entry in [
        ("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("h", TensorProto.FLOAT, None),
        ("on", TensorProto.BOOL, []), ("k", TensorProto.FLOAT, None),
    ]]  # fmt: skip
    inner = helper.make_graph(
        [node("Identity", "go", "on"), node("Tanh", "h", "t"), node("Add", "t x", "k")],
        "body", infos[:3], infos[3:],
    )  # fmt: skip
    return graph([node("Loop", "n _ x", "y", body=inner)], n=np.int64(count))


def test_a_loop_whose_trip_count_is_constant():
    assert simple(loop(3)) == ["Tanh", "Add"] * 3


def test_a_loop_that_is_too_long_is_refused():
    with pytest.raises(ModelError, match="nodes, and the limit is"):
        canonicalize(loop(10**9))


def test_weights_among_the_inputs():
    model = graph([node("MatMul", "x w", "y")], w=np.ones((3, 2)))
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3, 2]))
    model.ir_version = 3
    assert [entry.name for entry in canonicalize(model).graph.inputs] == ["x"]


def test_every_operator_that_import_lacks_is_told_at_once():
    from neat_onnx import import_model

    nodes = [node("NonZero", "x", "a"), node("Unique", "a", "y")]
    with pytest.raises(ModelError, match=r"NonZero: make_a .*Unique: make_y"):
        import_model(graph(nodes))
    assert len(load_model(graph(nodes)).graph.node) == 2


@pytest.mark.parametrize(
    ("opset", "made"),
    [
        (7, node("TopK", "x", "y i")),
        (1, node("Upsample", "x", "y", height_scale=2.0)),
        (7, node("Pad", "x", "y")),
    ],
    ids=["TopK", "Upsample", "Pad"],
)
def test_an_old_form_that_lacks_an_attribute_is_refused(opset: int, made: onnx.NodeProto):
    model = graph([made], opset=opset, outputs=("y",))
    with pytest.raises(ModelError, match="is missing"):
        canonicalize(model)


def loop_of(nodes: list[onnx.NodeProto], condition: str) -> onnx.ModelProto:
    """A Loop of three iterations over `x`, whose body computes `next` and a condition."""
    kinds = {"step": TensorProto.INT64, "go": TensorProto.BOOL, condition: TensorProto.BOOL}
    entries = {
        name: helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), None)
        for name in ("step", "go", "value", condition, "next")
    }
    body = helper.make_graph(
        nodes,
        "body",
        [entries[name] for name in ("step", "go", "value")],
        [entries[name] for name in (condition, "next")],
    )
    model = graph([node("Loop", "n t x", "y", body=body)], outputs=("y",))
    model.graph.initializer.extend(
        [numpy_helper.from_array(np.array(3), "n"), numpy_helper.from_array(np.array(True), "t")]
    )
    return model


def test_a_loop_whose_condition_is_computed_from_itself_stays():
    circle = [node("Identity", "a", "b"), node("Identity", "b", "a"), node("Relu", "value", "next")]
    assert [each.op_type for each in canonicalize(loop_of(circle, "a")).graph.node] == ["Loop"]


def test_a_loop_without_a_body_stays():
    model = loop_of([node("Relu", "value", "next"), node("Identity", "go", "stay")], "stay")
    assert [each.op_type for each in canonicalize(model).graph.node] == ["Relu"] * 3
    del model.graph.node[0].attribute[:]
    assert [each.op_type for each in canonicalize(model).graph.node] == ["Loop"]


def test_shapes_that_contradict_each_other_are_not_inferred():
    """An initializer is stated as an output of another rank: onnx's inference refuses the graph."""
    nodes = [
        node("Relu", "x", "a"),
        node("Shape", "a", "s"),
        node("Reshape", "a s", "r"),
        node("Add", "r b", "y"),
    ]
    model = graph(nodes, outputs="yb", b=np.ones(3))
    stated = helper.make_tensor_value_info("b", TensorProto.FLOAT, ["N", 3])
    model.graph.output[1].CopyFrom(stated)
    assert next(each.op_type for each in canonicalize(model).graph.node) == "Relu"


def test_a_reshape_of_opset_1_of_computed_sizes():
    """The sizes are its data, not its shape."""
    made = [node("Shape", "x", "s"), node("Reshape", "s", "r", shape=[2, 1])]
    model = graph([*made, node("Relu", "x", "y")], opset=1, outputs=("y", "r"))
    reshape = canonicalize(model).graph.node[1]
    assert (reshape.op_type, reshape.input[0]) == ("Reshape", "s")
    shape = canonicalize(model).graph.tensors[reshape.input[1]]
    assert shape.values.tolist() == [2, 1]


def test_a_reshape_of_opset_1_beside_computed_sizes():
    """Its shape is an attribute; the other operator asks for sizes to be followed."""
    made = [node("Reshape", "x", "r", shape=[-1, 3]), node("Shape", "x", "s")]
    model = graph([*made, node("Relu", "r", "y")], opset=1, outputs=("y", "s"))
    assert canonicalize(model).graph.node[0].op_type == "Reshape"


@pytest.mark.parametrize("opset", [11, 18])
def test_sizes_that_are_cast_to_nothing_and_sizes_of_unequal_lengths_are_left_alone(opset):
    made = [node("Shape", "x", "s"), node("Cast", "s", "c"), node("Mul", "s three", "m")]
    made += [node("Relu", "x", "y"), node("Reshape", "y m", "r"), node("Reshape", "y c", "q")]
    model = graph(made, opset=opset, outputs=("y", "r", "q"), three=np.array([1, 1, 1]))
    with pytest.raises(ModelError):
        import_model(model)


@pytest.mark.parametrize(
    "damaged",
    [node("Gemm", "_ three b", "d"), node("Scan", "x three", "d e", num_scan_inputs=1)],
    ids=["an input left out", "no body"],
)
def test_nodes_in_a_form_that_none_has_are_refused_by_name(damaged):
    made = [damaged, node("Mul", "x three", "m"), node("Mul", "m d", "y")]
    with pytest.raises(ModelError):
        import_model(graph(made, three=np.ones((3, 3), np.float32), b=np.ones(3, np.float32)))
