"""Repairs: what NeatapticTS writes as ONNX, made valid. Each repair is a warning in words.

Its documents list consumers before producers, name an output that no node produces, have inputs
without a batch axis, leave open what feeds a recurrent layer's `hidden_prev`, and are flat where a
convolution wants channels and space. A document that has none of this comes back as it is.

    _OWN        repairs of its documents only, which go by the output that no node produces
    _GENERAL    repairs of whatever could not be valid without them
"""

from collections.abc import Callable

from neat_onnx.libraries.neataptic_ts.onnx.repair.batch import with_batch
from neat_onnx.libraries.neataptic_ts.onnx.repair.losses import tell_losses
from neat_onnx.libraries.neataptic_ts.onnx.repair.metadata import with_json_metadata
from neat_onnx.libraries.neataptic_ts.onnx.repair.order import in_order
from neat_onnx.libraries.neataptic_ts.onnx.repair.outputs import unproduced, with_outputs
from neat_onnx.libraries.neataptic_ts.onnx.repair.space import with_space
from neat_onnx.libraries.neataptic_ts.onnx.repair.states import with_states
from neat_onnx.model import Model

Repair = Callable[[Model], Model]

_OWN: tuple[Repair, ...] = (
    with_json_metadata,
    tell_losses,
    with_outputs,
    with_batch,
    with_states,
)
_GENERAL: tuple[Repair, ...] = (in_order, with_space)


def repaired(model: Model) -> Model:
    """The model with what is wrong about it repaired; the very same if nothing is.

    Raises:
        ModelError: it contradicts itself, or leaves open what it computes; says which node.
    """
    for repair in (*(_OWN if unproduced(model.graph) else ()), *_GENERAL):
        model = repair(model)
    return model
