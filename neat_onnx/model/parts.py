"""How much a model's file will make, counted before memory is taken.

An empty node is two bytes of a binary file, three of JSON, and hundreds or thousands in memory. So
the parts of a model (nodes, attributes, texts, types) are counted in its bytes, and a file of more
than 128 parts for each node of `neat_onnx.limits` is refused; a node counts for 64 of them.
Elements of tensors are no parts: they take about as many bytes in memory as in the file.
"""

from math import prod
from typing import Any, NoReturn

from neat_onnx.model.budget import Budget, LimitReached
from neat_onnx.model.graph import Graph

_PER_NODE = 128
_OF_A_NODE, _OF_A_MESSAGE = 64, 4  # parts that one counts for: so large is what is made of it
_FEW = 1 << 14  # inputs or outputs
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # protobuf's wire types
_MORE = 0x80  # the bit of a varint's byte that says that another byte follows

_FIELDS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 8: "entry", 14: "entry", 20: "training", 25: "function", 26: "entry"},
    "training": {1: "graph", 2: "graph", 3: "entry", 4: "entry"},
    "function": {7: "node", 9: "entry", 11: "attribute", 12: "value", 14: "entry"},
    "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value", 14: "entry",
              15: "sparse", 16: "entry"},
    "node": {5: "attribute", 9: "entry", 10: "entry"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 14: "type", 15: "type",
                  22: "sparse", 23: "sparse"},
    "tensor": {3: "entry", 13: "entry", 16: "entry"},
    "sparse": {1: "tensor", 2: "tensor"},
    "value": {2: "type", 4: "entry"},
    "type": {1: "tensor type", 4: "sequence", 5: "map", 8: "tensor type", 9: "sequence"},
    "sequence": {1: "type"},
    "map": {2: "type"},
    "tensor type": {2: "shape"},
    "shape": {1: "entry"},
    "entry": {},
}  # fmt: skip
"""The fields of onnx.proto's messages that are messages, by number."""


def check_binary(data: bytes) -> None:
    """Count the parts of a binary model; protobuf tells of a damaged one.

    Raises:
        LimitReached: there are too many.
    """
    most = parts = _most()
    messages = [(0, len(data), "model")]
    try:
        while messages:
            place, end, message = messages.pop()
            inner = _FIELDS[message]
            while place < end:
                parts -= 1
                tag = data[place]
                place += 1
                if tag & _MORE:
                    tag, place = _varint(data, place - 1)
                kind = tag & 7
                if kind == _BYTES:
                    length = data[place]
                    place += 1
                    if length & _MORE:
                        length, place = _varint(data, place - 1)
                    if found := inner.get(tag >> 3):
                        if length:
                            messages.append((place, place + length, found))
                        parts -= _OF_A_NODE if found == "node" else _OF_A_MESSAGE
                    place += length
                elif kind == _VARINT:
                    while data[place] & _MORE:
                        place += 1
                    place += 1
                elif kind in (_FOUR_BYTES, _EIGHT_BYTES):
                    place += 4 if kind == _FOUR_BYTES else 8
                else:
                    return
                if parts < 0:
                    _refuse(most)
    except IndexError:
        return


def check_text(data: bytes) -> None:
    """Count the parts of a textproto or an onnxtxt, whose messages have braces or parentheses.

    Raises:
        LimitReached: there are too many.
    """
    most = _most()
    if (data.count(b"{") + data.count(b"(")) * _OF_A_MESSAGE > most:
        _refuse(most)


def check_document(document: dict[str, Any]) -> None:
    """Count the objects of a JSON document.

    Raises:
        LimitReached: there are too many.
    """
    most = _most()
    parts, waiting = most, [document]
    while waiting:
        for key, entry in waiting.pop().items():
            if isinstance(entry, dict):
                waiting.append(entry)
            elif isinstance(entry, list) and entry and isinstance(entry[0], dict):  # no numbers
                objects = [each for each in entry if isinstance(each, dict)]
                parts -= len(objects) * (_OF_A_NODE if key == "node" else _OF_A_MESSAGE)
                waiting += objects
        if parts < 0:
            _refuse(most)


def check_ports(graph: Graph) -> None:
    """Count the values of a graph's inputs and outputs in one sample: each becomes a neuron.

    More than a quarter of all neurons are refused, since something is computed of them; the first
    axis of several may be the batch.

    Raises:
        LimitReached: there are too many.
    """
    limit = Budget().limits.neurons
    most = max(limit // 4, _FEW)
    known = graph.tensors
    for place, entries in (("inputs", graph.inputs), ("outputs", graph.outputs)):
        shapes = [entry.shape or () for entry in entries if entry.name not in known]
        samples = [shape[1:] if len(shape) > 1 else shape for shape in shapes]
        values = sum(prod(size for size in each if isinstance(size, int)) for each in samples)
        if values > most:
            raise LimitReached(
                f"the {place} have {values} values, and the limit of {limit} neurons allows {most}",
                where=f"graph.{place}",
                hint=f"Raise it as far as memory allows: with neat_onnx.limits(neurons={4 * values}"
                "):",
            )


def _most() -> int:
    return _PER_NODE * Budget().limits.nodes


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of several bytes, and the place behind it."""
    value = shift = 0
    while data[place] & _MORE:
        value |= (data[place] & ~_MORE) << shift
        shift += 7
        place += 1
    return value | data[place] << shift, place + 1


def _refuse(most: int) -> NoReturn:
    nodes = most // _PER_NODE
    raise LimitReached(
        f"the file has more parts than are read of a model: {most}, {_PER_NODE} for each node of "
        "the limit",
        hint=f"Raise it as far as memory allows: with neat_onnx.limits(nodes={4 * nodes}):",
    )
