"""What a model carries from one step to the next: which output feeds which input, from what start.

The metadata says so under two keys; without it, `hidden_next…` feeds `hidden_prev…` of the same
ending, and every state starts at zero.
"""

from typing import TypeVar

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.files import parse_json
from neat_onnx.model.model import Model

Parsed = TypeVar("Parsed")

PREVIOUS, NEXT = "hidden_prev", "hidden_next"
STATE_KEY, INITIAL_KEY = "neat_onnx.state", "neat_onnx.initial_state"


def state_pairs(model: Model) -> dict[str, str]:
    """The output that feeds each state input: as the metadata says, else by their names.

    Raises:
        ModelError: the metadata names an input or an output that the graph does not have.
    """
    inputs = [entry.name for entry in model.graph.inputs]
    outputs = [entry.name for entry in model.graph.outputs]
    text = model.metadata.get(STATE_KEY)
    if text is None:
        named = {name: name.replace(PREVIOUS, NEXT) for name in inputs if PREVIOUS in name}
        return {name: other for name, other in named.items() if other in outputs}
    pairs = _parsed(STATE_KEY, text, TypeAdapter(list[tuple[str, str]]))
    for previous, following in pairs:
        if previous not in inputs or following not in outputs:
            raise ModelError(
                f"the metadata says that '{following}' feeds '{previous}', which the graph lacks",
                where=STATE_KEY,
            )
    return dict(pairs)


def initial_states(model: Model) -> dict[str, list[float]]:
    """What state inputs hold before the first step, where it is not zero."""
    text = model.metadata.get(INITIAL_KEY)
    kind = TypeAdapter(dict[str, list[FiniteFloat]])
    return {} if text is None else _parsed(INITIAL_KEY, text, kind)


def _parsed(key: str, text: str, kind: TypeAdapter[Parsed]) -> Parsed:
    try:
        return kind.validate_python(parse_json(text))
    except ValidationError:
        raise ModelError(f"the metadata {key} is not what it should be", where=key) from None
