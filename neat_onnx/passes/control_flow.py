"""If of a constant condition becomes its branch, Loop of a constant trip count its iterations."""

from collections import ChainMap
from collections.abc import Iterator, Mapping

import numpy as np

from neat_onnx.model import DataType, Graph, Node, Tensor, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.wiring import names_made, producers, reads
from neat_onnx.passes.constants import constant_tensor
from neat_onnx.model.draft import Draft, copied
from neat_onnx.passes.fold_constants import computed
from neat_onnx.model.splice import splice


def _taken(node: Node, draft: Draft) -> Graph | None:
    """The branch of an If that its condition takes, if that is known."""
    condition = draft.tensors.get(node.input[0]) if node.input else None
    if condition is None or condition.size != 1:
        return None
    graph = node.given_attributes.get("then_branch" if condition.values.item() else "else_branch")
    fits_outputs = isinstance(graph, Graph) and len(graph.outputs) == len(node.output)
    return graph if fits_outputs else None


def branch_taken(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
    """The nodes of the branch that an If takes, if its condition is an initializer."""
    graph = _taken(node, draft)
    if graph is None:
        return None
    budget.take("nodes", len(graph.node), node.label)
    return splice(draft, graph, {}, node.output)


def iterations(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
    """The nodes of all iterations of a Loop, if their number is known.

    The condition has to be constant, or computed from constants in every iteration.

    Raises:
        ModelError: there would be too many nodes.
    """
    body, carried = body_of(node), node.input[2:]
    if body is None:
        return None
    count = _trip_count(node, draft, body, budget)
    if count is None or count < 1:
        return None if count is None else _handed_on(node, draft)
    Budget(budget.limits).take("nodes", _fewest_nodes(body, draft.tensors) * count, node.label)
    budget.take("nodes", (len(body.node) + 1) * count, node.label)
    nodes: list[Node] = []
    results = [*node.output, *[""] * (len(body.outputs) - 1 - len(node.output))]
    collected: list[list[str]] = [[] for name in results[len(carried) :]]
    for step in range(count):
        number = draft.constant(f"{node.output[0]}_step", step)
        entries = (entry.name for entry in body.inputs)
        condition = node.input[1] or draft.constant(f"{node.output[0]}_true", True, DataType.BOOL)
        given = dict(zip(entries, [number, condition, *carried], strict=True))
        last = step == count - 1
        carried = [
            name if last and name else draft.name(f"{node.output[0]}_carried")
            for name in results[: len(carried)]
        ]
        parts = [draft.name(f"{name}_part") if name else "" for name in results[len(carried) :]]
        nodes += splice(draft, body, given, ["", *carried, *parts])
        for names, part in zip(collected, parts, strict=True):
            names.append(part)
    return nodes + [
        each
        for name, parts in zip(results[len(carried) :], collected, strict=True)
        for each in _stacked(draft, name, parts)
    ]


def _fewest_nodes(body: Graph, around: Mapping[str, Tensor | None]) -> int:
    """The fewest nodes of one iteration, in which Loops of a constant trip count are unrolled."""
    known: Mapping[str, Tensor | None] = ChainMap(
        dict.fromkeys(entry.name for entry in body.inputs),
        {tensor.name: tensor for tensor in _constants(body)},
        around,  # type: ignore[arg-type]  # it is only read
    )
    count = len(body.node)
    for node in body.node:
        inner = body_of(node) if node.op_type == "Loop" else None
        if inner is not None and starts(node, known) and stays_true(inner, known):
            limit = known.get(node.input[0])
            if limit is not None and limit.size == 1:
                count += max(0, int(limit.values.item())) * _fewest_nodes(inner, known)
    return count


def _constants(body: Graph) -> Iterator[Tensor]:
    """The initializers of a body, and its Constant nodes as such."""
    yield from body.initializer
    yield from (constant_tensor(each) for each in body.node if each.op_type == "Constant")


def _handed_on(node: Node, draft: Draft) -> list[Node] | None:
    """The nodes of a loop that does not run; None where its empty collections are read."""
    carried = node.input[2:]
    if collected := [name for name in node.output[len(carried) :] if name]:
        stands = draft.producers.get(collected[0]) is node  # else its readers are not known here
        if not stands or any(name in draft.readers for name in collected):
            return None
    pairs = zip(carried, node.output, strict=False)
    return [draft.node("Identity", [value], [name]) for value, name in pairs if name]


def _stacked(draft: Draft, name: str, parts: list[str]) -> list[Node]:
    """The nodes that stack the parts, one of each iteration, along a new first axis."""
    if not name:
        return []
    axes = draft.constant(f"{name}_axes", [0])
    rows = [draft.name(f"{name}_row") for _ in parts]
    return [
        *(
            draft.node("Unsqueeze", [part, axes], [row])
            for part, row in zip(parts, rows, strict=True)
        ),
        draft.node("Concat", rows, [name], axis=0),
    ]


def body_of(loop: Node) -> Graph | None:
    """The body of a loop that carries everything that it reads, and collects its other outputs."""
    body, reads = loop.given_attributes.get("body"), len(loop.input)
    if not isinstance(body, Graph) or reads < 2 or len(body.inputs) != reads:
        return None
    return body if len(body.outputs) > max(reads - 2, len(loop.output)) else None


def starts(loop: Node, around: Mapping[str, Tensor | None]) -> bool | None:
    """Whether the condition before the first round is true; None if it depends on the inputs."""
    if not loop.input[1]:
        return True
    start = around.get(loop.input[1])
    return None if start is None else bool(start.values.all())


def _trip_count(node: Node, draft: Draft, body: Graph, budget: Budget) -> int | None:
    """How often a loop runs; None if that depends on the inputs of the model."""
    most, known = draft.integer(node.input[0]), starts(node, draft.tensors)
    if known is False:
        return 0
    if (node.input[0] and most is None) or known is None:
        return None
    if stays_true(body, draft.tensors):
        return most
    return counted(node, draft, body, budget, most)


def counted(node: Node, draft: Draft, body: Graph, budget: Budget, most: int | None) -> int | None:
    """The number of iterations of a loop whose condition is computed from constants alone."""
    names, nodes = _needed(body)
    begins = dict(zip(_names(body.inputs[2:]), node.input[2:], strict=True))
    ends = dict(zip(begins, _names(body.outputs[1:]), strict=False))
    scratch, (step, going) = Draft(copied(draft.model, graph=body)), _names(body.inputs[:2])
    scratch.tensors = {name: draft.tensors[name] for name in names & draft.tensors.keys()}
    scratch.tensors |= {tensor.name: tensor for tensor in _constants(body)}
    nodes = [each for each in nodes if each.op_type != "Constant"]
    for name in names & begins.keys():
        if begins[name] not in draft.tensors:
            return None
        scratch.tensors[name] = draft.tensors[begins[name]]
    scratch.tensors[going] = Tensor.of(going, np.array(True), DataType.BOOL)
    given = {body.outputs[0].name, *(ends[name] for name in names & begins.keys())}
    count = 0
    while most is None or count < most:
        scratch.tensors[step] = Tensor.of(step, np.array(count), DataType.INT64)
        if not budget.allows("nodes", (len(body.node) + 1) * count):
            return count + 1  # which is refused
        if not _run(nodes, scratch, budget) or not given <= scratch.tensors.keys():
            return None
        count += 1
        following = {name: scratch.tensors[ends[name]] for name in names & begins.keys()}
        if not scratch.tensors[body.outputs[0].name].values.all():
            break
        scratch.tensors |= following
    return count


def _names(entries: list[ValueInfo]) -> list[str]:
    return [entry.name for entry in entries]


def _needed(body: Graph) -> tuple[set[str], list[Node]]:
    """The tensors that a body's condition depends on, in later iterations too, and their nodes."""
    follows = {
        entry.name: after.name
        for entry, after in zip(body.inputs[2:], body.outputs[1:], strict=False)
    }
    made = producers(body)
    names: set[str] = set()
    open_names = [body.outputs[0].name]
    while open_names:
        name = open_names.pop()
        if name in names:
            continue
        names.add(name)
        open_names += [follows[name]] if name in follows else []
        open_names += filter(None, reads(made[name])) if name in made else []
    return names, [node for node in body.node if not names.isdisjoint(node.output)]


def _run(nodes: list[Node], scratch: Draft, budget: Budget) -> bool:
    """Compute nodes whose inputs are constant; False where one cannot be computed here."""
    for node in nodes:
        known = all(name in scratch.tensors for name in node.input if name)
        results = _values(node, scratch, budget) if known else None
        if results is None:
            return False
        scratch.tensors |= {tensor.name: tensor for tensor in results}
    return True


def _values(node: Node, scratch: Draft, budget: Budget) -> list[Tensor] | None:
    """The outputs of a node; None if it cannot be computed here."""
    if node.op_type == "Constant":
        return [constant_tensor(node)]
    if node.op_type != "If":
        return computed(node, scratch, budget)
    graph = _taken(node, scratch)
    scratch.tensors |= {} if graph is None else graph.tensors
    if graph is None or not _run(graph.node, scratch, budget):
        return None
    pairs = zip(graph.outputs, node.output, strict=True)
    return [copied(scratch.tensors[inner.name], name=outer) for inner, outer in pairs]


def stays_true(body: Graph, around: Mapping[str, Tensor | None]) -> bool:
    """Whether the condition that a loop's body gives is the one that it got, or constantly true.

    Args:
        body: the body.
        around: the constants around it.
    """
    name, constant = _handed_on_from(body, body.outputs[0].name, around)
    return name == body.inputs[1].name or (constant is not None and bool(constant.values.all()))


def stays_false(branch: Graph, around: Mapping[str, Tensor]) -> bool:
    """Whether the first output of a branch is constantly false."""
    _, constant = _handed_on_from(branch, branch.outputs[0].name, around)
    return constant is not None and not constant.values.any()


def _handed_on_from(
    graph: Graph, name: str, around: Mapping[str, Tensor | None]
) -> tuple[str, Tensor | None]:
    """The tensor that another one in a graph is the same as, and its values, if it is constant."""
    made = producers(graph)
    for _ in graph.node:  # one that is wired in a circle ends too
        if name in made and made[name].op_type in ("Identity", "Cast"):
            name = next(iter(made[name].input), "")
    if name in made and made[name].op_type == "Constant":
        return name, constant_tensor(made[name])
    outside = around if name not in names_made(graph) else {}
    return name, graph.tensors.get(name, outside.get(name))
