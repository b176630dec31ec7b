"""Nodes and initializers of one layer: dense, neuron by neuron, recurrent, Conv, and its pool.

Fused nodes, an LSTM or a GRU, stand beside each hidden layer of a suitable size. No node reads
them, and their shapes are no valid ONNX; NeatapticTS's importer rebuilds layers from them.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.libraries.neataptic_ts.onnx import metadata, names
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.forms import LayerForm
from neat_onnx.libraries.neataptic_ts.onnx.kernels import channel_biases, kernels_of
from neat_onnx.libraries.neataptic_ts.onnx.names import (
    NodeNames,
    initializer,
    layer_output,
    previous_state,
)
from neat_onnx.libraries.neataptic_ts.onnx.shapes import attributes_of, spec_of
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

_GEMM = {"alpha": 1.0, "beta": 1.0, "transB": 1}


def emit_layer(draft: Draft, form: LayerForm) -> None:
    """Write a layer, the pool after it, and the metadata of both."""
    if form.conv is not None:
        _emit_conv(draft, form, form.conv)
    elif form.is_recurrent:
        _emit_recurrent(draft, form)
    elif form.is_mixed:
        _emit_mixed(draft, form)
    else:
        _emit_dense(draft, form)
    if form.pool is not None:
        _emit_pool(draft, form.layer.index, form.pool)
    if form.conv is not None:
        draft.metadata.append(metadata.CONV_LAYERS, form.layer.index)
        draft.metadata.append(metadata.CONV_SPECS, spec_of(form.conv))


def _emit_dense(draft: Draft, form: LayerForm) -> None:
    """Write one Gemm and one activation; in the legacy order the activation stands first."""
    k = form.layer.index
    inputs = [draft.tensor, *_parameters(draft, form.layer)]
    product = draft.node("Gemm", names.GEMM.of(k), inputs, **_GEMM)
    draft.tensor = draft.node(form.operators[0], names.ACTIVATION.of(k), [product])
    if draft.options.legacy_node_ordering:
        draft.nodes[-2:] = reversed(draft.nodes[-2:])


def _emit_mixed(draft: Draft, form: LayerForm) -> None:
    """Write a Gemm and an activation for each neuron, and their Concat."""
    layer, k, results = form.layer, form.layer.index, []
    for n, op_type in enumerate(form.operators):
        weights = draft.initializer(initializer("W", k, n), layer.weights[n : n + 1])
        bias = draft.initializer(initializer("B", k, n), layer.biases[n : n + 1])
        inputs = [draft.tensor, weights, bias]
        product = draft.node("Gemm", names.NEURON_GEMM.of(k, n), inputs, **_GEMM)
        results.append(draft.node(op_type, names.NEURON_ACTIVATION.of(k, n), [product]))
    axis = 1 if draft.options.batch_dimension else 0
    draft.tensor = draft.node("Concat", names.CONCAT.of(k), results, axis=axis)


def _emit_recurrent(draft: Draft, form: LayerForm) -> None:
    """Write two Gemms, their sum, which is the state, and its activation."""
    k = form.layer.index
    parameters = _parameters(draft, form.layer)
    matrix = draft.initializer(initializer("R", k), np.diag(form.layer.loop_weights))
    forward = draft.node("Gemm", names.GEMM_IN.of(k), [draft.tensor, *parameters], **_GEMM)
    back = draft.node("Gemm", names.GEMM_REC.of(k), [previous_state(k), matrix], **_GEMM)
    state = draft.node("Add", names.STATE_SUM.of(k), [forward, back])
    draft.tensor = draft.node(form.operators[0], names.ACTIVATION.of(k), [state])


def _emit_conv(draft: Draft, form: LayerForm, mapping: Conv2DMapping) -> None:
    """Write a Conv and its activation, straight on the flat tensor of the layer before."""
    k = form.layer.index
    weights = draft.initializer(initializer("ConvW", k), kernels_of(form.layer, mapping))
    biases = draft.initializer(initializer("ConvB", k), channel_biases(form.layer, mapping))
    inputs = [draft.tensor, weights, biases]
    result = draft.node("Conv", names.CONV.of(k), inputs, **attributes_of(mapping))
    draft.tensor = draft.node(form.operators[0], names.CONV_ACTIVATION.of(k), [result])


def _emit_pool(draft: Draft, k: int, mapping: Pool2DMapping) -> None:
    """Write the pool after layer `k`, and the Flatten that the options ask for."""
    attributes = attributes_of(mapping)
    draft.tensor = draft.node(mapping.type, names.POOL.of(k), [draft.tensor], **attributes)
    if draft.options.flatten_after_pooling:
        draft.tensor = draft.node("Flatten", names.POOL_FLATTEN.of(k), [draft.tensor], axis=1)
        draft.metadata.append(metadata.FLATTENED, k)
    draft.metadata.append(metadata.POOL_LAYERS, k)
    draft.metadata.append(metadata.POOL_SPECS, spec_of(mapping))


def _parameters(draft: Draft, layer: Layer) -> tuple[str, str]:
    """Write the weights and biases of a layer and return their names."""
    weights = draft.initializer(initializer("W", layer.index), layer.weights)
    return weights, draft.initializer(initializer("B", layer.index), layer.biases)


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
