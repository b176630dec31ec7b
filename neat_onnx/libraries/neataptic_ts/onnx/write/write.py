"""Write: a Network to the document of NeatapticTS. The way in to this package."""

from neat_onnx.libraries.neataptic_ts.onnx.write.choices import as_chosen
from neat_onnx.libraries.neataptic_ts.onnx.write.convolution import (
    describe_conv,
    describe_guesses,
    describe_sharing,
    write_conv,
)
from neat_onnx.libraries.neataptic_ts.onnx.write.dense import write_dense, write_mixed
from neat_onnx.libraries.neataptic_ts.onnx.write.document import NeatapticModel
from neat_onnx.libraries.neataptic_ts.onnx.write.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.write.fused import describe_groups, write_fused
from neat_onnx.libraries.neataptic_ts.onnx.write.layers import Layer, layers_of
from neat_onnx.libraries.neataptic_ts.onnx.write.losses import losses, refuse_or_warn
from neat_onnx.libraries.neataptic_ts.onnx.write.metadata import Metadata
from neat_onnx.libraries.neataptic_ts.onnx.write.plan import Form, plan
from neat_onnx.libraries.neataptic_ts.onnx.write.pooling import write_pool
from neat_onnx.libraries.neataptic_ts.onnx.write.recurrent import previous, write_recurrent
from neat_onnx.model import Model, OperatorSet
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_IR_VERSION = 9


def write_network(net: Network, options: ExportOptions) -> Model:
    """The document of `net` in the neataptic dialect.

    Raises:
        NetworkError: the network is not layered, or something in it would be lost.
        OptionError: an option forbids what the network is, or means nothing in this dialect.
    """
    options = as_chosen(options)
    layers = layers_of(net)
    forms = plan(net, layers, options)
    refuse_or_warn(losses(net, forms), options.lossy)
    draft = Draft(options, Metadata(present=options.include_metadata))
    draft.inputs.append(draft.port("input", len(net.input_neurons)))
    draft.outputs.append(draft.port("output", len(net.output_neurons)))
    for form in forms:
        if form.keeps_state:
            draft.inputs.append(draft.port(previous(form.layer.index), form.layer.size))
    for form in forms:
        _write_layer(draft, form)
    if options.allow_recurrent:
        write_fused(draft, layers)
    _describe(draft, forms, layers)
    return _model(draft)


def _write_layer(draft: Draft, form: Form) -> None:
    if form.conv is not None:
        write_conv(draft, form, form.conv)
    elif form.is_recurrent:
        write_recurrent(draft, form)
    elif form.is_mixed:
        write_mixed(draft, form)
    else:
        write_dense(draft, form)
    if form.pool is not None:
        write_pool(draft, form.layer.index, form.pool)
    if form.conv is not None:
        describe_conv(draft, form, form.conv)


def _describe(draft: Draft, forms: list[Form], layers: list[Layer]) -> None:
    """What the metadata says of the whole network."""
    options, metadata = draft.options, draft.metadata
    if options.include_metadata:
        metadata.add("layer_sizes", [layer.size for layer in layers[:-1]])
        recurrent = [form.layer.index for form in forms if form.keeps_state]
        if recurrent:
            metadata.add("recurrent_single_step", recurrent)
        if options.validate_conv_sharing:
            describe_sharing(draft, layers)
        describe_guesses(draft, layers)
    if options.allow_recurrent:
        describe_groups(draft, layers)


def _model(draft: Draft) -> Model:
    options, header = draft.options, {}
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
