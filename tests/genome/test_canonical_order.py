"""The order of neurons that the genome has not: whatever the order of the nodes."""

import warnings
from itertools import pairwise

import numpy as np
import onnx
import pytest

from neat_onnx import Network, export, import_model
from neat_onnx.genome.canonical_order import canonical_order
from neat_onnx.model import DataType


def shuffled(proto: onnx.ModelProto, random: np.random.Generator) -> onnx.ModelProto:
    """A copy whose nodes stand in another order in which they can be computed.

    It has the checksum of its genes alone, as if its nodes had been rewritten too.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    waiting, known = list(proto.graph.node), {""}
    known |= {entry.name for entry in (*proto.graph.input, *proto.graph.initializer)}
    del copy.graph.node[:]
    while waiting:
        ready = [k for k, node in enumerate(waiting) if known.issuperset(node.input)]
        node = waiting.pop(int(random.choice(ready)))
        known.update(node.output)
        copy.graph.node.append(node)
    kept = [entry for entry in proto.metadata_props if entry.key != "neat_onnx.checksum"]
    del copy.metadata_props[:]
    copy.metadata_props.extend(kept)
    return copy


def gated(seed: int) -> Network:
    """A network whose connections are gated and delayed here and there."""
    random = np.random.default_rng(seed)
    hidden, outputs = list(range(3, 10)), [10, 11]
    connections = []
    for target in [*hidden, *outputs]:
        for source in random.choice(target, 3, replace=False).tolist():
            link = {"source": source, "target": target, "weight": float(random.normal())}
            if random.random() < 0.4:
                link |= {"gater": int(random.choice(hidden)), "gate_delay": 1}
            connections.append(link | {"delay": int(random.random() < 0.3)})
    kinds = ["tanh", "sigmoid", "identity"]
    neurons = [
        {"id": each, "activation": str(random.choice(kinds)), "bias": float(random.normal())}
        for each in [*hidden, *outputs]
    ]
    return Network.build(inputs=3, outputs=outputs, neurons=neurons, connections=connections)


@pytest.mark.filterwarnings("ignore:float32 ")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_genome_comes_back_whatever_the_order_of_nodes(seed: int, dtype: str):
    net = gated(seed)
    proto = export(net, dtype=dtype).to_proto()
    for other in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            back = import_model(shuffled(proto, np.random.default_rng(other)))
        assert back.neurons.id.tolist() == net.neurons.id.tolist()


def test_neurons_are_told_apart_by_wiring_alone():
    """Three alike neurons in a chain, in any order of their positions."""
    orders = []
    for hidden in ([5, 6, 7], [7, 5, 6], [6, 7, 5]):
        path = [0, *hidden, 9]
        net = Network.build(
            inputs=1,
            outputs=[9],
            neurons=[{"id": each} for each in (5, 6, 7, 9)],
            connections=[(a, b, 1.0) for a, b in pairwise(path)],
        )
        placed = np.array([0, len(net) - 1])
        order = canonical_order(net, placed, DataType.FLOAT)
        assert order[:2].tolist() == placed.tolist()
        orders.append([path.index(int(net.neurons.id[each])) for each in order[2:]])
    assert orders[0] == orders[1] == orders[2]
    assert sorted(orders[0]) == [1, 2, 3]


def test_a_difference_three_connections_away_counts():
    """Two chains that are alike but for their last neurons."""
    chains = [[1, 2, 3, 4], [5, 6, 7, 8]]
    orders = []
    for listed in (range(1, 9), range(8, 0, -1)):
        kinds = {4: "tanh", 8: "sigmoid"}
        net = Network.build(
            inputs=1,
            outputs=[9],
            neurons=[*({"id": k, "activation": kinds.get(k, "identity")} for k in listed), 9],
            connections=[(a, b, 1.0) for chain in chains for a, b in pairwise([0, *chain, 9])],
        )
        order = canonical_order(net, np.array([0, len(net) - 1]), DataType.FLOAT)
        orders.append(net.neurons.id[order].tolist())
    assert orders[0] == orders[1]
