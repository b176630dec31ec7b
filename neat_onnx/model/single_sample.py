"""A model of a single sample: no axis of its inputs and outputs is a batch.

The metadata says so under a key where an axis could be taken for one.
"""

from collections.abc import Sequence

from neat_onnx.model.model import Model
from neat_onnx.model.states import INITIAL_KEY, STATE_KEY
from neat_onnx.model.value import ValueInfo, is_fixed

BATCH_AXIS, NONE = "neat_onnx.batch_axis", "none"
KEYS_OF_PORTS = STATE_KEY, INITIAL_KEY, BATCH_AXIS
"""The keys of metadata without which inputs and outputs cannot be read."""


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
