"""Softmax in the genes has a bound, and nothing that only looks like one."""

import numpy as np
import pytest
from support.harness.sessions import open_session

from neat_onnx import Network, export
from neat_onnx.network.growth import overflowing

X, LARGEST, SPREAD, TOTAL, SCALE, RESULT = [10, 11], 20, [30, 31], 40, 50, [60, 61]


def softmax(
    activation="identity",
    *,
    of_largest=X,
    of_total=SPREAD,
    shift=0.0,
    readers=(),
    sources=RESULT,
    weights=(1.0, 1.0),
):
    """A softmax of two values, and its parts changed one by one."""
    neurons = [
        *({"id": id, "activation": activation} for id in X),
        {"id": LARGEST, "aggregation": "max", "bias": shift},
        *({"id": id, "activation": "formula: exp(z)"} for id in SPREAD),
        {"id": TOTAL},
        {"id": SCALE, "activation": "formula: reciprocal(z)"},
        *RESULT,
        *readers,
    ]
    connections = [(k, id, 1.0) for k, id in enumerate(X)]
    connections += [(id, LARGEST, 1.0) for id in of_largest]
    for x, e, result in zip(X, SPREAD, RESULT, strict=True):
        connections += [(x, e, 1.0), (LARGEST, e, -1.0)]
        connections.append({"source": e, "target": result, "weight": 1.0, "gater": SCALE})
    connections += [(e, TOTAL, 1.0) for e in of_total] + [(TOTAL, SCALE, 1.0)]
    outputs = [each["id"] for each in readers] or RESULT
    for k, reader in enumerate(readers):
        connections.append((sources[k % 2], reader["id"], weights[k % 2]))
    return Network.build(inputs=2, outputs=outputs, neurons=neurons, connections=connections)


def flagged(net, ids):
    return overflowing(net).activation[np.isin(net.neurons.id, ids)].tolist()


def test_its_results_have_a_bound():
    net = softmax()
    assert not any(flagged(net, [*SPREAD, SCALE, *RESULT]))
    assert np.all(overflowing(net).bounded[np.isin(net.neurons.id, RESULT)])


@pytest.mark.parametrize(
    ("changed", "grows"),
    [
        ({"of_largest": X[:1]}, [SPREAD[1], SCALE, *RESULT]),
        ({"of_largest": [X[0], X[0]]}, [SPREAD[1], SCALE, *RESULT]),
        ({"of_total": SPREAD[:1]}, [SCALE]),
        ({"shift": -90.0}, [*SPREAD, SCALE, *RESULT]),
    ],
    ids=["a maximum of some", "twice of one", "a sum of some", "a shift"],
)
def test_what_only_looks_like_one_has_none(changed, grows):
    assert all(flagged(softmax(**changed), grows))


def test_what_overflows_before_it_passes_through():
    assert all(flagged(softmax("cube"), RESULT))


def test_a_softmax_that_is_undefined_does_not_reach_its_neighbour():
    """∞ − ∞ is NaN; a reader of the input alone stays what it is."""
    readers = [{"id": 70, "activation": "tanh"}, {"id": 71, "activation": "tanh"}]
    net = softmax("cube", readers=readers, sources=[RESULT[0], 0], weights=[1.0, 1e-20])
    x = np.array([[1e20, 1e20]], np.float32)
    (got,) = open_session(export(net).to_proto()).run(None, {"input": x})
    assert np.isnan(got[0, 0])
    np.testing.assert_allclose(got[0, 1], np.tanh(1.0), rtol=1e-6)
