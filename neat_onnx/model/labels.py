"""Outputs that are no tensors of numbers: maps of classes to numbers, and texts.

A classifier of scikit-learn gives its probabilities as a list of maps, made by a ZipMap node of a
table [N, classes]; and its labels may be texts. A model here has tensors of numbers alone.
"""

from collections.abc import Iterator

import onnx

from neat_onnx.errors import warn

_TEXT = onnx.TensorProto.STRING


def without_labels(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with tables of numbers where it had maps, and without outputs of text.

    A warning names the outputs. A model that has none of these, or nothing else, stays as it is.
    """
    maps = {
        node.output[0]: node.input[0]
        for node in proto.graph.node
        if node.op_type == "ZipMap" and node.domain == "ai.onnx.ml"
    }
    maps = {entry.name: maps[entry.name] for entry in proto.graph.output if entry.name in maps}
    texts = [entry.name for entry in proto.graph.output if _is_text(entry)]
    if not maps and (not texts or len(texts) == len(proto.graph.output)):
        return proto
    plain = onnx.ModelProto()
    plain.CopyFrom(proto)
    for node in plain.graph.node:
        if maps.get(next(iter(node.output), "")):
            made = onnx.helper.make_node("Identity", node.input, node.output, node.name)
            node.CopyFrom(made)
    kept = [entry for entry in plain.graph.output if entry.name not in texts]
    kept = [_table(entry.name) if entry.name in maps else entry for entry in kept]
    _replace(plain.graph.output, kept or [*plain.graph.output])
    _tell(list(maps), texts)
    if texts:
        _drop_dead(plain.graph)
    return plain


def _tell(maps: list[str], texts: list[str]) -> None:
    for name in maps:
        warn(f"the output '{name}' is a list of maps: it is taken as the table of their numbers")
    for name in texts:
        warn(f"the output '{name}' is text, and is left out")


def _is_text(entry: onnx.ValueInfoProto) -> bool:
    return bool(entry.type.tensor_type.elem_type == _TEXT)


def _table(name: str) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", None])


def _drop_dead(graph: onnx.GraphProto) -> None:
    """Drop the nodes and the initializers that no output depends on."""
    producer = {name: node for node in graph.node for name in node.output if name}
    needed = {entry.name for entry in graph.output}
    pending = list(needed)
    while pending:
        node = producer.get(pending.pop())
        fresh = set() if node is None else set(_reads(node)) - needed
        needed |= fresh
        pending += fresh
    _replace(graph.node, [node for node in graph.node if not needed.isdisjoint(node.output)])
    _replace(graph.initializer, [each for each in graph.initializer if each.name in needed])


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """The tensors that a node reads, in the graphs inside it too."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            yield from (entry.name for entry in graph.output)
            for inner in graph.node:
                yield from _reads(inner)


def _replace(field: object, values: list[object]) -> None:
    kept = [type(value)() for value in values]
    for copy, value in zip(kept, values, strict=True):
        copy.CopyFrom(value)  # type: ignore[attr-defined]
    del field[:]  # type: ignore[attr-defined]
    field.extend(kept)  # type: ignore[attr-defined]
