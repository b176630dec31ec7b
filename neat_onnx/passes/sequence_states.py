"""Which input of a graph is the state of a recurrent layer, and which output it is at the end.

A layer that runs along an axis of no fixed size may begin with an input of the graph, and give its
last state as an output. Then a sequence can be run in parts, and the output feeds the input of the
next part, by whatever names.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.states import STATE_KEY, alike, state_pairs, with_stated_pairs
from neat_onnx.model.value import is_fixed
from neat_onnx.model.draft import with_graph
from neat_onnx.passes.recurrent_layers import RecurrentLayers

_STATES = {5: 1, 6: 2}
"""The inputs of a state before the first step, and its outputs after the last."""


def sequence_states(model: Model) -> Model:
    """The model with the states of recurrent layers in its metadata, if it has none there yet.

    The batch of such a state, [layers, N, H], is its second axis, also where all sizes are fixed.
    """
    if STATE_KEY in model.metadata:
        return model
    found = _pairs(model)
    if not found:
        return model
    pairs = state_pairs(model) | found
    inputs = [_opened(entry) if entry.name in found else entry for entry in model.graph.inputs]
    return with_stated_pairs(with_graph(model, inputs=inputs), pairs)


def with_open_states(model: Model, pairs: Mapping[str, str]) -> Model:
    """The model with a batch of no fixed size in the states [layers, 1, H] of recurrent layers; the
    model itself if it has none.

    Args:
        model: all its sizes are fixed.
        pairs: the output that feeds each state.
    """
    layers = RecurrentLayers(model)
    begun = [layers.sources(before) for node in layers.nodes for before, _ in _states(node)]
    states = {*pairs}.intersection(chain.from_iterable(begun))
    inputs = [_opened(each) if each.name in states else each for each in model.graph.inputs]
    return model if inputs == model.graph.inputs else with_graph(model, inputs=inputs)


def _opened(entry: ValueInfo) -> ValueInfo:
    sizes = entry.shape
    if not is_fixed(sizes) or len(sizes) != 3 or sizes[1] != 1:
        return entry
    return ValueInfo.of(entry.name, entry.elem_type, [sizes[0], "batch", sizes[2]])


def _pairs(model: Model) -> dict[str, str]:
    """The output that feeds each input that layers over open sequences begin with.

    It is made of the last states of exactly these layers, by operators that move elements alone.
    """
    graph, layers = model.graph, RecurrentLayers(model)
    begun: dict[str, set[str]] = {}
    opened: set[str] = set()
    for node in layers.nodes:
        for before, after in _states(node):
            given = layers.sources(before)
            if len(given) == 1 and (name := min(given)) in layers.entries:
                begun.setdefault(name, set()).add(after)
                opened |= {name} if layers.has_open_sequence(node) else set()
    if not opened:
        return {}
    ended = {entry.name: layers.sources(entry.name) for entry in graph.outputs}
    outputs = {entry.name: entry for entry in graph.outputs}
    found = {
        name: [
            output
            for output, sources in ended.items()
            if sources == begun[name] and alike(layers.entries[name], outputs[output])
        ]
        for name in opened
    }
    return {name: names[0] for name, names in sorted(found.items()) if names}


def _states(node: Node) -> Iterator[tuple[str, str]]:
    """The tensors of each state that is given: before the first step, and after the last."""
    given, made = dict(enumerate(node.input)), dict(enumerate(node.output))
    for before, after in _STATES.items():
        if given.get(before) and made.get(after):
            yield given[before], made[after]
