"""The order of a neuron's inputs, which counts where an aggregation takes the first that ties."""

import numpy as np
import pytest

from neat_onnx import Network, export, import_model
from neat_onnx.network.aggregations import aggregation_named

TIE = np.array([[0.5, 0.5], [-2.0, -2.0]])


@pytest.mark.parametrize("sources", [(0, 1), (1, 0)])
@pytest.mark.parametrize("metadata", [True, False])
def test_the_first_of_two_that_tie_counts(sources, metadata):
    first, second = sources
    net = Network.build(
        inputs=2,
        outputs=[2],
        neurons=[{"id": 2, "aggregation": "maxabs"}],
        connections=[(first, 2, 1.0), (second, 2, -1.0)],
    )
    np.testing.assert_array_equal(net.activate(TIE), TIE[:, :1])
    back = import_model(export(net, include_metadata=metadata))
    np.testing.assert_array_equal(back.activate(TIE), TIE[:, :1])


def test_aggregations_that_take_the_first():
    names = ("sum", "mean", "product", "max", "min", "median", "maxabs")
    assert [name for name in names if aggregation_named(name).takes_first] == ["maxabs"]
