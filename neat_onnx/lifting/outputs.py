"""Which outputs of a graph become outputs of the network.

A policy often gives constants beside its actions (a version, the size of its memory), and actions
drawn at random beside those that are not. A network computes neither. Where all are drawn, it
computes the tensors that they are drawn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from neat_onnx.errors import ImportAdvice, ModelError, OptionError, warn
from neat_onnx.model import Graph, Model
from neat_onnx.model.wiring import gives_sizes, is_random, reads


def chosen_outputs(
    model: Model, wanted: Sequence[str] | None, states: Collection[str]
) -> list[str]:
    """The names of the outputs that are traced, without those that are drawn at random.

    Args:
        model: the model.
        wanted: the caller's choice; None for all.
        states: outputs that feed inputs in the next step.

    Raises:
        OptionError: the caller chose what is no output.
        ModelError: there is none.
    """
    graph = model.graph
    known = [*dict.fromkeys(entry.name for entry in graph.outputs)]
    if not known:
        raise ModelError("the graph has no outputs", where="graph.outputs")
    inputs = {entry.name for entry in graph.inputs}
    if wanted is not None:
        if isinstance(wanted, str) or not wanted or not set(wanted) <= set(known):
            raise OptionError(
                f"outputs is {wanted!r}", where="outputs", hint=f"Known: {', '.join(known)}"
            )
        return [name for name in known if name in wanted]
    counts = Counter(entry.name for entry in graph.outputs)
    if again := [name for name, count in counts.items() if count > 1]:
        warn(f"an output that is there several times becomes one: {', '.join(again)}")
    found = [name for name in known if name not in states]
    if not found:
        raise ModelError(
            "every output feeds an input, and none is left",
            where="graph.outputs",
            hint="Give a state as a second output too, by an Identity",
        )
    computed = [name for name in found if name not in inputs]
    if computed and len(computed) < len(found):
        handed_on = [name for name in found if name in inputs]
        warn(f"outputs that are inputs are left out: {', '.join(handed_on)}")
    return computed or found


def random_tensors(model: Model) -> set[str]:
    """The tensors that depend on chance."""
    found: set[str] = set()
    for node in model.graph.node if any(map(is_random, model.graph.node)) else ():
        if is_random(node) or not found.isdisjoint(reads(node)):
            found.update(filter(None, node.output))
    return found


def before_chance(model: Model) -> list[str]:
    """The tensors that depend on inputs and not on chance, and are read by nodes that do."""
    graph, random = model.graph, random_tensors(model)
    depending, sizes = {entry.name for entry in graph.inputs} - set(graph.tensors), set[str]()
    given = set(depending)
    for node in graph.node:
        made = set(filter(None, node.output))
        if gives_sizes(node) or (reads(node) and sizes.issuperset(reads(node))):
            sizes |= made
        elif not depending.isdisjoint(reads(node)):
            depending |= made
    mixing = (node for node in graph.node if not random.isdisjoint(node.output))
    read = dict.fromkeys(name for node in mixing for name in node.input if name)
    return [name for name in read if name in depending - random - given]


def warn_left_out(constant: Sequence[str], random: Sequence[str], *, whole: bool) -> str:
    """Tell of outputs that no network computes; return the reasons.

    Args:
        constant: those that depend on no input.
        random: those that depend on chance.
        whole: there are no others: the caller tells of it.
    """
    reasons = [f"{_listed(constant)} on no input"] * bool(constant)
    reasons += [f"{_listed(random)} on chance"] * bool(random)
    text = "; ".join(reasons)
    if text and not whole:
        warn(f"outputs that no network computes are left out: {text}")
    return text


def other_outputs(graph: Graph, lost: Collection[str]) -> ImportAdvice | None:
    """How to import the outputs that depend on none of these tensors; None if there are none."""
    missing = set(lost)
    for node in graph.node:
        if not missing.isdisjoint(reads(node)):
            missing.update(filter(None, node.output))
    names = [entry.name for entry in graph.outputs if entry.name not in missing]
    return ImportAdvice("Other outputs can be imported: {}", {"outputs": names}) if names else None


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"{quoted} {'depends' if len(names) == 1 else 'depend'}"
