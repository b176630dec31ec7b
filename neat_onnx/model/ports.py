"""Inputs and outputs of a model as a caller wants them.

Inputs that carry data, neither weights nor tensors without elements; tensors inside the graph as
outputs; the memory and the sizes that a user gives; and, under a key of the metadata, that no axis
is a batch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from neat_onnx.arguments import is_whole, shown
from neat_onnx.errors import OptionError
from neat_onnx.model.data_type import MAX_COUNT
from neat_onnx.model.draft import with_graph
from neat_onnx.model.inference import TensorFacts, inferred_facts
from neat_onnx.model.model import Model
from neat_onnx.model.states import INITIAL_KEY, STATE_KEY, alike, stated_pairs, with_stated_pairs
from neat_onnx.model.value import Extent, ValueInfo, is_fixed
from neat_onnx.model.wiring import reads

WEIGHTS_APART = 4
"""The IR version since which an initializer need not be an input."""


def with_data_inputs(model: Model) -> Model:
    """The model without inputs that are weights, and without empty ones that nothing reads.

    Before IR 4 every initializer had to be an input as well. Later on it is an input's default: a
    weight all the same, unless the input's shape is open. Inputs without elements are declared for
    the memory of a policy that has none.
    """
    tensors, old = model.graph.tensors, (model.ir_version or WEIGHTS_APART) < WEIGHTS_APART
    kept = [
        entry
        for entry in model.graph.inputs
        if entry.name not in tensors or not (old or is_fixed(entry.shape))
    ]
    empty = {entry.name for entry in kept if 0 in (entry.shape or ())}
    if empty:
        empty -= {name for node in model.graph.node for name in reads(node)}
        empty -= {entry.name for entry in model.graph.outputs}
    kept = [entry for entry in kept if entry.name not in empty]
    return model if len(kept) == len(model.graph.inputs) else with_graph(model, inputs=kept)


def with_inner_outputs(model: Model, names: Sequence[str], *, inputs: bool = False) -> Model:
    """The model whose tensors of these names are outputs too; other names are passed over.

    Their types are the ones that onnx infers; where it cannot, that of the graph's numbers.

    Args:
        model: the model.
        names: outputs of nodes.
        inputs: names of graph inputs count as well.
    """
    graph = model.graph
    if isinstance(names, str) or not names:
        return model
    made = {name for node in graph.node for name in node.output if name}
    made |= {entry.name for entry in graph.inputs if inputs}
    made -= {entry.name for entry in graph.outputs}
    fresh = [name for name in dict.fromkeys(names) if name in made]
    if not fresh:
        return model
    facts, unknown = inferred_facts(model), TensorFacts(None, None)
    types = [facts.get(name, unknown).elem_type or graph.number_type for name in fresh]
    outputs = [ValueInfo.of(name, kind) for name, kind in zip(fresh, types, strict=True)]
    return with_graph(model, outputs=[*graph.outputs, *outputs])


def with_memory(model: Model, memory: Mapping[str, str] | None) -> Model:
    """The model with these pairs in its metadata, and no others; itself if none are given.

    Args:
        model: the model.
        memory: by the name of an input, the output that feeds it.

    Raises:
        OptionError: there is no such input or output, or the two have other types or shapes; or one
            output feeds several inputs.
    """
    if memory is None or memory == stated_pairs(model):
        return model
    for previous, following in memory.items():
        before = _port("input", model.graph.inputs, previous, "memory")
        after = _port("output", model.graph.outputs, following, "memory")
        if not alike(before, after):
            sizes, others = (
                "of any shape" if each.shape is None else str([*each.shape])
                for each in (after, before)
            )
            text = f"the output '{following}' is {sizes}, and the input '{previous}' {others}"
            raise OptionError(text, where=f"memory.{previous}")
    if len({*memory.values()}) < len(memory):
        raise OptionError("one output feeds two inputs", where="memory")
    return with_stated_pairs(model, memory)


def _port(what: str, entries: Sequence[ValueInfo], name: Any, where: str) -> ValueInfo:
    """The input or output of a name.

    Raises:
        OptionError: there is none.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    hint = f"Its {what}s are {', '.join(sorted(entry.name for entry in entries))}"
    raise OptionError(f"the model has no {what} {shown(name)}", where=where, hint=hint)


def with_input_shapes(model: Model, shapes: Mapping[str, Sequence[Extent]]) -> Model:
    """The model with these shapes of inputs, itself if there are none.

    Axes of one name have one size everywhere.

    Args:
        model: the model.
        shapes: by the name of an input, a size for each axis, or a name or None where it stays
            without one.

    Raises:
        OptionError: there is no such input, or it has other axes or sizes; says which.
    """
    sizes: dict[Extent, Extent] = {}
    for name, shape in shapes.items():
        stated = _port("input", model.graph.inputs, name, "shapes").shape
        _check_shape(name, stated, shape)
        for own, size in zip(stated or (), shape, strict=False):
            named = isinstance(own, str) and isinstance(size, int)
            if named and sizes.setdefault(own, size) != size:
                text = f"the axis '{own}' has the sizes {sizes[own]} and {size}"
                raise OptionError(text, where=f"shapes.{name}")

    def sized(entry: ValueInfo, given: Mapping[str, Sequence[Extent]]) -> ValueInfo:
        shape = given.get(entry.name, entry.shape)
        if shape is None:
            return entry
        return ValueInfo.of(entry.name, entry.elem_type, [sizes.get(size, size) for size in shape])

    if not shapes:
        return model
    return with_graph(
        model,
        inputs=[sized(entry, shapes) for entry in model.graph.inputs],
        outputs=[sized(entry, {}) for entry in model.graph.outputs],
    )


def _check_shape(name: str, stated: Sequence[Extent] | None, shape: Any) -> None:
    """Refuse a shape that the input may not have."""
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise OptionError(f"expected a list of sizes, got {shown(shape)}", where=f"shapes.{name}")
    for axis, size in enumerate(shape):
        named = size is None or isinstance(size, str)
        if not (named or (is_whole(size) and 0 < size <= MAX_COUNT)):
            text = f"expected a size of 1 to {MAX_COUNT}, a name or None, got {shown(size)}"
            raise OptionError(text, where=f"shapes.{name}[{axis}]")
    if stated is None:
        return
    other = [own for own, size in zip(stated, shape, strict=False) if own not in (size, None)]
    if len(stated) != len(shape) or any(isinstance(own, int) for own in other):
        raise OptionError(
            f"the input '{name}' is {list(stated)}, not {list(shape)}",
            where=f"shapes.{name}",
            hint="Give each axis of no fixed size one, and leave the others as they are",
        )


BATCH_AXIS, NONE = "neat_onnx.batch_axis", "none"
KEYS_OF_PORTS = STATE_KEY, INITIAL_KEY, BATCH_AXIS
"""The keys of metadata without which inputs and outputs cannot be read."""


def is_export(model: Model) -> bool:
    """Whether an export wrote the model: it has metadata of ours, and not of its ports alone."""
    return any(key.startswith("neat_onnx.") and key not in KEYS_OF_PORTS for key in model.metadata)


def takes_single_sample(model: Model) -> bool:
    """Whether the metadata says that a model has no batch, and each axis has a fixed size."""
    single = model.metadata.get(BATCH_AXIS) == NONE
    return single and all(is_fixed(entry.shape or ()) for entry in model.graph.inputs)


def single_rows(inputs: Sequence[ValueInfo]) -> set[str]:
    """The names of inputs that state a single row beside others of no fixed size."""
    fixed = {entry.name: entry.shape for entry in inputs if is_fixed(entry.shape)}
    if len(fixed) == len(inputs):
        return set()
    return {name for name, sizes in fixed.items() if sizes and len(sizes) > 1 and sizes[0] == 1}
