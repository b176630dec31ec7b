"""Inputs that all samples share, as the length of a time step, which have no axis of the batch.

Nodes compute with samples first. Such an input gets an axis of one sample by an Unsqueeze, which
elementwise nodes broadcast; where others read it beside the samples, an Expand gives it to each.
"""

from collections.abc import Sequence

from neat_onnx.model import Graph, Model, Node, ValueInfo
from neat_onnx.model.draft import Draft, is_one_of, renamed, with_graph
from neat_onnx.model.rounding import ELEMENTWISE
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.port import Port
from neat_onnx.operators.export.frames.merged_shapes import merged_shapes


def with_shared_inputs(model: Model, shared: Sequence[Port]) -> tuple[Model, dict[str, str]]:
    """The model whose inputs of these ports have no batch, and the names there of tensors that had
    others.

    Args:
        model: an export of one step, samples first.
        shared: the ports, whose inputs have samples as well there.
    """
    names = {port.name for port in shared}
    draft, inner = Draft(model), dict[str, str]()
    (samples, *_) = (each for each in model.graph.inputs if each.name not in names)
    for entry in model.graph.inputs:
        if entry.name in names:
            inner[entry.name] = _for_each_sample(draft, entry, samples)
    draft.nodes += (renamed(node, inner) for node in model.graph.node)
    inputs = [
        ValueInfo.of(each.name, each.elem_type, (each.shape or ())[1:])
        if each.name in names
        else each
        for each in model.graph.inputs
    ]
    return merged_shapes(with_graph(draft.finished(), inputs=inputs))


def _for_each_sample(draft: Draft, entry: ValueInfo, samples: ValueInfo) -> str:
    """The name of an input with an axis of the batch, of one sample where that is enough."""
    one = draft.name(f"{entry.name}_once")
    first_axis = draft.constant("first_axis", [0])
    draft.nodes.append(draft.node("Unsqueeze", [entry.name, first_axis], [one]))
    if (samples.shape or (1,))[0] == 1 or _is_broadcast(draft.model, entry.name):
        return one
    each = draft.name(f"{entry.name}_each")
    sizes = _sizes(draft, samples.name, len(entry.shape or ()))
    draft.nodes.append(draft.node("Expand", [one, sizes], [each]))
    return each


def _sizes(draft: Draft, samples: str, rank: int) -> str:
    """The shape of as many samples as an input has, with one element each."""
    shape, count = (draft.name(wish) for wish in ("shape", "count"))
    bounds = [draft.constant(wish, [at]) for at, wish in enumerate(("from", "to"))]
    draft.nodes += [
        draft.node("Shape", [samples], [shape]),
        draft.node("Slice", [shape, *bounds], [count]),
    ]
    if rank == 1:
        return count
    ones = draft.constant("ones", [1] * (rank - 1))
    sizes = draft.name("sizes")
    draft.nodes.append(draft.node("Concat", [count, ones], [sizes], axis=0))
    return sizes


def _is_broadcast(model: Model, name: str) -> bool:
    """Whether elementwise nodes alone combine a tensor of one sample with others of all samples."""
    graph, alone = model.graph, {name}
    constants = graph.tensors.keys()
    for node in graph.node:
        read = {each for each in node.input if each and each not in constants}
        if subgraphs(node):
            return False  # graphs inside may read it as well
        if not read & alone or _takes_the_sample(graph, node):
            continue
        if read <= alone:
            alone.update(node.output)
        elif not is_one_of(node, *ELEMENTWISE):
            return False
    return not any(entry.name in alone for entry in graph.outputs)


def _takes_the_sample(graph: Graph, node: Node) -> bool:
    """Whether a node takes a tensor of one sample without the axis of samples."""
    axes = graph.tensors.get(node.input[-1]) if is_one_of(node, "Squeeze") else None
    return axes is not None and axes.values.tolist() == [0]
