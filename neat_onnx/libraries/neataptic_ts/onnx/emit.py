"""Nodes and initializers of one layer: dense, neuron by neuron, recurrent, Conv, and its pool."""

import numpy as np

from neat_onnx.libraries.neataptic_ts.onnx import metadata, names
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.forms import LayerForm
from neat_onnx.libraries.neataptic_ts.onnx.kernels import channel_biases, kernels_of
from neat_onnx.libraries.neataptic_ts.onnx.names import initializer, previous_state
from neat_onnx.libraries.neataptic_ts.onnx.windows import attributes_of, spec_of
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
