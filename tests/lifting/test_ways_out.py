"""The ways out that errors of imports tell: each once, and each taken to see that it is one."""

import ast
import warnings

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node

from neat_onnx import DocumentError, ModelError, NeatOnnxWarning, import_model, verify

HEAD = '<ir_version: 8, opset_import: ["": 18, "ai.onnx.ml": 3]>'


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def refusal(model: onnx.ModelProto, **options) -> ModelError:
    with pytest.raises(ModelError) as caught:
        import_model(model, **options)
    return caught.value


def shapes_in(hint: str) -> dict:
    """The argument `shapes` that a hint shows."""
    text = hint.partition("shapes=")[2]
    return ast.literal_eval(text[: text.index(")}") + 2])


def test_a_way_out_of_many_nodes_is_told_once():
    error = refusal(
        parsed("""agraph (float[N, 4] x) => (y, z) <int64 k = {2}> {
            a = Gather <axis = 0> (x, k)
            y = Tanh (a)
            z = Gather <axis = 0> (x, k)
        }""")
    )
    assert len(error.obstacles) == 2
    assert str(error).count("batch_axis=None") == 1


def test_a_reason_that_features_do_not_change_is_told_once():
    error = refusal(parsed("agraph (float[2, 3] x, float[2, 3] e) => (y) { y = Mod (x, e) }"))
    assert str(error).count("Mod") == 1
    assert "With every axis" not in str(error)


def test_an_operator_has_its_hint_beside_other_obstacles():
    error = refusal(
        parsed("""agraph (float[N, 4] x) => (y, z) <int64 k = {2}> {
            y = Gather <axis = 0> (x, k)
            z = NonZero (x)
        }""")
    )
    assert "batch_axis=None" in error.hint
    assert "How many elements there are depends on the inputs" in error.hint


@pytest.mark.parametrize("counted", ["Size", "Shape"])
def test_the_size_of_what_is_counted_depends_on_the_inputs(counted):
    error = refusal(
        parsed(f"agraph (float[N, 3] x) => (y) {{ n = NonZero (x) y = {counted} (n) }}")
    )
    assert "depends on no input" not in str(error)
    assert "NonZero" in str(error)


def test_sizes_are_shown_for_all_open_axes_of_all_inputs():
    model = parsed("""agraph (float[N, T, 3] x, float[N, M, 3] c, float[2, N, 3] h) => (y)
        <int64[1] one = {1}, int64[1] two = {0}> {
            a = ReduceSum <keepdims = 0> (x, one)
            b = ReduceSum <keepdims = 0> (c, one)
            d = ReduceSum <keepdims = 0> (h, two)
            y = Sum (a, b, d)
        }""")
    shapes = shapes_in(refusal(model).hint)
    assert shapes == {"x": ("N", 16, 3), "c": ("N", 16, 3)}
    assert len(import_model(model, shapes=shapes).inputs) == 3


def test_with_features_alone_the_axis_that_would_be_the_batch_gets_no_name():
    model = parsed("""agraph (float[time, 1, 2] x) => (y)
        <float[1, 3, 2] W = {1, 2, 3, 4, 5, 6}, float[1, 3, 3] R = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
            y = RNN <direction = "reverse", hidden_size = 3> (x, W, R)
        }""")
    error = refusal(model)
    assert "batch_axis=None" in error.hint
    assert shapes_in(error.hint) == {"x": (16, 1, 2)}
    assert shapes_in(refusal(model, batch_axis=None).hint) == {"x": (16, 1, 2)}
    net = import_model(model, batch_axis=None, shapes=shapes_in(error.hint))
    assert len(net.outputs[0].neurons) == 16 * 3


@pytest.mark.parametrize("scale", [1.0, 255.0])
def test_numbers_that_a_narrow_type_holds_are_cast_to_it(scale):
    model = parsed(f"""agraph (float[N, 3] x) => (uint8[N, 3] y, float[N, 3] s, uint8[N, 3] c)
        <float scale = {{{scale}}}, float low = {{0}}, float high = {{255}}> {{
            s = Sigmoid (x)
            m = Mul (s, scale)
            y = Cast <to = 2> (m)
            l = Mul (x, high)
            r = Round (l)
            k = Clip (r, low, high)
            c = Cast <to = 2> (k)
        }}""")
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_cast_to_a_narrow_type_can_be_left_out():
    text = """agraph (float[N, 3] x) => (int8[N, 3] y) <float low = {-128}, float high = {127}> {
        m = Neg (x)
        y = Cast <to = 3> (m)
    }"""
    hint = refusal(parsed(text)).hint
    assert "Clip to -128 to 127" in hint
    assert "outputs=['m']" in hint
    assert len(import_model(parsed(text), outputs=["m"]).outputs) == 1
    clipped = parsed(text.replace("m = Neg (x)", "n = Neg (x) m = Clip (n, low, high)"))
    assert verify(import_model(clipped), clipped, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    "nodes",
    [
        "m = Pow (x, half) y = Cast <to = 7> (m)",
        "m = ReduceLogSum <keepdims = 1> (x, one) y = Cast <to = 7> (m)",
        "i = Cast <to = 7> (x) y = ReduceLogSum <keepdims = 1> (i, one)",
    ],
)
def test_integers_of_what_may_be_no_number_are_warned_of(nodes):
    model = parsed(f"""agraph (float[N, 3] x) => (int64[N, k] y)
        <float half = {{0.5}}, int64[1] one = {{1}}> {{ {nodes} }}""")
    with pytest.warns(NeatOnnxWarning, match="node y .* may read a value that is infinite"):
        import_model(model)


def test_integers_of_numbers_are_not_warned_of():
    model = parsed(
        "agraph (float[N, 3] x) => (int64[N, 3] y) { m = Exp (x) y = Cast <to = 7> (m) }"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NeatOnnxWarning)
        import_model(model)


def test_exponentials_of_integers_are_refused_and_of_their_floats_are_not():
    text = "agraph (int64[N, 3] x) => (y) <int64[1] one = {1}> { y = ReduceLogSumExp (x, one) }"
    assert refusal(parsed(text)).hint == "Cast its input to FLOAT before it"
    model = parsed(
        text.replace("{ y = ReduceLogSumExp (x,", "{f = Cast <to = 1> (x) y = ReduceLogSumExp (f,")
    )
    assert verify(import_model(model), model, runtime="onnxruntime").passed


def test_a_shift_that_loses_bits_is_not_warned_of():
    model = parsed(
        """agraph (uint8[N, 2] x) => (y) <uint8[2] n = {1, 3}> {
            y = BitShift <direction = "LEFT"> (x, n)
        }"""
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NeatOnnxWarning)
        assert verify(import_model(model), model, runtime="onnxruntime").passed


def test_an_input_that_has_to_be_constant_can_be_made_an_initializer():
    text = """agraph (uint8[N, 2] x{given}) => (y) {constant}
        {{ y = BitShift <direction = "RIGHT"> (x, n) }}"""
    error = refusal(parsed(text.format(given=", uint8[2] n", constant="")))
    assert error.hint.startswith("Make 'n' an initializer, with the value it is to have; in Python")
    import_model(parsed(text.format(given="", constant="<uint8[2] n = {1, 3}>")))


@pytest.mark.parametrize("rounds", ["n", "taken"])
def test_the_rounds_of_a_loop_can_be_made_an_initializer(rounds: str):
    """By the statement that the hint has."""
    model = parsed(
        f"""agraph (int64[1] n, float[N, 2] x) => (y) {{
            taken = Squeeze (n)
            y = Loop <body = b (int64 i, bool on, float[N, 2] a) => (bool on, float[N, 2] c) {{
                c = Tanh (a)
            }}> ({rounds}, , x)
        }}"""
    )
    hint = refusal(model).hint
    assert hint.startswith("Make 'n' an initializer")
    statement = hint.partition("in Python ")[2].partition(", for an array")[0]
    exec(statement, {"model": model, "onnx": onnx, "value": np.array([3])})
    assert len(import_model(model)) == 8


def test_infinities_have_to_be_numbers():
    model = parsed("""agraph (float[N, 3] x) => (y) <float[1] s = {0.5}, uint8[1] z = {0}> {
        y = MatMul (x, w)
    }""")
    weights = np.array([[1.0], [np.inf], [0.0]], np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    assert "as -1e9" in refusal(model).hint


@pytest.mark.parametrize(
    ("operator", "domain", "advice"),
    [
        ("MatMulNBits", "com.microsoft", "from before it was quantized"),
        ("Quant", "qonnx.custom_op.general", "QCDQ"),
        ("Adam", "ai.onnx.preview.training", "the model that is trained"),
        ("Erfc", "", "ONNX has none of this name"),
        ("SwiGLU", "", "or none with such inputs"),  # it has two
    ],
)
def test_operators_that_nobody_lifts_have_a_hint(operator, domain, advice):
    made = onnx.helper.make_node(operator, ["x", "x", "x", "x"], ["y"], domain=domain)
    model = parsed("agraph (float[N, 3] x) => (float[N, 3] y) { y = Tanh (x) }")
    model.graph.node[0].CopyFrom(made)
    model.opset_import.append(onnx.helper.make_opsetid(domain, 1)) if domain else None
    assert advice in (refusal(model).hint or "")


def test_texts_and_sequences_say_what_to_do():
    text = """agraph (string[N, 1] s) => (float[N, 1] z) {
        z = ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_floats = [1.0]> (s)
    }"""
    with pytest.raises((DocumentError, ModelError), match="encode texts as numbers"):
        import_model(parsed(text))
    model = parsed("agraph (float[N, 3] x) => (float[N, 3] y) { y = Tanh (x) }")
    kind = onnx.helper.make_tensor_type_proto(1, None)
    sequence = onnx.helper.make_sequence_type_proto(kind)
    model.graph.input.append(onnx.helper.make_value_info("q", sequence))
    with pytest.raises((DocumentError, ModelError), match="dynamo=False"):
        import_model(model)


def test_a_default_of_an_open_shape_is_a_weight_in_its_own_shape():
    model = graph([node("MatMul", "x w", "y")], x=("N", 2), w=np.ones((2, 3)))
    sizes = onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [2, "some"])
    model.graph.input.append(sizes)
    with pytest.raises(ModelError, match="'w' has a default value, and an axis of no") as error:
        import_model(model)
    assert "With shapes={'w': (2, 3)} the default is a weight" in str(error.value)
    assert len(import_model(model, shapes={"w": (2, 3)}).connections) == 6


def test_a_warning_that_every_axis_is_features_does_not_ask_for_it():
    model = graph([node("Gather", "x places", "y", axis=0)], x=(3, 4), places=[2, 0])
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features") as told:
        import_model(model)
    assert "batch_axis=None" not in str(told[0].message)


def test_a_warning_that_every_axis_is_features_tells_of_each_node_that_says_so():
    nodes = [node("Gather", f"x {places}", gives, axis=0) for places, gives in ("pa", "qb")]
    model = graph([*nodes, node("Add", "a b", "y")], x=(3, 4), p=[2, 0], q=[1, 2])
    with pytest.warns(NeatOnnxWarning, match=r"make_a \(Gather\).*make_b \(Gather\)"):
        import_model(model)


def test_one_sample_is_a_way_out_where_it_alone_can_be_imported():
    body = "{ n = Size (x) f = Cast <to = 1> (n) y = Div (x, f) }"
    error = refusal(model := parsed(f"agraph (float[N, 3] x) => (float[N, 3] y) {body}"))
    assert error.hint == "One sample alone can be imported: shapes={'x': (1, 3)}"
    (advice,) = error.hints
    assert import_model(model, **advice.arguments).activate([3.0, 6.0, 9.0]).tolist() == [1, 2, 3]
    other = refusal(parsed(f"agraph (float[N, T] x) => (float[N, T] y) {body}"))
    assert "One sample" not in str(other)
