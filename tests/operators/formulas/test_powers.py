"""Powers with another exponent for each neuron: one node out, and the same genes back."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.routes import run_onnxruntime

from neat_onnx import Network, export, import_model

RANDOM = np.random.default_rng(0)
X = np.abs(RANDOM.normal(size=(9, 3))) + 0.5
MANY = (np.arange(-150, 150) / 64).tolist()  # float32 holds them
EXPONENTS = (0.5, 1.25, -2.0, 3.5)


def powers(base: str = "z", exponents=EXPONENTS, **of_each) -> Network:
    """A neuron for each exponent, of three inputs, and one that reads all of them."""
    neurons = [
        {"id": 3 + k, "activation": f"formula: pow({base}, {exponent})", "bias": 0.25} | of_each
        for k, exponent in enumerate(exponents)
    ]
    last = 3 + len(neurons)
    connections = [
        *((i, each["id"], 0.5 + 0.25 * i) for i in range(3) for each in neurons),
        *((each["id"], last, 1.0 - each["id"] / 8) for each in neurons),
    ]
    neurons.append({"id": last, "activation": "tanh"})
    return Network.build(inputs=3, outputs=[3, last], neurons=neurons, connections=connections)


def operators(net: Network, **options) -> list[str]:
    return [each.op_type for each in export(net, **options).to_proto().graph.node]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}], ids=str)
@pytest.mark.parametrize(
    "net",
    [
        powers(),
        powers("abs(z) + 1"),
        powers("2 * z"),
        powers("tanh(z)"),
        powers(exponents=(0.5, 2.0, 3.0)),
        powers(exponents=(1.5, 1.5, 2.5)),
        powers(exponents=MANY),
        powers(response=1.5),
        powers(aggregation="max"),
    ],
    ids=["plain", "formula", "slope", "named", "known", "twice", "many", "response", "max"],
)
def test_they_are_the_same_network_again(net: Network, options):
    written = export(net, **options)
    back = import_model(written.to_bytes())
    want = net.activate(X)
    np.testing.assert_allclose(back.activate(X), want, rtol=1e-5)
    got = run_onnxruntime(written, net, X)
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert list(back.activation_names) == list(net.activation_names)
    np.testing.assert_array_equal(back.connections.source, net.connections.source)
    bare = import_model(export(net, **options, include_metadata=False).to_bytes())
    np.testing.assert_allclose(bare.activate(X), want, rtol=1e-5)


@pytest.mark.parametrize("base", ["z", "abs(z) + 1"])
def test_they_are_one_node(base: str):
    assert operators(powers(base)).count("Pow") == 1
    assert operators(powers("tanh(z)")).count("Pow") == len(EXPONENTS)
    assert operators(powers(base), mixed_activations="per_neuron").count("Pow") == len(EXPONENTS)


def test_as_many_as_import_reads_in_one_node_are_one():
    net = powers(exponents=MANY)
    assert operators(net).count("Pow") == 2
    assert operators(powers(exponents=MANY[:9] * 40)).count("Pow") == 1  # nine different ones


def test_import_makes_a_neuron_of_each_element_in_its_order():
    model = graph([node("Pow", "x e", "y")], x=("N", 4), e=np.array([3.5, 0.5, 3.5, -1.0]))
    names = [str(name) for name in import_model(model).activation_names[4:]]
    assert names == [f"formula: pow(z, {each})" for each in ("3.5", "0.5", "3.5", "-1")]


def test_a_formula_without_a_name_is_the_base():
    nodes = [node("Ceil", "x", "c"), node("Abs", "c", "a"), node("Pow", "a e", "y")]
    model = graph(nodes, x=("N", 3), e=np.array([0.5, 1.5, 2.5]))
    net = assert_lifts(model)
    assert [str(name) for name in net.activation_names[3:]] == [
        f"formula: pow(abs(ceil(z)), {each})" for each in ("0.5", "1.5", "2.5")
    ]
