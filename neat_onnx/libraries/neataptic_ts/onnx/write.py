"""Write a layered network as the document that NeatapticTS writes for it.

Fused nodes, an LSTM or a GRU, stand beside each hidden layer of a suitable size. No node reads
them, and their shapes are no valid ONNX; NeatapticTS's importer rebuilds layers from them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import SerializerFunctionWrapHandler, model_serializer

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neataptic_ts.onnx import spec
from neat_onnx.libraries.neataptic_ts.onnx.layers import Layer, layers_of
from neat_onnx.libraries.neataptic_ts.onnx.losses import (
    channel_biases,
    guesses,
    kernels_of,
    refuse_or_warn,
    sharing,
)
from neat_onnx.libraries.neataptic_ts.onnx.spec import INPUT, OUTPUT, NodeNames, initializer
from neat_onnx.model import Graph, MetadataEntry, Model, Node, OperatorSet, Tensor, ValueInfo
from neat_onnx.model.draft import make_node
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions
from neat_onnx.options.mappings import Conv2DMapping


class NeatapticModel(Model):
    """A model whose JSON holds every field that was given, empty ones too."""

    @model_serializer(mode="wrap")
    def _only_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document = {
            key: value for key, value in handler(self).items() if key in self.model_fields_set
        }
        for entry in document.get("opset_import", ()):
            entry.setdefault("domain", "")
        for node in document["graph"]["node"]:
            if node["op_type"] in ("Conv", "MaxPool", "AveragePool"):
                node["attributes"].sort(key=lambda entry: spec.ATTRIBUTES.index(entry["name"]))
        return document


@dataclass
class Draft:
    """The document so far.

    Attributes:
        metadata: keys and values, in the order in which NeatapticTS meets each key.
        tensor: the output of the last layer, which the next one reads.
    """

    options: ExportOptions
    metadata: list[tuple[str, Any]] = field(default_factory=list)
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    initializers: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    tensor: str = INPUT

    def port(self, name: str, size: int) -> ValueInfo:
        """Return an input or output of `size` neurons, batched as the options say."""
        return ValueInfo.of(name, shape=["N", size] if self.options.batch_dimension else [size])

    def note(self, key: str, item: Any) -> None:
        """Append `item` to the array under `key` of the metadata, beginning it where none is."""
        array = next((value for known, value in self.metadata if known == key), None)
        if array is None:
            self.metadata.append((key, array := []))
        array.append(item)

    def initializer(self, name: str, values: npt.ArrayLike) -> str:
        """Add a tensor and return its name."""
        self.initializers.append(Tensor.of(name, values))
        return name

    def node(self, op_type: str, names: NodeNames, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        made = make_node(op_type, inputs, [names.output], attributes, name=names.node)
        self.nodes.append(made)
        return names.output


_GEMM = {"alpha": 1.0, "beta": 1.0, "transB": 1}


def _emit_layer(draft: Draft, layer: Layer) -> None:
    """Write a layer, the pool after it, and the metadata of both."""
    k, conv, pool = layer.index, layer.conv, layer.pool
    if conv is not None:
        _emit_conv(draft, layer, conv)
    elif layer.is_recurrent:
        _emit_recurrent(draft, layer)
    elif layer.is_mixed:
        _emit_mixed(draft, layer)
    else:
        inputs = [draft.tensor, *_parameters(draft, layer)]
        product = draft.node("Gemm", spec.GEMM.of(k), inputs, **_GEMM)
        draft.tensor = draft.node(layer.operators[0], spec.ACTIVATION.of(k), [product])
        if draft.options.legacy_node_ordering:
            draft.nodes[-2:] = reversed(draft.nodes[-2:])
    if pool is not None:
        attributes = spec.attributes_of(pool)
        draft.tensor = draft.node(pool.type, spec.POOL.of(k), [draft.tensor], **attributes)
        if draft.options.flatten_after_pooling:
            draft.tensor = draft.node("Flatten", spec.POOL_FLATTEN.of(k), [draft.tensor], axis=1)
            draft.note(spec.FLATTENED, k)
        draft.note(spec.POOL_LAYERS, k)
        draft.note(spec.POOL_SPECS, spec.spec_of(pool))
    if conv is not None:
        draft.note(spec.CONV_LAYERS, k)
        draft.note(spec.CONV_SPECS, spec.spec_of(conv))


def _emit_mixed(draft: Draft, layer: Layer) -> None:
    """Write a Gemm and an activation for each neuron, and their Concat."""
    k, results = layer.index, []
    for n, op_type in enumerate(layer.operators):
        weights = draft.initializer(initializer("W", k, n), layer.weights[n : n + 1])
        bias = draft.initializer(initializer("B", k, n), layer.biases[n : n + 1])
        inputs = [draft.tensor, weights, bias]
        product = draft.node("Gemm", spec.NEURON_GEMM.of(k, n), inputs, **_GEMM)
        results.append(draft.node(op_type, spec.NEURON_ACTIVATION.of(k, n), [product]))
    axis = 1 if draft.options.batch_dimension else 0
    draft.tensor = draft.node("Concat", spec.CONCAT.of(k), results, axis=axis)


def _emit_recurrent(draft: Draft, layer: Layer) -> None:
    """Write two Gemms, their sum, which is the state, and its activation."""
    k = layer.index
    parameters = _parameters(draft, layer)
    matrix = draft.initializer(initializer("R", k), np.diag(layer.loop_weights))
    forward = draft.node("Gemm", spec.GEMM_IN.of(k), [draft.tensor, *parameters], **_GEMM)
    back = draft.node("Gemm", spec.GEMM_REC.of(k), [spec.previous_state(k), matrix], **_GEMM)
    state = draft.node("Add", spec.STATE_SUM.of(k), [forward, back])
    draft.tensor = draft.node(layer.operators[0], spec.ACTIVATION.of(k), [state])


def _emit_conv(draft: Draft, layer: Layer, mapping: Conv2DMapping) -> None:
    """Write a Conv and its activation, straight on the flat tensor of the layer before."""
    k = layer.index
    weights = draft.initializer(initializer("ConvW", k), kernels_of(layer, mapping))
    biases = draft.initializer(initializer("ConvB", k), channel_biases(layer, mapping))
    inputs = [draft.tensor, weights, biases]
    result = draft.node("Conv", spec.CONV.of(k), inputs, **spec.attributes_of(mapping))
    draft.tensor = draft.node(layer.operators[0], spec.CONV_ACTIVATION.of(k), [result])


def _parameters(draft: Draft, layer: Layer) -> tuple[str, str]:
    """Write the weights and biases of a layer and return their names."""
    weights = draft.initializer(initializer("W", layer.index), layer.weights)
    return weights, draft.initializer(initializer("B", layer.index), layer.biases)


@dataclass(frozen=True)
class _Kind:
    """A fused operator, whose layer has `parts` groups of neurons: the gates, then the outputs.

    Self-connections of the group `cell` are the recurrent weights.
    """

    op_type: str
    names: NodeNames
    parts: int
    cell: int = 2

    def units(self, size: int) -> int:
        """Return the units of a layer of `size` neurons; 0 if it cannot be of this kind."""
        return size // self.parts if size % self.parts == 0 and size >= 2 * self.parts else 0


_LSTM, _GRU = _Kind("LSTM", spec.LSTM, 5), _Kind("GRU", spec.GRU, 4)
_BETWEEN = range(8, 10)  # sizes for which NeatapticTS writes a diagnostic


def _write_fused(draft: Draft, layers: list[Layer]) -> None:
    """Write the fused nodes of all hidden layers."""
    last = draft.tensor  # every LSTM reads the last layer: a mistake of NeatapticTS, kept
    for layer in layers[:-1]:
        k = layer.index
        if layer.size in _BETWEEN:
            reason = {"layer": k, "reason": "size_between_gru_lstm_thresholds"}
            draft.metadata.append((spec.FALLBACK, reason))
        for kind, reads in ((_LSTM, last), (_GRU, spec.layer_output(k - 1))):
            if kind.units(layer.size):
                _write_cells(draft, layer, kind, reads)


def _write_cells(draft: Draft, layer: Layer, kind: _Kind, reads: str) -> None:
    k, units, name = layer.index, kind.units(layer.size), kind.op_type
    gates = (kind.parts - 1) * units
    cell = slice(kind.cell * units, (kind.cell + 1) * units)
    recurrent = np.zeros((gates, units))
    recurrent[cell] = np.diag(layer.loop_weights[cell])
    parts = (("W", layer.weights[:gates]), ("R", recurrent), ("B", layer.biases[:gates]))
    tensors = [
        draft.initializer(initializer(f"{name}_{letter}", k), values) for letter, values in parts
    ]
    draft.node(name, kind.names.of(k), [reads, *tensors], hidden_size=units, layout=0)
    draft.note(spec.EMITTED[name], k)


def write_network(net: Network, options: ExportOptions) -> Model:
    """Return the document of a network in which each neuron reads the layer before it, and itself.

    Options that are not given are as NeatapticTS has them.
    """
    options = with_defaults(options)
    layers = layers_of(net, options)
    refuse_or_warn(net, layers, options.lossy)
    draft = Draft(options)
    draft.inputs.append(draft.port(INPUT, len(net.input_neurons)))
    draft.outputs.append(draft.port(OUTPUT, len(net.output_neurons)))
    for layer in layers:
        if layer.keeps_state:
            draft.inputs.append(draft.port(spec.previous_state(layer.index), layer.size))
    for layer in layers:
        _emit_layer(draft, layer)
    if options.allow_recurrent:
        _write_fused(draft, layers)
    header: dict[str, Any] = {}
    if options.include_metadata:
        header = {
            "ir_version": 9,
            "opset_import": [OperatorSet(version=options.opset)],
            "producer_name": options.producer_name,
            "producer_version": options.producer_version,
            "doc_string": options.doc_string,
        }
        draft.metadata.append((spec.LAYER_SIZES, [layer.size for layer in layers[:-1]]))
        for layer in layers:
            if layer.keeps_state:
                draft.note(spec.RECURRENT, layer.index)
        mappings = options.conv2d_mappings
        shared = sharing(mappings, layers) if options.validate_conv_sharing else ()
        for key, item in (*shared, *guesses(mappings, layers)):
            draft.note(key, item)
    for layer in layers[:-1] if options.allow_recurrent else ():
        units = _LSTM.units(layer.size)
        if units and np.all(layer.loops[_LSTM.cell * units : (_LSTM.cell + 1) * units]):
            draft.note(spec.LSTM_GROUPS, {"layerIndex": layer.index, "unitSize": units})
    has_fused = options.allow_recurrent and len(layers) > 1
    if options.include_metadata or has_fused or draft.metadata:
        header["metadata_props"] = [
            MetadataEntry(key=k, value=json.dumps(v, separators=(",", ":"), ensure_ascii=False))
            for k, v in draft.metadata
        ]
    graph = Graph(
        inputs=draft.inputs, outputs=draft.outputs, initializer=draft.initializers, node=draft.nodes
    )
    return NeatapticModel(**header, graph=graph)


DEFAULTS: dict[str, Any] = {
    "include_metadata": False,
    "batch_dimension": False,
    "producer_name": "neataptic-ts",
    "allow_partial_connectivity": False,
    "allow_mixed_activations": False,
    "allow_recurrent": False,
    "recurrent_single_step": False,
}
"""The value of each of these options that is not given."""
IF_EMPTY = {
    "producer_version": "0.1.14",
    "doc_string": "Exported from NeatapticTS ONNX exporter (phases 1-2 baseline)",
}
"""The same, also for those that are given as an empty text or null."""
ONLY: dict[str, Any] = {
    "dtype": "float32",
    "mixed_activations": "per_neuron",
    "encoding": "numbers",
    "fold": False,
    "sequence": False,
    "state": "separate",
    "fused_recurrent": False,
    "infer_conv": False,
    "embed_network": False,
    "profile": "onnx",
}
"""The one value that each of these options may be given."""
_PLAIN = {
    "groups": 1,
    "dilation_height": 1,
    "dilation_width": 1,
    "ceil_mode": False,
    "count_include_pad": False,
}
"""The same, of mappings."""


def with_defaults(options: ExportOptions) -> ExportOptions:
    """Return the options with NeatapticTS's defaults for those that were not given."""
    given = options.model_fields_set
    found = {name: getattr(options, name) for name in ONLY if name in given}
    wrong = [(name, value) for name, value in found.items() if value != ONLY[name]]
    if options.batch_dimension not in (True, False, "N"):
        wrong.append(("batch_dimension", options.batch_dimension))
    for option in ("conv2d_mappings", "pool2d_mappings"):
        for position, mapping in enumerate(getattr(options, option)):
            for name, plain in _PLAIN.items():
                if getattr(mapping, name, plain) != plain:
                    wrong.append((f"{option}[{position}].{name}", getattr(mapping, name)))
    for name, value in wrong:
        text = f"{name} cannot be {value!r} in the neataptic dialect"
        raise OptionError(text, where=name, hint="Leave it out, or export in the standard dialect")
    update = {name: default for name, default in DEFAULTS.items() if name not in given}
    update |= {name: text for name, text in IF_EMPTY.items() if not getattr(options, name)}
    return options.model_copy(update=update)
