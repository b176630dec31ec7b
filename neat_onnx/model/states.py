"""The memory of a model: which output feeds which input, and the values before the first step.

The metadata says so under two keys; without it, `hidden_next…` feeds `hidden_prev…` of the same
ending, other tools' names pair too (`recurrent_in` and `recurrent_out`, `h_0` and `h_n`), and every
state starts at zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from neat_onnx.errors import DocumentError, ModelError
from neat_onnx.files import parse_json
from neat_onnx.model.graph import MetadataEntry
from neat_onnx.model.node import Node
from neat_onnx.model.value import ValueInfo

if TYPE_CHECKING:
    from neat_onnx.model.model import Model

PREVIOUS, NEXT = "hidden_prev", "hidden_next"
_NAMES = (
    *((f"{name}_in", f"{name}_out") for name in ("recurrent", "state", "hidden", "cell", "memory")),
    *((f"{name}_in", f"{name}_out") for name in "hc"),
    *((f"{name}_0", f"{name}_n") for name in "hc"),
    *((f"{name}0", f"{name}n") for name in "hc"),
)
"""What other tools call a state before a step, and after it."""
STATE_KEY, INITIAL_KEY = "neat_onnx.state", "neat_onnx.initial_state"
STATE_IN_WORDS = "neat_onnx.memory"  # for people: nothing is read of it


class State(NamedTuple):
    """A part of a model's memory.

    Attributes:
        input, output: the output of each step feeds this input in the next one.
        shape: of both; axes without a fixed size by their names, as "N", or None.
        initial: the input's value before the first step, with one element in each such axis.
    """

    input: str
    output: str
    shape: tuple[int | str | None, ...]
    initial: npt.NDArray[Any]


def states(model: Model) -> tuple[State, ...]:
    """See `Model.states`."""
    pairs, starts = state_pairs(model), initial_states(model)
    found = []
    for entry in model.graph.inputs:
        if entry.name in pairs:
            shape = tuple(entry.shape or ())
            sizes = [size if isinstance(size, int) else 1 for size in shape]
            start = np.reshape(starts.get(entry.name, np.zeros(sizes)), sizes)
            values = start.astype(entry.elem_type.dtype)
            found.append(State(entry.name, pairs[entry.name], shape, values))
    return tuple(found)


def pairs_in_words(pairs: Mapping[str, str], *, begins: bool) -> str:
    """The loop that carries the memory, for whoever finds the file and has no documentation.

    Args:
        pairs: the output that feeds each state input.
        begins: whether the metadata says how some of them begin.
    """
    feeds = ", ".join(f"{following} feeds {previous}" for previous, following in pairs.items())
    return feeds + (f", first as {INITIAL_KEY} says" if begins else "")


def state_pairs(model: Model) -> dict[str, str]:
    """The output that feeds each state input: as the metadata says, else by their names.

    Raises:
        ModelError: the metadata names an input or an output that the graph does not have.
    """
    inputs = [entry.name for entry in model.graph.inputs]
    outputs = [entry.name for entry in model.graph.outputs]
    pairs = stated_pairs(model)
    if pairs is None:
        named = {name: name.replace(PREVIOUS, NEXT) for name in inputs if PREVIOUS in name}
        own = {name: other for name, other in named.items() if other in outputs}
        return own | guessed_pairs(model)
    for previous, following in pairs.items():
        if previous not in inputs or following not in outputs:
            raise ModelError(
                f"the metadata says that '{following}' feeds '{previous}', which the graph lacks",
                where=STATE_KEY,
                hint="Say which output feeds which input; memory={'h_in': 'h_out'} does, or "
                "--memory h_in=h_out",
            )
    return pairs


def with_stated_pairs(model: Model, pairs: Mapping[str, str]) -> Model:
    """The model with these pairs in its metadata, in place of others."""
    stated = MetadataEntry(key=STATE_KEY, value=json.dumps([*pairs.items()]))
    kept = [entry for entry in model.metadata_props if entry.key != STATE_KEY]
    return model.model_copy(update={"metadata_props": [*kept, stated]})


def stated_pairs(model: Model) -> dict[str, str] | None:
    """The output that feeds each state input as the metadata says, whether or not the graph has
    them; None if it says nothing.

    Raises:
        ModelError: the metadata is not as it should be.
    """
    text = model.metadata.get(STATE_KEY)
    return None if text is None else dict(_parsed(STATE_KEY, text, list[tuple[str, str]]))


def is_own_pair(previous: str, following: str) -> bool:
    """Whether these are names of this package for an input and the output that feeds it."""
    return PREVIOUS in previous and following == previous.replace(PREVIOUS, NEXT)


def are_paired_by_name(previous: ValueInfo, following: ValueInfo) -> bool:
    """Whether an input and an output of these names are taken for a state without any metadata."""
    if is_own_pair(previous.name, following.name):
        return True
    return following.name in _names_alike(previous.name) and alike(previous, following)


def _names_alike(previous: str) -> list[str]:
    """The names that other tools give to the output that feeds an input of this name."""
    names = (_word(one).sub(other, previous) for one, other in _NAMES)
    return [name for name in names if name != previous]


def guessed_pairs(model: Model) -> dict[str, str]:
    """The output that feeds each state input, by names that other tools give, and one shape.

    An output that is the input itself, as Godot RL Agents writes it where nothing is remembered, is
    no state; nor are all outputs.
    """
    if STATE_KEY in model.metadata:
        return {}
    made = {name: node for node in model.graph.node for name in node.output}
    outputs = {entry.name: entry for entry in model.graph.outputs}
    found: dict[str, str] = {}
    for entry in model.graph.inputs:
        for name in _names_alike(entry.name):
            if name not in outputs or not alike(entry, outputs[name]):
                continue
            if _handed_on(made, name) != entry.name:
                found[entry.name] = name
    fed = set(found.values())
    return found if len(fed) == len(found) and fed != outputs.keys() else {}


@cache
def _word(text: str) -> re.Pattern[str]:
    """A pattern of this text where no letter is before it: "c_in" is no part of "vec_in"."""
    return re.compile(f"(?<![A-Za-z]){re.escape(text)}")


def _handed_on(made: Mapping[str, Node], name: str) -> str:
    """The tensor that a tensor is, whatever Identities there are between the two."""
    while name in made and made[name].op_type == "Identity":
        name = made[name].input[0]
    return name


def alike(one: ValueInfo, other: ValueInfo) -> bool:
    """Whether two values may be of one type and shape."""
    if one.shape is None or other.shape is None:
        return one.elem_type == other.elem_type
    fixed = [
        (a, b) for a, b in zip(one.shape, other.shape, strict=False) if {type(a), type(b)} == {int}
    ]
    same = len(one.shape) == len(other.shape) and all(a == b for a, b in fixed)
    return same and one.elem_type == other.elem_type


def initial_states(model: Model) -> dict[str, list[float]]:
    """The values of state inputs before the first step, where they are not zero."""
    text = model.metadata.get(INITIAL_KEY, "{}")
    found: dict[str, list[float]] = _parsed(INITIAL_KEY, text, dict[str, list[FiniteFloat]])
    return found


@cache  # making one takes longer than reading by it
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _parsed(key: str, text: str, kind: Any) -> Any:
    try:
        return _adapter(kind).validate_python(parse_json(text))
    except (DocumentError, ValidationError):
        raise ModelError(f"the metadata {key} is not what it should be", where=key) from None
