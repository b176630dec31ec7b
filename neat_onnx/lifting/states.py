"""The memory of a model that is imported: which output feeds which input."""

from neat_onnx.errors import ModelError, warn
from neat_onnx.model import Model
from neat_onnx.model.states import guessed_pairs, state_pairs
from neat_onnx.passes.sequence_states import sequence_states


def fed_states(model: Model) -> tuple[Model, dict[str, str]]:
    """Return the model with the states of recurrent layers, and the output that feeds each state.

    Warns of each one that neither metadata nor this package's own names tell.

    Raises:
        ModelError: every output feeds an input.
    """
    known, named = sequence_states(model), guessed_pairs(model)
    pairs, stated = state_pairs(known), state_pairs(model)
    for previous, following in pairs.items():
        if named.get(previous) == following:
            warn(f"by their names, '{following}' is taken to feed '{previous}' in the next step")
        elif stated.get(previous) != following:
            warn(
                f"'{following}' is taken to feed '{previous}' in the next step: it is the last "
                "state of the layers that begin with it"
            )
    if pairs and {entry.name for entry in model.graph.outputs} <= {*pairs.values()}:
        raise ModelError(
            "every output feeds an input, and none is left",
            where="graph.outputs",
            hint="Give a state as a second output too, by an Identity",
        )
    return known, pairs
