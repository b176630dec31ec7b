"""The ends of layers, put back where an optimizer has taken them away.

Export writes an Identity where import would not end a neuron by itself, and an Add of 0 where
neurons copy others. Both change no number, so optimizers remove them; but the genome names the
layers that they ended. A tensor that is named after the same level takes the place of such a one.
The checksum of genes tells whether that is how the graph was.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from neat_onnx.model import Graph, Model, Node, Tensor
from neat_onnx.model.wiring import producers, subgraphs
from neat_onnx.passes.draft import make_node, with_graph

_GATHERING = ("Concat", "Gather")
_WITHOUT_END = ("Add", "Conv", "Flatten", "Gemm", "MatMul", "Mul", "Reshape", "Sub")
_ZERO = "zero of copies"


def with_ends(
    model: Model, layers: Sequence[str], *, copied: bool = False, whole: bool = False
) -> Model:
    """The model with an Identity at the end of each layer that has lost its own; the model itself
    where none has.

    Args:
        model: the model.
        layers: their names, in the order in which export wrote them.
        copied: those that gather others get an Add of 0 besides, which makes them copies.
        whole: all layers have lost their ends, whatever operator gives them.
    """
    graph = _ended(model.graph, layers, copied=copied, whole=whole)
    return model if graph is model.graph else _with_zero(model, graph)


def _with_zero(model: Model, graph: Graph) -> Model:
    zero = Tensor.of(_ZERO, np.zeros(1), graph.number_type)
    return with_graph(model, node=graph.node, initializer=[*graph.initializer, zero])


def _ended(graph: Graph, layers: Sequence[str], *, copied: bool, whole: bool) -> Graph:
    gathered = _gathered(graph)
    made = producers(graph)
    open_ended = {each for each in made if whole or made[each].op_type in _WITHOUT_END} | gathered
    ends = _ends(made, layers, open_ended)
    moved = {tensor: f"{tensor} before" for tensor, layer in ends.items() if tensor == layer}
    nodes: list[Node] = []
    changed = bool(ends)
    for node in graph.node:
        fields: dict[str, Any] = {
            "input": [ends.get(name, name) for name in node.input],
            "output": [moved.get(name, name) for name in node.output],
        }
        for body in subgraphs(node) if node.op_type == "Scan" else ():
            ended = _ended(body, layers, copied=copied, whole=whole)
            changed |= ended is not body
            fields["attributes"] = node.attributes.model_copy(update={"body": ended})
        nodes.append(node.model_copy(update=fields))
        for name in filter(ends.__contains__, node.output):
            end, source = ends[name], moved.get(name, name)
            if copied and name in gathered:
                nodes.append(make_node("Add", [source, _ZERO], [f"{end} copied"]))
                source = f"{end} copied"
            nodes.append(make_node("Identity", [source], [end]))
    return graph.model_copy(update={"node": nodes}) if changed else graph


def _gathered(graph: Graph) -> set[str]:
    """The tensors that gather others, and Identities of these."""
    found: set[str] = set()
    for node in graph.node:
        if node.op_type in _GATHERING or (node.op_type == "Identity" and node.input[0] in found):
            found.update(node.output)
    return found


def _ends(
    made: Mapping[str, Node], layers: Sequence[str], open_ended: Collection[str]
) -> dict[str, str]:
    """By tensor, the layer that it is to end: one that is gone, or itself where it has no end.

    Layers that are gone take the last tensors of their level, by the rest of the name where only
    one has it, else in order.

    Args:
        made: the node of each tensor.
        layers: names.
        open_ended: tensors that may have no end.
    """
    ends = {name: name for name in layers if name in open_ended}
    inside = {
        read for name, node in made.items() for read in node.input if _level(read) == _level(name)
    }
    last: dict[str, list[str]] = defaultdict(list)
    for name in made:
        if name not in inside and name not in layers:
            last[_level(name)].append(name)
    gone: dict[str, list[str]] = defaultdict(list)
    for layer in layers:
        alike = [each for each in last[_level(layer)] if _place(each) == _place(layer)]
        if layer in made or not _level(layer):
            continue
        if len(alike) == 1:
            ends[alike[0]] = layer
            last[_level(layer)].remove(alike[0])
        else:
            gone[_level(layer)].append(layer)
    for level, names in gone.items():
        ends.update(zip(last[level], names, strict=False))
    return ends


def _place(tensor: str) -> str:
    """Return a name without its kind: 2_max of Biased_2_max."""
    return tensor.partition("_")[2]


def _level(tensor: str) -> str:
    """The number of the level in such a name; "" in others."""
    found = re.fullmatch(r"[^\d_]+_(\d+)(_.*)?", tensor)
    return found[1] if found else ""
