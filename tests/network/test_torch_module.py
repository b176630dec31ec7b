"""Networks as modules of PyTorch: the same numbers, right gradients, and the same genome back.

PyTorch is an extra of 190 MB: where it is not installed, these tests are skipped.
"""

import numpy as np
import pytest
from support.examples.cases import cases
from support.examples.strategies import FORMULAS

import neat_onnx
from neat_onnx import Network, OptionError
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.expression import PRIMITIVES

torch = pytest.importorskip("torch", reason="PyTorch, an extra, is not installed")

BUILTIN = sorted(name for name, function in ACTIVATIONS.items() if function.builtin)
STEP = 1e-6


def tensor(x):
    return torch.tensor(np.asarray(x, np.float64))


def test_every_primitive_has_a_form():
    from neat_onnx.training.torch_module import _FUNCTIONS

    assert _FUNCTIONS.keys() | {"where", "number"} == PRIMITIVES.keys()


def steps_of(module, x):
    """The outputs of consecutive steps, each with the state of the one before it."""
    state, found = None, []
    for row in tensor(x):
        y = module(row, state) if module.network.has_memory else module(row)
        y, state = y if module.network.has_memory else (y, None)
        found.append(y)
    return found


REMEMBERING = [
    Network.lstm(4, 32, 2, seed=5),
    Network.gru(3, 8, seed=2),
    Network.rnn(3, 16, seed=3),
    *(case.network() for case in cases("nts-net", "nap-net", "np-rec")),
]


@pytest.mark.parametrize("number", range(len(REMEMBERING)))
def test_fifty_steps_with_memory_are_those_of_run(number):
    net = REMEMBERING[number]
    x = np.random.default_rng(number).normal(size=(50, 2, len(net.input_neurons)))
    want = net.run(x)
    with torch.no_grad():
        got = torch.stack(steps_of(neat_onnx.to_torch(net), x)).numpy()
    usual = np.isfinite(want) & (np.abs(want) < 1e3)  # some grow without bounds
    usual = np.logical_and.accumulate(usual.all(axis=(1, 2)))
    assert usual[0]
    np.testing.assert_allclose(got[usual], want[usual], rtol=1e-12, atol=1e-12)


def of_one(activation="tanh", aggregation="sum"):
    neuron = {"id": 9, "activation": activation, "aggregation": aggregation, "bias": 0.3}
    edges = [(0, 9, 0.7), (1, 9, -1.1), (2, 9, 0.45)]
    neuron["response"] = 0.8
    return Network.build(inputs=3, outputs=[9], neurons=[neuron], connections=edges)


@pytest.mark.parametrize(
    "net",
    [
        *(of_one(activation=name) for name in [*BUILTIN, *FORMULAS]),
        *(of_one(aggregation=name) for name in AGGREGATIONS),
        Network.lstm(2, 3, 1, seed=1),
        Network.gru(3, 2, seed=2),
    ],
    ids=lambda net: f"{net.activations[-1]}-{net.aggregations[-1]}-{len(net)}"[:40],
)
def test_values_and_gradients_against_differences(net):
    steps, every = (50, 4) if net.has_memory else (3, 1)
    x = np.random.default_rng(4).normal(size=(steps, 4, len(net.input_neurons)))
    module = neat_onnx.to_torch(net)

    def total():
        return sum((y * y).sum() for y in steps_of(module, x))

    loss = total()
    assert abs(loss.item() - np.sum(net.run(x) ** 2)) <= 1e-12 * max(1.0, loss.item())
    loss.backward()
    for parameter in (module.weight, module.bias, module.response):
        for k in range(0, len(parameter), every):
            ends = []
            for sign in (1.0, -1.0):
                with torch.no_grad():
                    parameter[k] += sign * STEP
                    ends.append(total().item())
                    parameter[k] -= sign * STEP
            slope = (ends[0] - ends[1]) / (2 * STEP)
            assert abs(parameter.grad[k].item() - slope) <= 1e-6 * max(1.0, abs(slope))


def test_a_branch_that_is_not_taken_leaves_the_gradient_finite():
    neurons = [{"id": 1, "activation": "neat_inv"}]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0)])
    module = neat_onnx.to_torch(net)
    module(tensor([[0.0]])).sum().backward()
    assert module.weight.grad.item() == 0.0


def genome():
    return Network.build(
        inputs=2,
        outputs=[7],
        neurons=[
            {"id": 7, "activation": "neat_sigmoid"},
            {"id": 12, "activation": "neat_tanh", "name": "first", "bias": 0.1},
            {"id": 13, "activation": "neat_tanh", "bias": -0.2},
            {"id": 99, "name": "leads nowhere"},
        ],
        connections=[
            *[(i, j, 0.5 + 0.3 * i - 0.02 * j) for i in (0, 1) for j in (12, 13)],
            *[(j, 7, 0.1 * (j - 12.4)) for j in (12, 13)],
            {"source": 0, "target": 7, "weight": 3.0, "enabled": False},
            (0, 99, 2.0),
        ],
    )


def test_training_moves_what_matters_and_the_genome_comes_back():
    net = genome()
    module = neat_onnx.to_torch(net)
    assert [len(each) for each in module.parameters()] == [6, 3, 3]
    assert module.to_network() == net
    x = tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    wanted = tensor([[0], [1], [1], [0]])
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        loss = ((module(x) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.01
    back = module.to_network()
    found = neat_onnx.diff(net, back).genes
    assert found.weights and not found.neurons_gone and not found.connections_gone
    assert {change.gene for change in found.weights} <= {
        "0 → 12", "0 → 13", "1 → 12", "1 → 13", "12 → 7", "13 → 7"
    }  # fmt: skip
    assert back.neuron_names == net.neuron_names
    np.testing.assert_allclose(back.activate(x.numpy()), module(x).detach(), rtol=1e-12)
    assert neat_onnx.verify(back, neat_onnx.export(back)).passed
    assert neat_onnx.import_model(neat_onnx.export(back, dtype="float64")) == back


def test_other_types_and_wrong_arguments():
    module = neat_onnx.to_torch(genome()).float()
    assert module(torch.zeros(3, 2)).dtype == torch.float32
    assert neat_onnx.diff(module.to_network(), genome()).max_error < 1e-6
    with pytest.raises(neat_onnx.NeatOnnxError):
        neat_onnx.to_torch(3)


def test_without_pytorch_the_error_says_so(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OptionError, match="PyTorch is not installed"):
        neat_onnx.to_torch(genome())
