"""The choice of the graph outputs that become outputs of the network.

A policy often gives constants beside its actions (a version, the size of its memory), and actions
drawn at random beside those that are not. A network computes neither. Where all are drawn, it
computes the tensors that they are drawn from.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from neat_onnx.errors import ImportAdvice, ModelError, OptionError, warn
from neat_onnx.model import Graph, Model
from neat_onnx.model.semantics import counts_elements, gives_sizes, is_random
from neat_onnx.model.wiring import Wiring, reads
from neat_onnx.passes import without_dead
from neat_onnx.model.draft import with_graph


def distinct_outputs(model: Model) -> Model:
    """The model with each output once, and none that is an input; a warning names the others.

    Raises:
        ModelError: it has none.
    """
    if not model.graph.outputs:
        raise ModelError("the graph has no outputs", where="graph.outputs")
    counts = Counter(entry.name for entry in model.graph.outputs)
    again = [name for name, count in counts.items() if count > 1]
    if again:
        warn(f"an output that is there several times becomes one: {', '.join(again)}")
    handed_on = [entry.name for entry in model.graph.inputs if entry.name in counts]
    left_out = handed_on if len(handed_on) < len(counts) else []
    if left_out:
        warn(f"outputs that are inputs are left out: {', '.join(left_out)}")
    if not again and not left_out:
        return model
    entries = {entry.name: entry for entry in model.graph.outputs if entry.name not in left_out}
    return with_graph(model, outputs=list(entries.values()))


def chosen_outputs(model: Model, wanted: Sequence[str], pairs: dict[str, str]) -> Model:
    """The model with these outputs alone, and the states that they depend on.

    Args:
        model: the model.
        wanted: names of outputs.
        pairs: the output that feeds each state input.

    Raises:
        OptionError: the graph has no such output.
    """
    known = [entry.name for entry in model.graph.outputs]
    if given := {entry.name for entry in model.graph.inputs}.intersection(wanted) - {*known}:
        raise OptionError(
            f"'{min(given)}' is an input of the graph",
            where="outputs",
            hint="An output is a tensor that the network computes",
        )
    if isinstance(wanted, str) or not wanted or not set(wanted) <= set(known):
        raise OptionError(
            f"outputs is {wanted!r}", where="outputs", hint=f"Known: {', '.join(known)}"
        )
    kept, unread = set(wanted), dict(pairs)
    found = set(kept)
    while found:
        read = _inputs_of(model.graph, found)
        found = {unread.pop(name) for name in list(unread) if name in read} - kept
        kept |= found
    dropped = {previous for previous, following in pairs.items() if following not in kept}
    return _reduced(model, kept, dropped)


class LeftOut(NamedTuple):
    """Outputs that are constant or random, whether all are, and the reasons."""

    names: set[str]
    all_outputs: bool
    reasons: str


def outputs_left_out(graph: Graph, states: Collection[str]) -> LeftOut:
    """The outputs that no network computes; those that feed states do not count."""
    constant, random = _followed(graph)
    names = [entry.name for entry in graph.outputs if entry.name not in states]
    fixed = [name for name in names if name in constant]
    drawn = [name for name in names if name in random]
    reasons = [f"{_listed(fixed)} on no input"] * bool(fixed)
    reasons += [f"{_listed(drawn)} on chance"] * bool(drawn)
    both = {*fixed, *drawn}
    return LeftOut(both, bool(both) and len(both) == len(names), "; ".join(reasons))


def computed_outputs(model: Model, left_out: LeftOut) -> Model:
    """The model without outputs that are constant or random; a warning names them.

    Args:
        model: the model.
        left_out: these outputs.

    Raises:
        ModelError: no output would be left.
    """
    if not left_out.names:
        return model
    if left_out.all_outputs:
        raise ModelError(
            f"every output is constant or random: {left_out.reasons}", where="graph.outputs"
        )
    warn(f"outputs that no network computes are left out: {left_out.reasons}")
    kept = {entry.name for entry in model.graph.outputs} - left_out.names
    return _reduced(model, kept, ())


def drawn_from(left_out: LeftOut, given: Graph) -> list[str]:
    """The tensors that a model draws all its outputs from; empty if it computes an output.

    A warning tells of them.

    Args:
        left_out: its outputs that are constant or random.
        given: its graph before it was simplified, whose tensors can be imported.
    """
    names = _before_chance(given) if left_out.all_outputs else []
    if names:
        warn(
            f"every output is constant or random: {left_out.reasons}",
            ImportAdvice("The tensors before the chance are imported: {}", {"outputs": names}),
        )
    return names


def independent_outputs(graph: Graph, lost: Collection[str]) -> list[str]:
    """The outputs of a graph that depend on none of these tensors."""
    missing = set(lost)
    for node in graph.node:
        if not missing.isdisjoint(reads(node)):
            missing.update(filter(None, node.output))
    return [entry.name for entry in graph.outputs if entry.name not in missing]


def choice_hint(graph: Graph, lost: Collection[str]) -> ImportAdvice | None:
    """How to import the outputs that do not depend on these tensors; None if there are none."""
    return other_outputs(independent_outputs(graph, lost))


def other_outputs(names: Sequence[str]) -> ImportAdvice | None:
    """The hint that these outputs can be imported; None if there are none."""
    return ImportAdvice("Other outputs can be imported: {}", {"outputs": names}) if names else None


def _followed(graph: Graph) -> tuple[set[str], set[str]]:
    """The tensors that depend on no input, and those that depend on chance."""
    computed = {entry.name for entry in graph.inputs}
    random: set[str] = set()
    counted: set[str] = set()  # how many elements these have depends on the inputs
    known = set(graph.tensors)
    for node in graph.node:
        names = reads(node)
        given = set(filter(None, node.output))
        known |= given
        if is_random(node) or not random.isdisjoint(names):
            random |= given
        elif not (counted if gives_sizes(node) else computed).isdisjoint(names):
            computed |= given
            counted |= given if counts_elements(node) or not counted.isdisjoint(names) else set()
    return known - computed - random, random


def _before_chance(graph: Graph) -> list[str]:
    """The tensors that depend on inputs and not on chance, and are read by nodes that do."""
    constant, random = _followed(graph)
    sized = {name for node in graph.node if gives_sizes(node) for name in node.output}
    excluded = {entry.name for entry in graph.inputs} | constant | random | sized
    mixing = (node for node in graph.node if not random.isdisjoint(node.output))
    found = dict.fromkeys(name for node in mixing for name in node.input if name)
    return [name for name in found if name not in excluded]


def _inputs_of(graph: Graph, names: Collection[str]) -> set[str]:
    """The inputs that tensors depend on."""
    wiring = Wiring(graph)
    pending, found = list(names), set(names)
    while pending:
        at = wiring.producer.get(pending.pop())
        fresh = set() if at is None else set(wiring.reads[at]) - found
        found |= fresh
        pending += fresh
    return found & {entry.name for entry in graph.inputs}


def _reduced(model: Model, kept: Collection[str], dropped: Collection[str]) -> Model:
    """The model without outputs that are not kept, and without the inputs that are dropped."""
    outputs = [entry for entry in model.graph.outputs if entry.name in kept]
    inputs = [entry for entry in model.graph.inputs if entry.name not in dropped]
    return without_dead(with_graph(model, outputs=outputs, inputs=inputs))


def _listed(names: list[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"{quoted} {'depends' if len(names) == 1 else 'depend'}"


def empty_outputs(sizes: Mapping[str, int]) -> set[str]:
    """The outputs without elements, beside others; a warning says that they are left out.

    A network has no port without neurons, and a cache or a part of a Split may be empty.
    """
    empty = [name for name, size in sizes.items() if not size]
    if not empty or len(empty) == len(sizes):
        return set()
    warn(f"outputs that have no elements are left out: {', '.join(empty)}")
    return {*empty}
