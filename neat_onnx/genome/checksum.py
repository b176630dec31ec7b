"""The checksum of a graph and of the metadata that belongs to it.

The genome in the metadata is that of one graph. Whoever changes the graph afterwards (trains it,
prunes it, adds a connection) leaves metadata behind that tells of another network. So export writes
a checksum over both, and import applies the metadata only if it still holds. docs/genome-format.md
defines the hashed text, in terms of ONNX alone: the same for a model in JSON, in
binary and in any encoding of its numbers.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.genome.document import GENOME, NETWORK
from neat_onnx.model import Function, Graph, Model, Node, Tensor
from neat_onnx.model.attributes import AttributeType
from neat_onnx.model.single_sample import KEYS_OF_PORTS

CHECKSUM = "neat_onnx.checksum"
_encode = json.JSONEncoder(separators=(",", ":")).encode
_DIGITS_KEPT = 16  # 64 bits
COVERED = (*KEYS_OF_PORTS, GENOME, NETWORK)


def checksum(model: Model, metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 of a model's graph and of the metadata about its states and genome."""
    entries = [["metadata", key, metadata[key]] for key in COVERED if key in metadata]
    functions = sorted(_line(["function", *_function(each)]) for each in model.functions)
    opset = _line(["opset", model.opset])
    return _digest([opset, *functions, *_lines(model.graph), *map(_line, entries)])


def shorter(digits: str) -> str:
    """The first digits of a checksum, which are enough to tell a change from none."""
    return digits[:_DIGITS_KEPT]


def agree(written: str | None, digits: str) -> bool:
    """Whether a checksum that was written, whole or shorter, is this one."""
    return written in (digits, shorter(digits))


def _lines(graph: Graph) -> list[str]:
    """The tensors and the nodes, a line each, whatever their order."""
    tensors = [["initializer", *_tensor(tensor)] for tensor in graph.initializer]
    nodes = [["node", *_node(node)] for node in graph.node]
    ports = [
        ["inputs", [entry.name for entry in graph.inputs]],
        ["outputs", [entry.name for entry in graph.outputs]],
    ]
    return sorted(map(_line, tensors + nodes)) + [_line(port) for port in ports]


def _function(function: Function) -> list[Any]:
    nodes = sorted(_line(["node", *_node(node)]) for node in function.node)
    ports = [list(function.inputs), list(function.outputs)]
    return [function.domain, function.name, *ports, _digest(nodes)]


def _tensor(tensor: Tensor) -> list[Any]:
    kind = {1: "<f4", 11: "<f8"}.get(int(tensor.data_type))
    with np.errstate(over="ignore"):
        data = tensor.values.astype(kind).tobytes() if kind else tensor.to_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return [tensor.name, int(tensor.data_type), list(tensor.dims), digest]


def _node(node: Node) -> list[Any]:
    attributes = sorted(
        [name, int(kind), _attribute(kind, value)] for name, kind, value in node.attributes.given()
    )
    return [node.domain, node.op_type, list(node.input), list(node.output), attributes]


def _attribute(kind: AttributeType, value: Any) -> Any:
    match kind:
        case AttributeType.FLOAT | AttributeType.FLOATS:
            return np.asarray(value, "<f4").tobytes().hex()
        case AttributeType.TENSOR:
            return _tensor(value)
        case AttributeType.GRAPH:
            return _digest(_lines(value))
        case AttributeType.INTS | AttributeType.STRINGS:
            return list(value)
        case _:
            return value


def _line(value: list[Any]) -> str:
    return _encode(value)


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
