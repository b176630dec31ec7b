"""Inputs without time of a graph of sequences: of each sample, or shared by all of them.

A network reads its inputs at every step, so that an Expand gives such a value to each step.
"""

from collections.abc import Sequence

from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.draft import Draft, renamed, with_graph
from neat_onnx.network.port import Port


def with_static_inputs(model: Model, static: Sequence[Port]) -> Model:
    """The model whose inputs of these ports have no time, and none of the samples if they share it.

    Args:
        model: an export of sequences, time first, then samples.
        static: the ports, whose inputs have both there.
    """
    lacking = {port.name: 2 if port.batch_axis is None else 1 for port in static}
    draft, inner = Draft(model), dict[str, str]()
    (sequence, *_) = (each.name for each in model.graph.inputs if each.name not in lacking)
    shape = draft.name("shape")
    draft.nodes.append(draft.node("Shape", [sequence], [shape]))
    counts = {count: _first_sizes(draft, shape, count) for count in sorted({*lacking.values()})}
    inputs = []
    for entry in model.graph.inputs:
        count = lacking.get(entry.name, 0)
        inputs.append(ValueInfo.of(entry.name, entry.elem_type, (entry.shape or ())[count:]))
        if count:
            inner[entry.name] = _at_each_step(draft, inputs[-1], counts[count])
    draft.nodes += (renamed(node, inner) for node in model.graph.node)
    return with_graph(draft.finished(), inputs=inputs)


def _first_sizes(draft: Draft, shape: str, count: int) -> str:
    """The number of steps in a shape, or of steps and samples."""
    bounds = [draft.constant(f"axis_{at}", [at]) for at in (0, count)]
    sizes = draft.name("steps" if count == 1 else "steps_and_samples")
    draft.nodes.append(draft.node("Slice", [shape, *bounds], [sizes]))
    return sizes


def _at_each_step(draft: Draft, entry: ValueInfo, sizes: str) -> str:
    """The name of an input with axes of these sizes in front."""
    shape, each = (draft.name(wish) for wish in ("sizes", f"{entry.name}_each"))
    if ones := [1] * len(entry.shape or ()):
        kept = draft.constant("ones", ones)
        draft.nodes.append(draft.node("Concat", [sizes, kept], [shape], axis=0))
    draft.nodes.append(draft.node("Expand", [entry.name, shape if ones else sizes], [each]))
    return each
