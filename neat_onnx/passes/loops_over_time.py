"""A Loop that reads a row of tensors in each round is a Scan, if it goes once through all rows.

TorchScript writes layers with `for i in range(x.size(0))` so, and the lists of their results, to
which each round appends one. This is for import: the state of a Loop may change its shape, as from
one sample to all, and a Scan's may not.
"""

from neat_onnx.model import DataType, Graph, Model, Node, ValueInfo
from neat_onnx.model.semantics import is_random
from neat_onnx.model.wiring import Wiring, names_made, names_read, producers, reads
from neat_onnx.passes.control_flow import body_of, starts, stays_true
from neat_onnx.model.draft import Draft, copied, is_one_of, with_inputs, with_replaced
from neat_onnx.passes.sequences import Rows, rows_of
from neat_onnx.model.splice import splice


def loops_over_time(model: Model) -> Model:
    """The model with a Scan in place of each Loop over the rows of tensors, and as many rounds."""
    return with_replaced(model, "Loop", _scan)


def _scan(node: Node, draft: Draft) -> list[Node] | None:
    body = body_of(node)
    if body is None or not starts(node, draft.tensors) or not stays_true(body, draft.tensors):
        return None
    if moved := _moved_before(draft, node, body):
        return moved
    rows = _rows(draft, body, node.input[0])
    return _written(draft, node, body, rows) if rows else None


def _moved_before(draft: Draft, loop: Node, body: Graph) -> list[Node]:
    """The Loop behind nodes of its body, whose rows it reads and which are the same in each round.

    TorchScript writes x[:, i] as a row of a Slice of all of x.
    """
    number, changing = body.inputs[0].name, {entry.name for entry in body.inputs}
    for node in body.node:
        if is_random(node) or not changing.isdisjoint(reads(node)):
            changing.update(node.output)
    read = {node.input[0] for node in body.node if node.input[1:] == [number]}
    names = {name: draft.name(name) for name in sorted(read & producers(body).keys() - changing)}
    if not names:
        return []
    alone = copied(body, inputs=[], outputs=[ValueInfo.of(name) for name in names])
    needed = Wiring(alone).contributing
    alone = copied(alone, node=[node for at, node in enumerate(body.node) if at in needed])
    rest = [
        with_inputs(node, [names.get(node.input[0], node.input[0]), number])
        if node.input[1:] == [number]
        else node
        for node in body.node
    ]
    given = {**loop.given_attributes, "body": copied(body, node=rest)}
    after = draft.node("Loop", loop.input, loop.output, name=loop.name, **given)
    return [*splice(draft, alone, {}, list(names.values())), after]


def _rows(draft: Draft, body: Graph, count: str) -> dict[str, Rows]:
    """The tensors of a body that are one of as many rows as there are rounds, and those rows."""
    gather = draft.maker(draft.behind(count, "Identity", "Cast"), "Gather")
    shape = draft.maker(gather.input[0], "Shape") if gather else None
    axis = draft.integer(gather.input[1]) if gather else None
    if shape is None or shape.given_attributes or axis is None:
        return {}
    length = _size(draft, Rows(shape.input[0], axis))
    number, own = body.inputs[0].name, set(names_made(body))
    rows: dict[str, Rows] = {}
    for node in body.node if length else ():
        if len(node.input) == 2 and node.input[1] == number and node.input[0] not in own:
            found = _row(draft, node)
            if found is not None and _size(draft, found) == length:
                rows[node.output[0]] = found
    return rows


def _row(draft: Draft, node: Node) -> Rows | None:
    """The rows that a node of a body reads one of."""
    if is_one_of(node, "Gather"):
        return Rows(node.input[0], int(node.given_attributes.get("axis", 0)))
    return rows_of(draft, node.input[0]) if is_one_of(node, "SequenceAt") else None


def _size(draft: Draft, rows: Rows) -> str:
    """The name of the number of rows; "" where it is fixed, or nothing is known of them."""
    shape = draft.facts(rows.tensor).shape or ()
    if not -len(shape) <= rows.axis < len(shape) or isinstance(shape[rows.axis], int):
        return ""
    return str(shape[rows.axis] or f"{rows.tensor} axis {rows.axis % len(shape)}")


def _written(draft: Draft, loop: Node, body: Graph, rows: dict[str, Rows]) -> list[Node] | None:
    """The Scan, and each list as the sequence of its rows; None where more is read in a round."""
    carried, ends = loop.input[2:], body.outputs[1:]
    names = [*loop.output, *[""] * (len(ends) - len(loop.output))]
    names = [name or draft.name(f"{loop.output[0]}_unread") for name in names]
    states, results = list[tuple[str, ValueInfo]](), list[tuple[ValueInfo, str]]()
    collected, lists = list[tuple[ValueInfo, str]](), list[Node]()
    for value, entry, end, name in zip(carried, body.inputs[2:], ends, names, strict=False):
        if entry.type.sequence_type is None:
            states.append((value, ValueInfo.of(entry.name, entry.elem_type)))
            results.append((end, name))
        elif appended := _appended(draft, body, value, entry.name, end.name):
            whole = draft.name(f"{name}_rows")
            collected.append((ValueInfo.of(appended, entry.elem_type), whole))
            lists.append(draft.node("SplitToSequence", [whole], [name], axis=0, keepdims=0))
        else:
            return None
    results += [*collected, *zip(ends[len(carried) :], names[len(carried) :], strict=True)]
    known = [entry for _, entry in states] + [_entry(draft, name, rows[name]) for name in rows]
    inside = _body(draft, body, known, [end for end, _ in results])
    if not {entry.name for entry in body.inputs}.isdisjoint(_missing(inside)):
        return None
    scan = draft.node(
        "Scan",
        [*(value for value, _ in states), *(each.tensor for each in rows.values())],
        [name for _, name in results],
        name=loop.name,
        body=inside,
        num_scan_inputs=len(rows),
        scan_input_axes=[each.axis for each in rows.values()],
    )
    return [scan, *lists]


def _appended(draft: Draft, body: Graph, before: str, name: str, after: str) -> str:
    """The tensor that each round appends to a list that starts empty; "" of any other list."""
    node = producers(body).get(after)
    if node is None or not is_one_of(node, "SequenceInsert") or any(node.input[2:]):
        return ""
    return node.input[1] if node.input[0] == name and draft.maker(before, "SequenceEmpty") else ""


def _entry(draft: Draft, name: str, rows: Rows) -> ValueInfo:
    """A row as an input of the body."""
    return ValueInfo.of(name, draft.facts(rows.tensor).elem_type or DataType.FLOAT)


def _body(draft: Draft, body: Graph, given: list[ValueInfo], ends: list[ValueInfo]) -> Graph:
    """The nodes of a body that its results need, each under a name that no input has."""
    names, known = [draft.name(end.name) for end in ends], {entry.name for entry in given}
    nodes = [node for node in body.node if known.isdisjoint(node.output)]
    nodes += [
        draft.node("Identity", [end.name], [name]) for end, name in zip(ends, names, strict=True)
    ]
    pairs = zip(ends, names, strict=True)
    outputs = [ValueInfo.of(name, end.elem_type) for end, name in pairs]
    whole = copied(body, inputs=given, outputs=outputs, node=nodes)
    needed = Wiring(whole).contributing
    return copied(whole, node=[node for at, node in enumerate(nodes) if at in needed])


def _missing(graph: Graph) -> set[str]:
    """The names that a graph reads and does not make."""
    return set(names_read(graph)) - set(names_made(graph))
