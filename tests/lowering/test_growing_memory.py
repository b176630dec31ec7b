"""Memory that grows without bound: finite wherever the network itself is, in every form."""

from typing import Any

import numpy as np
import pytest
from support.harness.playing import played

from neat_onnx import Network, export, import_model

FORMS: list[dict[str, Any]] = [
    {"dtype": dtype, "sequence": sequence}
    for dtype in ("float32", "float64")
    for sequence in (False, True)
]


def steps_of(net: Network, count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 1, len(net.input_neurons)))


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_growing_state_does_not_reach_its_neighbour(form):
    """tanh(∞) is 1, and 0 · ∞ would be NaN."""
    loops = [(10, 1.5), (11, 0.5)]
    net = Network.build(
        inputs=1,
        outputs=[10, 11],
        neurons=[{"id": id, "activation": "tanh"} for id, _ in loops],
        connections=[
            *({"source": 0, "target": id, "weight": 1.0} for id, _ in loops),
            *(
                {"source": id, "target": id, "weight": w, "delay": 1, "reads_state": True}
                for id, w in loops
            ),
        ],
    )
    x = steps_of(net, 3000)
    np.testing.assert_allclose(played(export(net, **form), x), net.run(x), atol=1e-6)


@pytest.mark.filterwarnings("ignore:float32 ")
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_what_is_undefined_does_not_reach_its_neighbour(form):
    """sin(∞) and tanh(∞ - ∞) are NaN, which would pass every bound; output 14 reads neither."""
    loops = [(10, 1.5, "sin"), (11, 1.5, "identity"), (12, 1.5, "identity")]
    names = [*((id, name) for id, _, name in loops), (13, "tanh"), (14, "tanh"), (15, "tanh")]
    net = Network.build(
        inputs=1,
        outputs=[14, 15],
        neurons=[{"id": id, "activation": name} for id, name in names],
        connections=[
            *({"source": 0, "target": id, "weight": 1.0} for id in (10, 11, 12, 14)),
            *(
                {"source": id, "target": id, "weight": w, "delay": 1, "reads_state": True}
                for id, w, _ in loops
            ),
            {"source": 11, "target": 13, "weight": 1.0},
            {"source": 12, "target": 13, "weight": -1.0},
            *({"source": id, "target": 15, "weight": 1.0, "delay": 1} for id in (10, 13)),
        ],
    )
    x = steps_of(net, 2000)
    want = net.run(x)[..., 0]
    assert np.all(np.isfinite(want))
    np.testing.assert_allclose(played(export(net, **form), x)[..., 0], want, atol=1e-6)


def test_what_cannot_grow_costs_nothing():
    """A level of leaky states is one Gemm for the layer before, and one for its own past."""
    loop = {"delay": 1, "reads_state": True}
    net = Network.build(
        inputs=1,
        outputs=[10, 11],
        neurons=[{"id": 10, "activation": "tanh"}, {"id": 11, "activation": "tanh"}],
        connections=[
            (0, 10, 1.0),
            (0, 11, 1.0),
            {"source": 10, "target": 10, "weight": 0.9, **loop},
            {"source": 11, "target": 11, "weight": -1.0, **loop},
        ],
    )
    operators = [node.op_type for node in export(net).graph.node]
    assert operators == ["Gemm", "Gemm", "Add", "Tanh", "Identity"]


@pytest.mark.parametrize("sequence", [False, True])
def test_a_weight_comes_before_the_gain(sequence):
    """The product of two growing states overflows hundreds of steps before their weighted product
    does; another connection shares both states, and its sum is no longer finite then.
    """
    net = Network.build(
        inputs=1,
        outputs=[12, 13],
        neurons=[{"id": 10}, {"id": 11}, {"id": 12}, {"id": 13, "activation": "tanh"}],
        connections=[
            (0, 10, 1.0),
            (0, 11, 0.5),
            {"source": 10, "target": 10, "weight": 1.5, "delay": 1},
            {"source": 11, "target": 11, "weight": 1.4, "delay": 1},
            {"source": 10, "target": 12, "weight": 3e-28, "gater": 11},
            {"source": 10, "target": 13, "weight": 0.3, "gater": 11},
        ],
    )
    x = np.abs(steps_of(net, 1100))
    want = net.run(x)
    assert 10 < np.count_nonzero(np.isinf(want)) < 300
    model = export(net, dtype="float64", sequence=sequence)
    np.testing.assert_allclose(played(model, x), want, rtol=1e-9)
    assert import_model(model) == net
    without = export(net, dtype="float64", sequence=sequence, include_metadata=False)
    weights = import_model(without).connections.weight
    assert sorted(weights) == sorted(net.connections.weight)


@pytest.mark.parametrize("gate", ["sigmoid", "tanh"])
def test_a_value_times_a_fraction_is_one_product_for_all_weights(gate):
    """It overflows no earlier than the value, so the weights need not come before the gain."""
    weights = (0.3, 0.06, -0.01, 3.0)
    net = Network.build(
        inputs=1,
        outputs=[12, 13, 14, 15],
        neurons=[{"id": 10}, {"id": 11, "activation": gate}, *({"id": k} for k in range(12, 16))],
        connections=[
            (0, 10, 1.0),
            (0, 11, 0.5),
            {"source": 10, "target": 10, "weight": 1.5, "delay": 1},
            *(
                {"source": 10, "target": 12 + k, "weight": weight, "gater": 11}
                for k, weight in enumerate(weights)
            ),
        ],
    )
    model = export(net, dtype="float64")
    assert [node.op_type for node in model.graph.node].count("Mul") == 1
    x = np.abs(steps_of(net, 1100))
    np.testing.assert_allclose(played(model, x), net.run(x), rtol=1e-9)
    assert import_model(model) == net


def test_products_of_values_of_this_step_alone_are_shared_by_all_weights():
    """Beside memory: only the values of earlier steps grow, and are scaled by each weight."""
    width, rng = 24, np.random.default_rng(0)
    inputs, products = range(width), range(100, 100 + width)
    connections = [
        {"source": i, "target": j, "weight": float(rng.normal()) / 8, "gater": 1000}
        for j in products
        for i in inputs
    ]
    connections += [
        *({"source": i, "target": 1000, "weight": 0.1} for i in inputs),
        *({"source": i, "target": 2000, "weight": 0.01} for i in products),
        {"source": 2000, "target": 2000, "weight": 0.5, "delay": 1},
    ]
    net = Network.build(
        inputs=width,
        outputs=[2000],
        neurons=[{"id": id} for id in (*products, 1000)] + [{"id": 2000, "activation": "tanh"}],
        connections=connections,
    )
    model = export(net)
    assert len(model.graph.node) < 15
    x = steps_of(net, 20)
    np.testing.assert_allclose(played(model, x), net.run(x), atol=1e-5)
    assert import_model(model) == net
