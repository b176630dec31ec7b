"""Small convolutional networks go out about as large as they came in, and equal."""

import numpy as np
import pytest
from neat_onnx.operators.layout.transposition import axes_of_order, repeats_of_order
from support.examples.graphs import assert_lifts, graph, node
from support.harness.routes import run_onnxruntime

from neat_onnx import Network, export, import_model, validate, verify

RANDOM = np.random.default_rng(0)


def weights(*shape):
    return 0.1 * RANDOM.normal(size=shape)


def policy():
    """Pixels in rows, columns, channels, divided by 255, as for Atari."""
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Div", "t k", "d"),
        node("Conv", "d w v", "c", strides=[2, 2]),
        node("Relu", "c", "r"),
        node("Flatten", "r", "f"),
        node("Gemm", "f u b", "y", transB=1),
    ]
    sizes = {"w": weights(4, 2, 4, 4), "v": weights(4), "u": weights(3, 196), "b": weights(3)}
    return graph(nodes, x=("N", 16, 16, 2), k=255.0, **sizes)


def residual(operator):
    nodes = [
        node("Conv", "x w v", "c", pads=[1] * 4),
        node("Relu", "c", "r"),
        node("Conv", "r u b", "s", pads=[1] * 4),
        node(operator, "s r", "m"),
        node("Relu", "m", "a"),
        node("GlobalAveragePool", "a", "y"),
    ]
    sizes = {"w": weights(4, 2, 3, 3), "v": weights(4), "u": weights(4, 4, 3, 3), "b": weights(4)}
    return graph(nodes, x=("N", 2, 9, 9), **sizes)


def keras():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Conv", "t w v", "c"),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Transpose", "p", "q", perm=[0, 2, 3, 1]),
        node("Reshape", "q s", "f"),
        node("MatMul", "f u", "h"),
        node("Add", "h b", "g"),
        node("Softmax", "g", "y"),
    ]
    sizes = {"w": weights(8, 1, 3, 3), "v": weights(8), "u": weights(288, 10), "b": weights(10)}
    return graph(nodes, x=("N", 14, 14, 1), s=np.array([-1, 288]), **sizes)


def scaled(*operators):
    """Each pixel by a factor of its own, and what follows."""
    nodes = [node("Mul", "x k", "p0")]
    for place, operator in enumerate(operators):
        inputs = f"p{place} k" if operator in ("Add", "Mul", "Sub") else f"p{place}"
        nodes.append(node(operator, inputs, f"p{place + 1}"))
    nodes += [node("Flatten", f"p{len(operators)}", "f"), node("Gemm", "f u b", "y", transB=1)]
    sizes = {"k": weights(2, 12, 12), "u": weights(3, 288), "b": weights(3)}
    return graph(nodes, x=("N", 2, 12, 12), **sizes)


def chain(shape, *nodes, **constants):
    return graph([node(*each) for each in nodes], x=("N", *shape), **constants)


def normalised_sum():
    nodes = [
        node("Sigmoid", "x", "s"),
        node("Mul", "x s", "m"),
        node("Add", "m x", "a"),
        node("BatchNormalization", "a g h e v", "n"),
        node("Relu", "n", "y"),
    ]
    names = {name: 1 + weights(3) ** 2 for name in "ghev"}
    return graph(nodes, x=("N", 3, 12, 12), **names)


def shifted_pool():
    nodes = [
        node("AveragePool", "x", "p", kernel_shape=[2, 2]),
        node("Add", "p k", "a"),
        node("Conv", "a w", "c"),
        node("Mul", "c f", "y"),
    ]
    sizes = {"k": weights(3, 11, 11), "w": weights(2, 3, 3, 3), "f": weights(2, 9, 9)}
    return graph(nodes, x=("N", 3, 12, 12), **sizes)


MODELS = {
    "mean": lambda: chain((360,), ("Relu", "x", "r"), ("Mean", "r x", "y")),
    "smallest": lambda: chain((360,), ("Neg", "x", "n"), ("Min", "n x", "m"), ("Exp", "m", "y")),
    "swish": lambda: chain(
        (4, 8, 8),
        ("Relu", "x", "r"),
        ("Sigmoid", "r", "s"),
        ("Mul", "r s", "m"),
        ("GlobalAveragePool", "m", "y"),
    ),
    "choice": lambda: chain(
        (360,),
        ("Abs", "x", "a"),
        ("Greater", "a x", "g"),
        ("Where", "g a x", "w"),
        ("Mul", "w w", "y"),
    ),
    "shifted pool": shifted_pool,
    "scaled": scaled,
    "scaled and shifted": lambda: scaled("Add", "Tanh"),
    "policy": policy,
    "residual sum": lambda: residual("Add"),
    "residual difference": lambda: residual("Sub"),
    "keras": keras,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_size_comes_back(name):
    model = MODELS[name]()
    net = assert_lifts(model, rows=2)
    again = export(net)
    bare = again.model_copy(update={"metadata_props": []})
    size = len(model.SerializeToString())
    assert len(bare.to_bytes()) <= 1.5 * size + 500  # names and shapes
    assert len(again.to_bytes()) <= 2 * size + 1000
    assert validate(again) == []
    x = RANDOM.normal(size=(3, net.input_neurons.size))
    np.testing.assert_allclose(
        run_onnxruntime(again, net, x), net.activate(x), rtol=1e-5, atol=1e-5
    )
    assert import_model(again.to_json()) == net


@pytest.mark.parametrize("name", ["mean", "smallest"])
def test_pairs_in_float64_have_kernels(name):
    net = import_model(MODELS[name]())
    model = export(net, dtype="float64")
    assert verify(net, model, samples=4, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize("fold", [False, True])
def test_a_weighted_sum_of_two_is_no_matrix(fold):
    net = assert_lifts(normalised_sum(), rows=2)
    model = export(net, fold=fold)
    assert max(tensor.values.size for tensor in model.graph.initializer) <= 4
    assert import_model(model.to_json()) == net
    bare = import_model(model.model_copy(update={"metadata_props": []}))
    assert len(bare) == len(net)
    assert len(bare.connections) == len(net.connections)


@pytest.mark.parametrize("operators", [("Add", "Mul"), ("Sub", "Add", "Tanh", "Mul"), ("Neg",)])
@pytest.mark.parametrize("fold", [False, True])
def test_neurons_one_after_the_other_stay_apart(operators, fold):
    net = import_model(scaled(*operators))
    assert import_model(export(net, fold=fold).to_json()) == net


@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 0, 1), (2, 1, 0), (0, 2, 1), (3, 0, 2, 1)])
def test_an_order_of_axes_is_found(axes):
    shape = (4, 3, 5, 2)[: len(axes)] if len(axes) == 4 else (4, 5, 6)
    places = np.arange(np.prod(shape)).reshape(shape)
    order = places.transpose(axes).ravel()
    found = axes_of_order(order)
    assert found is not None
    assert np.array_equal(places.reshape(found[0]).transpose(found[1]).ravel(), order)
    order[[5, 9]] = order[[9, 5]]
    assert axes_of_order(order) is None


def few(activation, count=3):
    """Inputs, neurons that may overflow, and readers of one and of two of them each."""
    first = [{"id": 10 + k, "activation": "formula: exp(z)"} for k in range(count)]
    alone = [{"id": 20 + k, "activation": activation} for k in range(count)]
    both = [{"id": 30 + k, "activation": activation} for k in range(count)]
    links = [(k, 10 + k, 1.0) for k in range(count)]
    links += [(10 + (2 * k) % count, 20 + k, 0.5) for k in range(count)]
    links += [(10 + (2 * k) % count, 30 + k, 0.5) for k in range(count)]
    links += [(10 + (2 * k + 1) % count, 30 + k, -2.0) for k in range(count)]
    outputs = [each["id"] for each in alone + both]
    return Network.build(
        inputs=count, outputs=outputs, neurons=first + alone + both, connections=links
    )


@pytest.mark.parametrize("activation", ["identity", "tanh"])
def test_a_few_values_that_may_overflow_need_no_gemm_each(activation):
    net = few(activation)
    model = export(net)
    assert "Gemm" not in {each.op_type for each in model.graph.node}
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


def test_copies_and_gated_values_keep_their_ids():
    """In one Identity the copy would be no neuron of its own."""
    neurons = [{"id": k, "activation": "formula: exp(z)"} for k in (10, 11)]
    neurons += [{"id": k, "activation": "identity"} for k in (20, 21)]
    plain = [(0, 10, 1.0), (1, 11, 1.0), (10, 20, 1.0)]
    links = [{"source": a, "target": b, "weight": w} for a, b, w in plain]
    links.append({"source": 11, "target": 21, "weight": 1.0, "gater": 10})
    net = Network.build(inputs=2, outputs=[20, 21], neurons=neurons, connections=links)
    assert import_model(export(net).to_json()) == net


def test_a_few_squares_of_exponentials_keep_their_ids():
    """A square of an exponential could be one function of the neuron before."""
    neurons = [{"id": k, "activation": "neat_exp"} for k in (10, 11, 12)]
    neurons += [{"id": k, "activation": "square"} for k in (20, 21)]
    links = [(0, 10, 1.0), (1, 11, 0.5), (0, 12, -1.0), (11, 20, 1.0), (12, 21, 1.0), (10, 20, 0.5)]
    net = Network.build(inputs=2, outputs=[20, 21], neurons=neurons, connections=links)
    assert import_model(export(net).to_json()) == net
    alone = Network.build(
        inputs=2,
        outputs=[20, 21],
        neurons=neurons[1:],
        connections=[link for link in links if 10 not in link],
    )
    assert import_model(export(alone).to_json()) == alone


@pytest.mark.parametrize(
    ("shape", "repeats"),
    [
        ((16, 1), (1, 4)),
        ((4, 1, 8), (1, 2, 1)),
        ((4, 1, 4, 1), (1, 2, 1, 2)),
        ((8, 1, 4, 1, 4, 1), (1, 2) * 3),
    ],
)
def test_columns_that_stand_several_times_are_a_tile(shape, repeats):
    order = np.tile(np.arange(np.prod(shape)).reshape(shape), repeats).ravel()
    assert repeats_of_order(order) == (shape, repeats)
    assert repeats_of_order(order + 3) == (shape, repeats)
    assert repeats_of_order(order[::-1]) is None
    assert repeats_of_order(np.arange(len(order))) is None


def test_a_layer_of_two_inputs_is_one_matrix():
    net = assert_lifts(graph([node("Gemm", "x w", "g"), node("Tanh", "g", "y")],
                             x=("N", 2), w=weights(2, 40)))  # fmt: skip
    assert [each.op_type for each in export(net).graph.node] == ["Gemm", "Tanh"]


def test_choices_by_one_condition_are_gated_connections_again():
    """Import makes neurons of a product where its values stand in a tensor more than once."""
    nodes = [node("Greater", "x o", "c")]
    for k in "pqrs":
        nodes += [node("Add", f"x {k}", f"a{k}"), node("Sigmoid", f"a{k}", f"e{k}")]
    nodes += [node("Where", "c ep eq", "y"), node("Where", "c er es", "z")]
    numbers = {name: weights(5) for name in "pqrs"}
    net = assert_lifts(graph(nodes, x=("N", 5), outputs=["y", "z"], o=np.zeros(5), **numbers))
    model = export(net, include_metadata=False)
    assert len(import_model(model)) == len(net)
    assert len(export(net).to_bytes()) < 800
    assert import_model(export(net)) == net
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_gated_input_beside_another_is_one_again():
    """So divisors give way to 1 where a choice leaves the quotient out."""
    nodes = [node("Add", "x p", "u"), node("Add", "x q", "v"), node("Greater", "u o", "c")]
    nodes += [node("Reciprocal", "v", "r"), node("Where", "c r u", "y")]
    numbers = {"o": np.array(0.0), "p": weights(40), "q": weights(40) + 9.0}
    net = assert_lifts(graph(nodes, x=("N", 40), **numbers))
    model = export(net)
    assert not model.metadata
    assert len(model.to_bytes()) < 1200
    assert import_model(model) == net
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize("size", [5, 8])
def test_ones_and_a_few_zeros_of_a_mask_stay_in_one_node(size):
    """So a molecule leaves out the distance of an atom to itself."""
    nodes = [
        node("Sqrt", "x", "h"),
        node("Cos", "h", "c"),
        node("Mul", "c mask", "m"),
        node("Sigmoid", "h", "s"),
        node("Mul", "s m", "y"),
    ]
    net = import_model(graph(nodes, x=("N", size, size), mask=1 - np.eye(size)))
    model = export(net)
    assert not model.metadata
    assert len(model.to_bytes()) < 400
    assert import_model(model) == net


@pytest.mark.parametrize("count", [8, 40])
def test_a_number_that_is_added_to_functions_without_names_is_a_bias(count):
    """So a quantized convolution takes the zero point of its input away."""
    first, second = range(count, 2 * count), range(2 * count, 3 * count)
    neurons = [{"id": k, "activation": "formula: clip(round(z / 4), -8, 8)"} for k in first]
    neurons += [{"id": k, "activation": "identity", "bias": 8.0} for k in second]
    neurons.append({"id": 3 * count, "activation": "tanh"})
    links = [(k, k + count, 1.0) for k in range(2 * count)]
    links += [(k, 3 * count, 0.5) for k in second]
    net = Network.build(inputs=count, outputs=[3 * count], neurons=neurons, connections=links)
    model = export(net)
    assert len(import_model(export(net, include_metadata=False))) == len(net)
    assert import_model(model.to_bytes()) == net
    assert verify(net, model, runtime="onnxruntime").passed
