"""Networks for all tests, each with something special; random ones are in strategies."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from support.examples.made import aggregating, evolved, layered, with_ports

from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import SpatialBlock, receptive_fields
from neat_onnx.network.window import Window

BUILTIN_ACTIVATIONS = tuple(name for name, each in ACTIVATIONS.items() if each.builtin)
BUILTIN_AGGREGATIONS = tuple(name for name, each in AGGREGATIONS.items() if each.builtin)

NETWORKS: dict[str, Network] = {}


def _named(build: Callable[[], Network]) -> Callable[[], Network]:
    NETWORKS[build.__name__.removeprefix("_")] = build()
    return build


# --- layers ---------------------------------------------------------------------------------------

for _name in ("tanh", "sigmoid", "relu", "identity"):
    NETWORKS[f"mlp_{_name}"] = Network.mlp([2, 3, 1], activation=_name)


NETWORKS["deep_mlp"] = Network.mlp(
    [3, 6, 5, 4, 2], activation="softsign", output_activation="identity"
)
NETWORKS["one_layer"] = Network.mlp([3, 2], activation="neat_sigmoid")
NETWORKS["mixed_layers"] = layered(
    [3, 4, 3, 2], [["tanh", "relu", "tanh", "identity"], "sigmoid", ["identity", "sin"]], 1
)


@_named
def slopes_of_their_own() -> Network:
    names = ["neat_sigmoid", "sigmoid", "neat_tanh", "tanh", "bipolar_sigmoid", "neat_sin"]
    return layered([2, 6, 6], [names, names[::-1]], 2)


NETWORKS["every_activation"] = layered(
    [2, len(BUILTIN_ACTIVATIONS)], [list(BUILTIN_ACTIVATIONS)], 3
)


for _name in BUILTIN_ACTIVATIONS:
    NETWORKS[f"activation_{_name}"] = layered([2, 2, 1], [_name, "tanh"], 4)


# --- aggregations ---------------------------------------------------------------------------------


for _name in BUILTIN_AGGREGATIONS:
    for _inputs in (1, 2, 3, 6):
        NETWORKS[f"aggregation_{_name}_{_inputs}"] = aggregating(_name, _inputs)
    NETWORKS[f"aggregation_{_name}_response"] = aggregating(_name, 4, response=-1.75)


@_named
def ties() -> Network:
    """Equal sizes, opposite signs: maxabs takes the first in link order."""
    genes = [{"id": 2 + k, "aggregation": name} for k, name in enumerate(BUILTIN_AGGREGATIONS)]
    edges = [(0, gene["id"], 1.5) for gene in genes] + [(0, gene["id"], -1.5) for gene in genes]
    edges += [(1, gene["id"], 1.5) for gene in genes]
    outputs = [gene["id"] for gene in genes]
    return Network.build(inputs=2, outputs=outputs, neurons=genes, connections=edges)


@_named
def every_aggregation_on_a_level() -> Network:
    names = list(BUILTIN_AGGREGATIONS)
    genes: list[dict[str, Any]] = [
        {"id": 3 + k, "aggregation": name, "activation": "tanh" if k % 2 else "relu", "bias": k / 8}
        for k, name in enumerate(names * 2)
    ]
    edges = [(i, gene["id"], 0.5 + i - gene["id"] / 7) for gene in genes for i in range(3)]
    last = {"id": 99, "aggregation": "median", "activation": "neat_sigmoid", "response": 2.5}
    edges += [(gene["id"], 99, 1.0 + gene["id"] / 5) for gene in genes]
    return Network.build(inputs=3, outputs=[99], neurons=[*genes, last], connections=edges)


@_named
def without_inputs() -> Network:
    """Neurons that read nothing: their aggregate is 0, of a product 1."""
    genes = [
        {"id": 2 + k, "aggregation": name, "activation": "tanh", "bias": 0.25, "response": 0.5}
        for k, name in enumerate(BUILTIN_AGGREGATIONS)
    ]
    edges = [(gene["id"], 20, 1.0 / gene["id"]) for gene in genes] + [(0, 20, 1.0), (1, 20, -2.0)]
    return Network.build(inputs=2, outputs=[20, 4], neurons=[*genes, 20], connections=edges)


# --- genes that ONNX does not know ----------------------------------------------------------------


@_named
def skip_connections() -> Network:
    edges = [(0, 2, 0.5), (1, 2, -0.75), (2, 3, 1.25), (0, 3, 2.0), (1, 4, -0.1), (3, 4, 0.3)]
    genes = [{"id": j, "activation": "tanh", "bias": 0.1 * j} for j in (2, 3, 4)]
    return Network.build(inputs=2, outputs=[4], neurons=genes, connections=edges)


@_named
def partly_connected() -> Network:
    edges = [(0, 3, 0.5), (1, 3, 1.5), (1, 4, -0.75), (2, 4, 1.25), (3, 5, 2.0), (4, 5, 0.1)]
    genes = [{"id": j, "activation": "sigmoid"} for j in (3, 4, 5)]
    return Network.build(inputs=3, outputs=[5], neurons=genes, connections=edges)


@_named
def disabled_and_duplicate_genes() -> Network:
    edges = [
        {"source": 0, "target": 2, "weight": 0.1},
        {"source": 0, "target": 2, "weight": 0.2},
        {"source": 1, "target": 2, "weight": 5.0, "enabled": False},
        {"source": 1, "target": 3, "weight": 0.0},
        {"source": 0, "target": 3, "weight": -0.0},
        {"source": 2, "target": 3, "weight": 0.7},
        {"source": 3, "target": 2, "weight": 0.7, "enabled": False},
        {"source": 1, "target": 3, "weight": 1.0, "enabled": False, "delay": 2, "gater": 2},
        {"source": 2, "target": 3, "weight": 0.1},
        {"source": 2, "target": 3, "weight": -0.1},
    ]
    genes = [{"id": 2, "activation": "tanh"}, {"id": 3, "bias": -0.0}]
    return Network.build(inputs=2, outputs=[3], neurons=genes, connections=edges)


@_named
def dead_neurons() -> Network:
    """4 leads nowhere, 5 stands alone, 6 reads 4 through a disabled gene only."""
    genes = [{"id": j, "activation": "tanh", "name": f"n{j}"} for j in (2, 3, 4, 5, 6)]
    off = {"source": 4, "target": 3, "weight": 1.0, "enabled": False}
    edges = [(0, 2, 1.0), (1, 2, 0.5), (2, 3, 2.0), (2, 4, 1.0), (4, 6, 1.0), off]
    return Network.build(inputs=2, outputs=[3], neurons=genes, connections=edges)


@_named
def all_outputs_constant() -> Network:
    genes = [{"id": 2, "bias": 0.7, "activation": "tanh"}, {"id": 3}]
    return Network.build(inputs=2, outputs=[2, 3], neurons=genes, connections=[])


@_named
def genes_out_of_order() -> Network:
    """Ids are negative, huge, named, and in no order; connections too."""
    genes = [
        {"id": 2**60, "name": "top 'β'", "activation": "tanh", "response": 3.0, "initial": 0.5},
        {"id": -7, "activation": "relu", "bias": 0.1},
        {"id": 3, "activation": "sigmoid", "response": -0.5},
    ]
    edges = [(-7, 2**60, 0.3), (-1, -7, 1.5), (-2, 2**60, -0.5), (3, 2**60, 1.0), (-2, 3, 1.1)]
    return Network.build(inputs=[-1, -2], outputs=[2**60], neurons=genes, connections=edges)


@_named
def responses() -> Network:
    net = layered([2, 3, 2], ["neat_tanh", ["neat_sigmoid", "identity"]], 5).to_document()
    genes = [
        gene if gene.id < 2 else gene.model_copy(update={"response": 0.5 + gene.id})
        for gene in net.neurons
    ]
    return Network.from_document(net.model_copy(update={"neurons": genes}))


# --- ports ----------------------------------------------------------------------------------------


@_named
def outputs_that_are_inputs() -> Network:
    genes = [{"id": 2, "activation": "tanh"}]
    return Network.build(inputs=2, outputs=[0, 2, 0], neurons=genes, connections=[(1, 2, 0.5)])


NETWORKS["only_inputs"] = Network.build(inputs=2, outputs=[1, 0], neurons=[], connections=[])
NETWORKS["the_input_itself"] = Network.build(inputs=2, outputs=[0, 1], neurons=[], connections=[])


@_named
def repeated_outputs() -> Network:
    genes = [{"id": j, "activation": "tanh", "bias": j / 9} for j in (2, 3, 4)]
    edges = [(0, 2, 1.0), (1, 3, -1.0), (2, 4, 0.5), (3, 4, 0.25)]
    return Network.build(inputs=2, outputs=[4, 2, 4, 3, 2], neurons=genes, connections=edges)


@_named
def unread_inputs() -> Network:
    genes = [{"id": 9, "activation": "tanh", "bias": 0.5}]
    return Network.build(inputs=4, outputs=[9], neurons=genes, connections=[(2, 9, 1.5)])


NETWORKS["shaped_ports"] = with_ports(
    {"image": [2, 3], "speed": []}, {"map": [2, 2], "left": [], "right": [1]}, 6
)
NETWORKS["ports_named_like_tensors"] = with_ports(
    {"Layer_1": [2], "W0": [1]}, {"Gemm_2": [2], "gemm_l1": [1]}, 7
)


@_named
def a_port_that_nothing_reads() -> Network:
    document = with_ports({"a": [2], "b": [2]}, {"out": [1]}, 8).to_document()
    genes = [gene for gene in document.connections if gene.source not in (2, 3)]
    return Network.from_document(document.model_copy(update={"connections": genes}))


@_named
def one_neuron_in_two_ports() -> Network:
    document = NETWORKS["shaped_ports"].to_document()
    first = document.outputs[0].neurons[0]
    again = {"name": "again", "shape": [2, 1], "neurons": [first, 0]}
    whole = document.model_dump()
    return Network.from_document(whole | {"outputs": [*whole["outputs"], again]})


# --- irregular and large --------------------------------------------------------------------------


NETWORKS["evolved_small"] = evolved(12, seed=1)
NETWORKS["evolved_mixed"] = evolved(
    30, seed=2, activations=("tanh", "relu", "identity", "neat_sigmoid", "sin")
)
NETWORKS["evolved_large"] = evolved(200, seed=3)


@_named
def a_long_chain() -> Network:
    genes = [{"id": j, "activation": "tanh", "bias": 0.1} for j in range(1, 41)]
    edges = [(j - 1, j, 1.0 + j / 50) for j in range(1, 41)]
    return Network.build(inputs=1, outputs=[40], neurons=genes, connections=edges)


@_named
def overflow() -> Network:
    """A tower of cubes beside a plain sum: what the tower gives must not leak through zeros."""
    genes = [{"id": j, "activation": "cube"} for j in range(2, 8)]
    genes += [{"id": 8, "activation": "tanh"}, {"id": 9}, {"id": 10, "activation": "tanh"}]
    edges = [(0, 2, 4.0), *((j - 1, j, 4.0) for j in range(3, 8))]
    edges += [(1, 8, 1.0), (8, 9, 0.5), (1, 9, 0.5), (7, 10, 1.0), (8, 10, 1.0)]
    return Network.build(inputs=2, outputs=[9, 8, 10], neurons=genes, connections=edges)


@_named
def convolution_and_pools() -> Network:
    """1×7×7 → Conv 2×6×6, padded → MaxPool 2×3×3 → AveragePool 2×2×2 → dense 3; with its blocks."""
    random = np.random.default_rng(8)
    shapes = [(1, 7, 7), (2, 6, 6), (2, 3, 3), (2, 2, 2)]
    starts = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    layers = [
        np.arange(start, stop).reshape(shape)
        for start, stop, shape in zip(starts, starts[1:], shapes, strict=False)
    ]
    blocks = (
        SpatialBlock("Conv", *layers[:2], Window((3, 3), pads=(1, 0, 0, 1))),
        SpatialBlock("MaxPool", *layers[1:3], Window((2, 2), strides=(2, 2))),
        SpatialBlock("AveragePool", *layers[2:], Window((2, 2))),
    )
    genes = [
        {"id": j, "activation": "neat_tanh", "bias": 0.3 * k}
        for k, channel in enumerate(layers[1])
        for j in channel.ravel().tolist()
    ]
    genes += [{"id": j, "aggregation": "max"} for j in layers[2].ravel().tolist()]
    genes += [{"id": j, "aggregation": "mean"} for j in layers[3].ravel().tolist()]
    edges = []
    for block in blocks:
        fields = receptive_fields(block)
        weight = np.ones(1) if block.is_pool else random.normal(size=block.weight_shape).ravel()
        ends = block.sources.flat[fields.source], block.neurons.flat[fields.neuron]
        columns = [*ends, weight[fields.weight]]
        edges += list(zip(*(column.tolist() for column in columns), strict=True))
    outputs = [int(starts[-1]) + k for k in range(3)]
    genes += [{"id": j, "activation": "sigmoid"} for j in outputs]
    last = layers[3].ravel().tolist()
    edges += [(i, j, float(random.normal())) for j in outputs for i in last]
    net = Network.build(inputs=49, outputs=outputs, neurons=genes, connections=edges)
    return replace(net, blocks=blocks)
