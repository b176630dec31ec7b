"""The checksums of the numbers that stand in a file, of all of it, and of registered functions."""

import hashlib
import json
from collections.abc import Iterator

import numpy as np

from neat_onnx.genome.live import rounded
from neat_onnx.model import Graph, Model
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import Floats, distinct
from neat_onnx.network.structure import Structure


def written_numbers(graph: Graph) -> str:
    """The checksum of all floats of a graph: its initializers, by name, and its attributes.

    It is the same for JSON, which holds float64, and for the binary file of the graph's type.
    """
    kind, digest = graph.number_type, hashlib.sha256()
    for name, values in sorted(_floats(graph), key=lambda each: each[0]):
        digest.update(f"{name}\n".encode())
        digest.update((rounded(values, kind) + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()


def whole_file(model: Model, genome: str) -> str:
    """The checksum of a model as binary ONNX, but its metadata entry `genome`."""
    others = [each for each in model.metadata_props if each.key != genome]
    data = model.model_copy(update={"metadata_props": others}).to_bytes()
    return hashlib.sha256(data).hexdigest()


def registered_functions(net: Structure) -> str | None:
    """The checksum of what the functions that users registered compute; None if it has none."""
    found: list[tuple[str, list[str]]] = []
    for each in map(activation_named, net.activations):
        if not each.builtin and not each.name.startswith(FORMULA):
            found.append((each.name, [str(each.expression)]))
    for code, own in enumerate(map(aggregation_named, net.aggregations)):
        if not own.builtin:
            counts = distinct(net.fan_in[net.neurons.aggregation == code]).tolist()
            texts = [str(own.expression(count)) for count in counts if count]
            found.append((own.name, [repr(float(own.empty)), *texts]))
    return hashlib.sha256(json.dumps(found).encode()).hexdigest() if found else None


def _floats(graph: Graph) -> Iterator[tuple[str, Floats]]:
    for tensor in graph.initializer:
        if tensor.data_type.dtype.kind == "f":
            yield tensor.name, tensor.values
    for node in graph.node:
        for name, _, value in node.attributes.given():
            if isinstance(value, float):
                yield f"{node.output[0]}.{name}", np.array(value, np.float32).astype(np.float64)
        for body in subgraphs(node):
            yield from _floats(body)
