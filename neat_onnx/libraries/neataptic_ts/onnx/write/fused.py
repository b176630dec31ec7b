"""Fused nodes: an LSTM or a GRU beside each hidden layer whose size looks like one.

Nothing reads them, and they are no valid ONNX: NeatapticTS rebuilds its own blocks from them.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.libraries.neataptic_ts.onnx.write.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.write.layers import Layer


@dataclass(frozen=True)
class _Kind:
    """A fused operator. A layer of it has `parts` groups of neurons: its gates, and the outputs.

    Attributes:
        cell: the gate whose self-connections are its recurrent weights.
    """

    op_type: str
    parts: int
    cell: int = 2

    def units(self, size: int) -> int:
        """The units of a layer of that size; 0 if it is none of this kind."""
        return size // self.parts if size % self.parts == 0 and size >= 2 * self.parts else 0


_LSTM, _GRU = _Kind("LSTM", 5), _Kind("GRU", 4)
_BETWEEN = range(8, 10)  # of no use to anybody, but written


def write_fused(draft: Draft, layers: list[Layer]) -> None:
    """The nodes for all hidden layers."""
    last = draft.tensor  # what an LSTM reads, wherever it stands: a slip of NeatapticTS
    for layer in layers[:-1]:
        k = layer.index
        draft.metadata.present = True
        if layer.size in _BETWEEN:
            reason = {"layer": k, "reason": "size_between_gru_lstm_thresholds"}
            draft.metadata.add("rnn_pattern_fallback", reason)
        for kind, reads in ((_LSTM, last), (_GRU, "input" if k == 1 else f"Layer_{k - 1}")):
            if kind.units(layer.size):
                _write(draft, layer, kind, reads)


def describe_groups(draft: Draft, layers: list[Layer]) -> None:
    """Name the layers that look like an LSTM whose cells all have self-connections."""
    for layer in layers[:-1]:
        units = _LSTM.units(layer.size)
        if units and np.all(layer.loops[_LSTM.cell * units : (_LSTM.cell + 1) * units]):
            draft.metadata.append(
                "lstm_groups_stub", {"layerIndex": layer.index, "unitSize": units}
            )


def _write(draft: Draft, layer: Layer, kind: _Kind, reads: str) -> None:
    k, units, name = layer.index, kind.units(layer.size), kind.op_type
    gates = (kind.parts - 1) * units
    cell = slice(kind.cell * units, (kind.cell + 1) * units)
    recurrent = np.zeros((gates, units))
    recurrent[cell] = np.diag(layer.loop_weights[cell])
    tensors = [
        draft.initializer(f"{name}_W{k - 1}", layer.weights[:gates]),
        draft.initializer(f"{name}_R{k - 1}", recurrent),
        draft.initializer(f"{name}_B{k - 1}", layer.biases[:gates]),
    ]
    stem = name.lower()
    draft.node(
        name,
        [reads, *tensors],
        f"Layer_{k}_{stem}_hidden",
        f"{stem}_l{k}",
        hidden_size=units,
        layout=0,
    )
    draft.metadata.append(f"{stem}_emitted_layers", k)
