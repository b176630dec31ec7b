"""Which neurons may overflow although what they read is moderate."""

import numpy as np
import pytest

from neat_onnx import Network
from neat_onnx.network.growth import overflowing


def built(neurons, connections):
    """Neurons 1, 2, …, each an activation, or the properties of one; the last is the output."""
    genes = [
        {"id": k, **(each if isinstance(each, dict) else {"activation": each})}
        for k, each in enumerate(neurons, 1)
    ]
    outputs = [len(neurons)]
    return Network.build(inputs=[0], outputs=outputs, neurons=genes, connections=connections)


def may_overflow(neurons, connections):
    return np.flatnonzero(overflowing(built(neurons, connections)).activation).tolist()


def later(source, target, weight, **more):
    return {"source": source, "target": target, "weight": weight, "delay": 1, **more}


def formula(text, **more):
    return {"activation": f"formula: {text}", **more}


PRODUCT, SUM, TANH = {"aggregation": "product"}, "identity", "tanh"
CHAIN = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)]
TWICE = [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 2.0)]
GATED = [(0, 1, 1.0), {"source": 1, "target": 2, "weight": 1.0, "gater": 1}]
CYCLE = [(0, 1, 1.0), (1, 2, 4.0)]
GATE = [(0, 1, 1.0), (0, 2, 1.0)]
GROWS = [(0, 1, 1.0), later(1, 1, 2.0)]
INTEGRATORS = [(k - 1, k, 1.0) for k in range(1, 5)] + [later(k, k, 1.0) for k in range(1, 5)]
BOTH = [*GROWS, (0, 2, 1.0), later(2, 2, 2.0), (1, 3, 1.0), (2, 3, -1.0), (1, 4, 1.0)]
ON_A_GATE = {"source": 1, "target": 2, "weight": 1.0, "gater": 3}
SQUARES = [(0, 1, 2.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, -1.0), (3, 4, 1.0), later(1, 1, 2.0),
           later(2, 2, 2.0)]  # fmt: skip
CASES = [
    # what grows fast does so up to where it is bounded
    *(([name, "relu", TANH, SUM], CHAIN, [1, 2]) for name in ("cube", "square", "neat_exp")),
    (["neat_inv", "relu", TANH, SUM], CHAIN, [1, 2]),
    (["softplus"] * 4, CHAIN, []),
    # steps of integers are bounded although none of them is small
    ([formula("clip(round(z / 0.25) + -128, -128, 127)"), PRODUCT], TWICE, []),
    ([formula("clip(round(z), 0, 65535)"), PRODUCT], TWICE, []),
    ([formula("clip(z, -1000000, 1000000)"), PRODUCT], TWICE, [2]),
    # products of values without a bound; of inputs they are not; a maximum is none
    ([SUM, PRODUCT, PRODUCT], [*TWICE, (0, 3, 1.0), (0, 3, 1.0)], [2]),
    ([SUM, SUM], GATED, [2]),
    ([TANH, SUM], GATED, []),
    ([SUM, {"aggregation": "max"}], [*TWICE[:2], (0, 2, 1.0)], []),
    # a cycle counts as a whole, and a gate bounds what it multiplies; an input as a gate does not
    (["relu", "softplus"], [*CYCLE, later(2, 1, 0.2)], []),
    (["relu", "softplus"], [*CYCLE, later(2, 1, 0.26)], [1, 2]),
    (["sigmoid", SUM], [*GATE, later(2, 2, 1.0, gater=1)], []),
    (["sigmoid", SUM], [*GATE, later(2, 2, 1.1, gater=1)], [2]),
    ([SUM], [(0, 1, 1.0), later(1, 1, 0.1, gater=0)], [1]),
    # integrators in a row grow by powers of time alone; growth goes on through delays
    ([SUM] * 4, INTEGRATORS, []),
    ([SUM] * 4, [*INTEGRATORS, later(3, 3, 0.1)], [3, 4]),
    ([SUM, SUM, TANH], [*GROWS, later(1, 2, 1.0), later(2, 3, 1.0)], [1, 2]),
    # sin(∞), ∞ − ∞ and 0 · ∞ pass every bound
    ([SUM, "sin", TANH, TANH], [*GROWS, (1, 2, 1.0), (2, 3, 1.0), (0, 4, 1.0)], [1, 2, 3]),
    ([SUM, SUM, TANH, TANH], BOTH, [1, 2, 3]),
    ([SUM, TANH, TANH], [*GROWS, (0, 3, 1.0), ON_A_GATE], [1, 2]),
    ([SUM, TANH], [*GROWS, (0, 2, 1.0), (1, 2, 0.5)], [1]),
    ([SUM, TANH], [*GROWS, (0, 2, 1.0), (1, 2, -0.0)], [1, 2]),
    ([SUM, {"activation": TANH, "response": 0.0}], [*GROWS, (0, 2, 1.0), (1, 2, 0.5)], [1, 2]),
    # a truth value ends that
    (["square", "square", formula("number(greater(z, 0))"), SUM], SQUARES, [1, 2]),
    (["square", "square", formula("number(negated(equal(z, 0)))"), SUM], SQUARES, [1, 2]),
    (["square", "square", formula("2 * number(greater(z, 0))"), SUM], SQUARES, [1, 2, 3, 4]),
    # functions that are NaN for some numbers, if these may come
    ([TANH, formula("sqrt(z)"), TANH, SUM], CHAIN, [2, 3, 4]),
    (["abs", formula("sqrt(z)"), TANH, SUM], CHAIN, [2]),
    (["abs", formula("sqrt(z)", bias=-0.5), TANH, SUM], CHAIN, [2, 3, 4]),
    (["sigmoid", formula("log(z)"), TANH, SUM], CHAIN, [2, 3, 4]),
    (["sigmoid", formula("log(z)", bias=0.5), TANH, SUM], CHAIN, [2]),
    ([SUM, formula("pow(z, 0.5)"), TANH, SUM], CHAIN, [2, 3, 4]),
    ([SUM, formula("asin(z)"), TANH, SUM], CHAIN, [2, 3, 4]),
]


@pytest.mark.parametrize(("neurons", "connections", "wanted"), CASES)
def test_which_neurons_may_overflow(neurons, connections, wanted):
    assert may_overflow(neurons, connections) == wanted


@pytest.mark.parametrize(
    ("weight", "grows"), [(0.5, False), (-1.0, False), (1.0, False), (-1.01, True), (1.5, True)]
)
@pytest.mark.parametrize("activation", ["identity", "relu", "tanh"])
def test_a_state_that_reads_itself_grows_above_one(weight, grows, activation):
    net = built([activation], [(0, 1, 1.0), later(1, 1, weight, reads_state=True)])
    found = overflowing(net)
    assert found.pre_activation.tolist() == [False, grows]
    assert found.activation.tolist() == [False, grows and activation != "tanh"]
