"""Ports that are no tensors of numbers: maps of classes to numbers, texts, and sequences.

A classifier of scikit-learn gives its probabilities as a list of maps, made by a ZipMap node of a
table [N, classes]; its labels may be texts, and one of several targets gives a sequence of tables.
A pipeline of ML.NET takes the label that it was trained on for an input, and gives it back.
A model here has tensors of numbers alone.
"""

from collections.abc import Iterator

import onnx

from neat_onnx.errors import warn
from neat_onnx.model.proto_graphs import graphs_in, nodes_in
from neat_onnx.model.value import KINDS

_TEXT = onnx.TensorProto.STRING


def without_labels(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with tables of numbers where it had maps, without texts and sequences.

    Outputs that depend on text given as input go as well. Warnings name each. A model
    that has none of these, or nothing else, stays as it is.
    """
    maps = {
        node.output[0]: node.input[0]
        for node in proto.graph.node
        if node.op_type == "ZipMap" and node.domain == "ai.onnx.ml" and node.input and node.output
    }
    maps = {entry.name: maps[entry.name] for entry in proto.graph.output if entry.name in maps}
    texts = {entry.name for entry in proto.graph.input if _other_kind(entry) == "text"}
    spelled = _depending(proto.graph, texts)
    others = {
        entry.name: kind or "computed from text"
        for entry in proto.graph.output
        if entry.name not in maps and ((kind := _other_kind(entry)) or entry.name in spelled)
    }
    if not maps and (not (others or texts) or len(others) == len(proto.graph.output)):
        return proto
    plain = onnx.ModelProto()
    plain.CopyFrom(proto)
    for node in plain.graph.node:
        if maps.get(next(iter(node.output), "")):
            made = onnx.helper.make_node("Identity", node.input, node.output, node.name)
            node.CopyFrom(made)
    kept = [entry for entry in plain.graph.output if entry.name not in others]
    kept = [_table(entry.name) if entry.name in maps else entry for entry in kept]
    _replace(plain.graph.output, kept or [*plain.graph.output])
    _tell(list(maps), others)
    if others or texts:
        _drop_dead(plain.graph)
    if texts and spelled.isdisjoint(entry.name for entry in plain.graph.output):
        _replace(plain.graph.input, [each for each in plain.graph.input if each.name not in texts])
        warn(f"no output depends on text: inputs left out are {', '.join(sorted(texts))}")
    return plain


def _tell(maps: list[str], others: dict[str, str]) -> None:
    for name in maps:
        warn(f"the output '{name}' is a list of maps: it is taken as the table of their numbers")
    for name, kind in others.items():
        warn(f"the output '{name}' is {kind}, and is left out")


def _other_kind(entry: onnx.ValueInfoProto) -> str:
    """The kind of an output that is no tensor of numbers; nothing for one that is."""
    kind = entry.type.WhichOneof("value")
    if kind in KINDS:
        return KINDS[kind]
    return "text" if entry.type.tensor_type.elem_type == _TEXT else ""


def _depending(graph: onnx.GraphProto, names: set[str]) -> set[str]:
    """The tensors that depend on these, themselves among them."""
    found = set(names)
    for node in graph.node if names else ():
        if not found.isdisjoint(_reads(node)):
            found.update(filter(None, node.output))
    return found


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
    yield from (name for each in nodes_in([node]) for name in each.input if name)
    yield from (entry.name for graph in graphs_in(node) for entry in graph.output)


def _replace(field: object, values: list[object]) -> None:
    kept = [type(value)() for value in values]
    for copy, value in zip(kept, values, strict=True):
        copy.CopyFrom(value)  # type: ignore[attr-defined]
    del field[:]  # type: ignore[attr-defined]
    field.extend(kept)  # type: ignore[attr-defined]
