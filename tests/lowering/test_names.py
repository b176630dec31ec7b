"""Names: ports, neurons and tensors may be called alike, whatever the export calls its own."""

import json
from typing import Any

import numpy as np
import pytest
from support.examples.networks import NETWORKS
from support.harness.sessions import open_session
from support.harness.sweep import unlike

from neat_onnx import Model, Network, export, load_network, validate
from neat_onnx.model import Graph

OPTIONS: list[dict[str, Any]] = [
    {},
    {"sequence": True},
    {"mixed_activations": "per_neuron"},
    {"dtype": "float64", "fold": True},
    {"opset": 13, "flatten_after_pooling": True},
]
SMALL = [name for name in unlike(NETWORKS) if len(NETWORKS[name]) <= 60]


def names_in(graph: Graph) -> set[str]:
    """Every name of a tensor, a node, an input or an output, inner graphs included."""
    found = {each.name for each in (*graph.initializer, *graph.inputs, *graph.outputs)}
    for node in graph.node:
        found |= {node.name, *node.input, *node.output}
        inner = getattr(node.attributes, "body", None)
        found |= names_in(inner) if inner is not None else set()
    return found - {""}


def renamed(net: Network, names: list[str], rng: np.random.Generator) -> Network:
    """The network with ports and neurons of such names."""
    document = json.loads(net.to_json())
    ports = [*document["inputs"], *document["outputs"]]
    chosen = rng.permutation([*names, *(f"{name}_2" for name in names)])
    for port, name in zip(ports, chosen.tolist(), strict=False):
        port["name"] = name
    for neuron in document["neurons"]:
        neuron["name"] = str(rng.choice(names))
    return load_network(document)


def outputs_of(model: Model) -> list[Any]:
    """The outputs for one batch of inputs, state inputs included, by position."""
    session = open_session(model)
    rng = np.random.default_rng(3)
    fed = {}
    for entry in session.get_inputs():
        shape = [size if isinstance(size, int) else 3 for size in entry.shape]
        element = np.float32 if entry.type == "tensor(float)" else np.float64
        fed[entry.name] = rng.normal(size=shape).astype(element)
    return session.run(None, fed)


@pytest.mark.parametrize("name", SMALL)
def test_any_name_is_safe(name):
    position = SMALL.index(name)
    options, rng = OPTIONS[position % len(OPTIONS)], np.random.default_rng(position)
    plain = export(NETWORKS[name], **options)
    other = export(renamed(NETWORKS[name], sorted(names_in(plain.graph)), rng), **options)
    assert validate(other) == []
    for got, wanted in zip(outputs_of(other), outputs_of(plain), strict=True):
        np.testing.assert_array_equal(got, wanted)
