"""Write a layered network as the document that NeatapticTS writes for it."""

from typing import Any

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neataptic_ts.onnx import metadata
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import layers_of
from neat_onnx.libraries.neataptic_ts.onnx.draft import Draft, NeatapticModel
from neat_onnx.libraries.neataptic_ts.onnx.emit import describe_groups, emit_layer, write_fused
from neat_onnx.libraries.neataptic_ts.onnx.forms import LayerForm, forms_of
from neat_onnx.libraries.neataptic_ts.onnx.kernels import describe_guesses, describe_sharing
from neat_onnx.libraries.neataptic_ts.onnx.losses import losses, refuse_or_warn
from neat_onnx.libraries.neataptic_ts.onnx.metadata import MetadataWriter
from neat_onnx.libraries.neataptic_ts.onnx.names import INPUT, OUTPUT, previous_state
from neat_onnx.model import Model, OperatorSet
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_IR_VERSION = 9


def write_network(net: Network, options: ExportOptions) -> Model:
    """Return the document of `net` in the neataptic dialect.

    Args:
        net: a layered network: each neuron reads the layer before it, and itself.
        options: of the export; those not given are as NeatapticTS has them.

    Raises:
        NetworkError: the network is not layered, or something in it would be lost.
        OptionError: an option forbids the network, or means nothing in this dialect.
    """
    options = with_defaults(options)
    forms = forms_of(net, layers_of(net), options)
    refuse_or_warn(losses(net, forms), options.lossy)
    draft = Draft(options, MetadataWriter(present=options.include_metadata))
    draft.inputs.append(draft.port(INPUT, len(net.input_neurons)))
    draft.outputs.append(draft.port(OUTPUT, len(net.output_neurons)))
    for form in forms:
        if form.keeps_state:
            draft.inputs.append(draft.port(previous_state(form.layer.index), form.layer.size))
    for form in forms:
        emit_layer(draft, form)
    if options.allow_recurrent:
        write_fused(draft, [form.layer for form in forms])
    _describe(draft, forms)
    return _model(draft)


def _describe(draft: Draft, forms: list[LayerForm]) -> None:
    """Write the metadata of the whole network."""
    options, layers = draft.options, [form.layer for form in forms]
    if options.include_metadata:
        draft.metadata.add(metadata.LAYER_SIZES, [layer.size for layer in layers[:-1]])
        recurrent = [form.layer.index for form in forms if form.keeps_state]
        if recurrent:
            draft.metadata.add(metadata.RECURRENT, recurrent)
        if options.validate_conv_sharing:
            describe_sharing(draft, layers)
        describe_guesses(draft, layers)
    if options.allow_recurrent:
        describe_groups(draft, layers)


def _model(draft: Draft) -> Model:
    options = draft.options
    header: dict[str, Any] = {}
    if options.include_metadata:
        header = {
            "ir_version": _IR_VERSION,
            "opset_import": [OperatorSet(version=options.opset)],
            "producer_name": options.producer_name,
            "producer_version": options.producer_version,
            "doc_string": options.doc_string,
        }
    if draft.metadata.present:
        header["metadata_props"] = draft.metadata.entries()
    return NeatapticModel(**header, graph=draft.graph())


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
    "functions": False,
    "embed_network": False,
    "profile": "onnx",
}
"""The one value that each of these options may be given."""
_PLAIN = {"groups": 1, "dilation_height": 1, "dilation_width": 1}
_PLAIN_POOL = {"ceil_mode": False, "count_include_pad": False}


def with_defaults(options: ExportOptions) -> ExportOptions:
    """Return the options with NeatapticTS's defaults for those that were not given.

    Raises:
        OptionError: an option was given that means nothing to NeatapticTS.
    """
    for name, only in ONLY.items():
        if name in options.model_fields_set and getattr(options, name) != only:
            raise _meaningless(name, getattr(options, name))
    if options.batch_dimension not in (True, False, "N"):
        raise _meaningless("batch_dimension", options.batch_dimension)
    _check_mappings(options)
    update = {
        name: default for name, default in DEFAULTS.items() if name not in options.model_fields_set
    }
    update |= {name: text for name, text in IF_EMPTY.items() if not getattr(options, name)}
    return options.model_copy(update=update)


def _check_mappings(options: ExportOptions) -> None:
    plain = {"conv2d_mappings": _PLAIN, "pool2d_mappings": _PLAIN | _PLAIN_POOL}
    for option, expected in plain.items():
        for position, mapping in enumerate(getattr(options, option)):
            for name, value in expected.items():
                found = getattr(mapping, name, value)
                if found != value:
                    raise _meaningless(f"{option}[{position}].{name}", found)


def _meaningless(name: str, value: Any) -> OptionError:
    return OptionError(
        f"{name} cannot be {value!r} in the neataptic dialect",
        where=name,
        hint="Leave it out, or export in the standard dialect",
    )
