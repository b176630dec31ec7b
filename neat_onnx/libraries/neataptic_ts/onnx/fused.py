"""Fused nodes: an LSTM or a GRU beside each hidden layer of a suitable size.

No node reads them, and their shapes are no valid ONNX; NeatapticTS's importer rebuilds layers from
them.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.libraries.neataptic_ts.onnx import metadata, names
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.names import NodeNames, initializer, layer_output


@dataclass(frozen=True)
class _Kind:
    """A fused operator.

    Attributes:
        op_type: its name.
        names: of its node.
        parts: groups of neurons in a layer of this kind: the gates, then the outputs.
        cell: the part whose self-connections are the recurrent weights.
    """

    op_type: str
    names: NodeNames
    parts: int
    cell: int = 2

    def units(self, size: int) -> int:
        """Return the units of a layer of `size` neurons; 0 if it cannot be of this kind."""
        return size // self.parts if size % self.parts == 0 and size >= 2 * self.parts else 0


_LSTM, _GRU = _Kind("LSTM", names.LSTM, 5), _Kind("GRU", names.GRU, 4)
_BETWEEN = range(8, 10)  # sizes for which NeatapticTS writes a diagnostic


def write_fused(draft: Draft, layers: list[Layer]) -> None:
    """Write the fused nodes of all hidden layers."""
    last = draft.tensor  # every LSTM reads the last layer: a mistake of NeatapticTS, kept
    for layer in layers[:-1]:
        k = layer.index
        draft.metadata.present = True
        if layer.size in _BETWEEN:
            reason = {"layer": k, "reason": "size_between_gru_lstm_thresholds"}
            draft.metadata.add(metadata.FALLBACK, reason)
        for kind, reads in ((_LSTM, last), (_GRU, layer_output(k - 1))):
            if kind.units(layer.size):
                _write(draft, layer, kind, reads)


def describe_groups(draft: Draft, layers: list[Layer]) -> None:
    """Write the layers of an LSTM's size whose cells all have self-connections."""
    for layer in layers[:-1]:
        units = _LSTM.units(layer.size)
        if units and np.all(layer.loops[_LSTM.cell * units : (_LSTM.cell + 1) * units]):
            draft.metadata.append(
                metadata.LSTM_GROUPS, {"layerIndex": layer.index, "unitSize": units}
            )


def _write(draft: Draft, layer: Layer, kind: _Kind, reads: str) -> None:
    k, units, name = layer.index, kind.units(layer.size), kind.op_type
    gates = (kind.parts - 1) * units
    cell = slice(kind.cell * units, (kind.cell + 1) * units)
    recurrent = np.zeros((gates, units))
    recurrent[cell] = np.diag(layer.loop_weights[cell])
    tensors = [
        draft.initializer(initializer(f"{name}_{letter}", k), values)
        for letter, values in (
            ("W", layer.weights[:gates]),
            ("R", recurrent),
            ("B", layer.biases[:gates]),
        )
    ]
    draft.node(name, kind.names.of(k), [reads, *tensors], hidden_size=units, layout=0)
    draft.metadata.append(metadata.EMITTED[name], k)
