"""The memory of a model as its user gives it: which output feeds which input in the next step."""

from collections.abc import Mapping, Sequence

from neat_onnx.arguments import shown
from neat_onnx.errors import OptionError
from neat_onnx.model import Model
from neat_onnx.model.states import alike, stated_pairs, with_stated_pairs
from neat_onnx.model.value import Extent


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
    inputs = {entry.name: entry for entry in model.graph.inputs}
    outputs = {entry.name: entry for entry in model.graph.outputs}
    for previous, following in memory.items():
        for what, name, entries in (("input", previous, inputs), ("output", following, outputs)):
            if not isinstance(name, str) or name not in entries:
                raise OptionError(
                    f"the model has no {what} {shown(name)}",
                    where="memory",
                    hint=f"Its {what}s are {', '.join(sorted(entries))}",
                )
        if not alike(inputs[previous], outputs[following]):
            raise OptionError(
                f"the output '{following}' is {_sizes(outputs[following].shape)}, and the input "
                f"'{previous}' {_sizes(inputs[previous].shape)}",
                where=f"memory.{previous}",
            )
    if len({*memory.values()}) < len(memory):
        raise OptionError("one output feeds two inputs", where="memory")
    return with_stated_pairs(model, memory)


def _sizes(sizes: Sequence[Extent] | None) -> str:
    return "of any shape" if sizes is None else str([*sizes])
