"""How far a model may be off the network that import made of it."""

import numpy as np

from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.verification.judge import Slack

_NODES_WITHIN_BOUND = 64  # rounding of such a graph is within the bound: errors grow with the nodes
_MAX_CONNECTIONS_ROUNDED = 1 << 17  # more take too long to run rounded
_SLACK_OF_ONE_OUTPUT = 1e4  # times the bound, where all outputs together are within it


def slack_of(net: Network, model: Model) -> Slack:
    """How far the bound is passed without a comparison with rounding.

    A network adds up in one sum, or in float64, the numbers that many nodes of a graph round one
    after the other; and to run a large network rounded takes too long. A number near 0 is often
    a difference of large ones, which a graph rounds.
    """
    whole = max(1.0, (len(model.graph.node) / _NODES_WITHIN_BOUND) ** 2)
    if len(net.connections) > _MAX_CONNECTIONS_ROUNDED:
        whole = max(whole, float(np.bincount(net.connections.target, minlength=1).max()))
    return Slack(whole, _SLACK_OF_ONE_OUTPUT * whole)
