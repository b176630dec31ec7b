"""The graphs inside of nodes that stay, as the body of a Scan, each brought to simple form."""

from collections.abc import Callable

from neat_onnx.model import Graph, Model, Node, ValueInfo
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import names_made, names_read
from neat_onnx.model.draft import Draft, copied, is_one_of, make_node
from neat_onnx.model.splice import renamed_graph

_STAYING = ("If", "Scan")


def inner_graphs(model: Model, simple: Callable[[Model], Model]) -> Model:
    """The model with each graph inside of a Scan or an If as it is after `simple`.

    Args:
        simple: takes and gives a model of the graph alone, whose inputs are the tensors that it
            reads from around it as well.
    """
    draft = Draft(model)
    changed: dict[int, Node | list[Node] | None] = {}
    for at, node in enumerate(model.graph.node):
        if is_one_of(node, *_STAYING):
            given = node.given_attributes
            graphs = {
                name: _inside(draft, value, _rows(draft, node, value), simple)
                for name, value in given.items()
                if isinstance(value, Graph)
            }
            if any(graph is not given[name] for name, graph in graphs.items()):
                changed[at] = make_node(
                    node.op_type, node.input, node.output, given | graphs,
                    name=node.name, opset=model.opset,
                )  # fmt: skip
    return draft.replaced(changed)


def _rows(draft: Draft, node: Node, body: Graph) -> list[ValueInfo]:
    """The inputs of a body in the shapes of the tensors that a Scan hands to them."""
    if len(node.input) != len(body.inputs):
        return body.inputs
    count = int(node.given_attributes.get("num_scan_inputs", 0))
    axes = node.given_attributes.get("scan_input_axes") or (0,) * count
    behind: list[int | None] = [*(None for _ in node.input[count:]), *axes]
    return [
        _of_shape(entry, draft.facts(name).shape, axis)
        for entry, name, axis in zip(body.inputs, node.input, behind, strict=True)
    ]


def _of_shape(entry: ValueInfo, shape: tuple[Extent, ...] | None, axis: int | None) -> ValueInfo:
    """An input of a body, as a tensor of a shape is, or one row of it along an axis."""
    if not shape or (axis is not None and not -len(shape) <= axis < len(shape)):
        fixed = [size if isinstance(size, int) else None for size in entry.shape or ()]
        return ValueInfo.of(entry.name, entry.elem_type, None if entry.shape is None else fixed)
    at = None if axis is None else axis % len(shape)
    sizes = [size for k, size in enumerate(shape) if k != at]
    return ValueInfo.of(entry.name, entry.elem_type, sizes)


def _inside(
    draft: Draft, graph: Graph, inputs: list[ValueInfo], simple: Callable[[Model], Model]
) -> Graph:
    """The graph after `simple`; new tensors have names that nothing around it has."""
    own = {*names_made(graph)}
    around = [name for name in dict.fromkeys(names_read(graph)) if name and name not in own]
    tensors = {name: draft.tensors[name] for name in around if name in draft.tensors}
    facts = {name: draft.facts(name) for name in around if name not in tensors}
    read = [
        ValueInfo.of(name, each.elem_type, each.shape)
        for name, each in facts.items()
        if each.elem_type is not None
    ]
    given = [*graph.initializer, *tensors.values()]
    whole = copied(graph, inputs=[*inputs, *read], initializer=given)
    alone = copied(draft.model, graph=whole, functions=[], metadata_props=[])
    found = simple(alone)
    if found is alone:
        return graph
    left = [each for each in found.graph.initializer if tensors.get(each.name) is not each]
    result = copied(found.graph, inputs=graph.inputs, initializer=left)
    fresh = [name for name in dict.fromkeys(names_made(result)) if name not in own]
    return renamed_graph(result, {name: draft.name(name) for name in fresh})
