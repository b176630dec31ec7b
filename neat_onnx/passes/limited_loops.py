"""A Loop that ends by a computed condition, or at the latest after a known number of rounds, is its
rounds, each before an If whose other branch hands on.

TorchScript writes a loop with `break` so. This is for import, whose neurons all compute.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from neat_onnx.model import DataType, Graph, Model, Node, Tensor, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.semantics import is_random
from neat_onnx.model.wiring import names_made, node_count, producers, reads
from neat_onnx.passes.control_flow import body_of, counted, stays_false
from neat_onnx.model.draft import Draft, copied, is_one_of, with_replaced
from neat_onnx.model.splice import splice


def limited_loops(model: Model) -> Model:
    """The model with Ifs in place of each Loop that has a limit, and collects nothing."""
    return with_replaced(model, "Loop", partial(_rounds, budget=Budget()))


def _rounds(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
    body = body_of(node)
    if body is None or len(body.outputs) >= len(body.inputs):
        return None
    limit = _limit(node, draft, body, budget) or 0
    count = limit * (2 * len(body.node) + 3 * len(body.outputs))
    if limit < 1 or not budget.allows("nodes", count):
        return None
    budget.take("nodes", count, node.label)
    true = draft.constant(f"{node.output[0]}_true", True, DataType.BOOL)
    nodes, state = list[Node](), [node.input[1] or true, *node.input[2:]]
    names, counters = [entry.name for entry in body.inputs], _counters(draft, node, body)
    counts = dict(zip(names[1:], state, strict=True))
    for step in range(limit):
        given = dict(zip(names[1:], state, strict=True)) | {name: counts[name] for name in counters}
        given |= {names[0]: draft.constant(f"{node.output[0]}_step", step), names[1]: true}
        done, results = ([draft.name(end.name) for end in body.outputs] for _ in range(2))
        if step == limit - 1:
            found = zip(results[1:], node.output, strict=False)
            results[1 : len(node.output) + 1] = [name or result for result, name in found]
        nodes += splice(draft, body, given, done)
        values = zip(results, body.outputs, done, state, strict=True)
        nodes += [_chosen(draft, state[0], *value) for value in values]
        counts, state = dict(zip(names[1:], done, strict=True)), results
    return nodes


def _chosen(
    draft: Draft, condition: str, result: str, end: ValueInfo, done: str, before: str
) -> Node:
    """The value after a round, if the condition held, else the one before it."""
    branches = []
    for source in (done, before):
        name = draft.name(result)
        output = ValueInfo.of(name, end.elem_type)
        if end.type.sequence_type:
            output = copied(end, name=name)
        branches.append(Graph(outputs=[output], node=[draft.node("Identity", [source], [name])]))
    then, other = branches
    return draft.node("If", [condition], [result], then_branch=then, else_branch=other)


def _counters(draft: Draft, loop: Node, body: Graph) -> set[str]:
    """The carried values that are of constants alone, as counters are.

    In a round that counts they are known, because all rounds before it counted.
    """
    follows = dict(zip([entry.name for entry in body.inputs[2:]], body.outputs[1:], strict=True))
    known = {*draft.tensors, *names_made(body)}
    begins = zip(follows, loop.input[2:], strict=True)
    known -= {name for name, value in begins if value not in draft.tensors}
    for _ in range(len(follows) + 1):
        for node in body.node:
            if is_random(node) or not known.issuperset(filter(None, reads(node))):
                known.difference_update(node.output)
        known -= {name for name, end in follows.items() if end.name not in known}
    return known & follows.keys()


def _limit(node: Node, draft: Draft, body: Graph, budget: Budget) -> int | None:
    """The most rounds of a Loop, by its number or by a part of its condition; None if unknown."""
    most = draft.integer(node.input[0])
    if node.input[0] and most is None:
        return None
    limits = [] if most is None else [most]
    for part in _parts(body, draft.tensors):
        count = counted(node, draft, part, budget, most)
        limits += [] if count is None else [count]
    return min(limits, default=None)


def _parts(body: Graph, around: Mapping[str, Tensor]) -> Iterator[Graph]:
    """The body with other conditions, which all have to be true for its own one to be.

    An If is such an "and" if one of its branches is false, of its condition too if that is the
    second one.
    """
    nodes, tensors = [*body.node], [*body.initializer]
    made, waiting = producers(body), [body.outputs[0].name]
    for _ in range(2 * node_count(body) + 1):  # a body that is wired in a circle ends too
        name = waiting.pop() if waiting else ""
        node = made.get(name)
        if node is not None and is_one_of(node, "And", "Identity"):
            waiting += node.input
        elif node is not None and (branch := _only_branch(node, around)):
            nodes += branch.node
            tensors += branch.initializer
            made |= producers(branch)
            waiting.append(branch.outputs[0].name)
            waiting += node.input[:1] if branch is node.given_attributes["then_branch"] else []
        elif name:
            ends = [copied(body.outputs[0], name=name), *body.outputs[1:]]
            yield copied(body, outputs=ends, node=nodes, initializer=tensors)


def _only_branch(node: Node, around: Mapping[str, Tensor]) -> Graph | None:
    """The branch of an If that may be true, where the other is false."""
    given = node.given_attributes
    then, other = given.get("then_branch"), given.get("else_branch")
    if not isinstance(then, Graph) or not isinstance(other, Graph) or len(node.output) != 1:
        return None
    if stays_false(other, around):
        return then
    return other if stays_false(then, around) else None
