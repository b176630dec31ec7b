"""How much of a model is run to check its import: all that a few seconds are enough for."""

from neat_onnx.model import Graph, Model
from neat_onnx.model.wiring import node_count
from neat_onnx.network.network import Network
from neat_onnx.verification.player import Player

MAX_NODES = 2_000
MOST_SAMPLES = 8  # a few of each kind of input

_STEPS = 4  # enough to carry a state on
_MAX_NODE_RUNS = 40_000  # a node takes onnx's reference evaluator some 20 µs
_TENSORS_PER_NODE_RUN = 4  # that are handed over in the same time
_MAX_PRODUCTS = 1 << 24  # of weights and values, by numpy
_MAX_PRODUCTS_OF_FIXED_BATCH = 1 << 30  # the same, where a run has to be of so many samples


def steps_of(net: Network, player: Player) -> int:
    """How many steps a sample has: 1 where there is neither memory nor time."""
    return _STEPS if net.has_memory or player.takes_sequences else 1


def samples_in_time(net: Network, model: Model, player: Player) -> int:
    """How many samples there is time for, 0 if for none."""
    steps, links = steps_of(net, player), len(net.connections) + 1
    if player.rows_of_a_run * links * steps > _MAX_PRODUCTS_OF_FIXED_BATCH:
        return 0
    node_runs = _node_runs(model.graph) * steps
    calls = _MAX_NODE_RUNS // node_runs if player.fixed_batch else MOST_SAMPLES
    return min(MOST_SAMPLES, calls, _MAX_PRODUCTS // (links * steps))


def _node_runs(graph: Graph) -> int:
    """How many nodes take as long as the graph, whose outputs are looked at one by one.

    A node of many outputs takes as long as several.
    """
    tensors = sum(len(node.output) for node in graph.node)
    return node_count(graph) + tensors // _TENSORS_PER_NODE_RUN + 2 * len(graph.outputs) - 1
