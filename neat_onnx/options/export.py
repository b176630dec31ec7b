"""The options of an export, as one document."""

from typing import Any, Literal

from pydantic import Field, field_validator

from neat_onnx.errors import OptionError
from neat_onnx.network.port import names_time
from neat_onnx.options.mappings import Conv2DMapping, OptionDocument, Pool2DMapping, camel
from neat_onnx.parsing import parse
from neat_onnx.schema_links import LINK_KEY

_LISTED = "docs/options.md and `neat-onnx export --help` list the options"
TIME = "T"
"""What the time axis of a sequence is called."""


class ExportOptions(OptionDocument):
    """How a network becomes ONNX. The defaults work for every network that is supported.

    In JSON the camelCase names of NeatapticTS are read as well as these.
    """

    opset: int = Field(
        18, ge=13, le=28, description="The opset version to write; onnxruntime loads up to 26."
    )
    dtype: Literal["float32", "float64"] = Field(
        "float32",
        description="The type of the numbers. Left out, it is float64 for a network that was "
        "imported from a model of float64, unless it is quantized, or has convolutions or pools, "
        "which runtimes know in float32 alone.",
    )
    dialect: Literal["standard", "neataptic"] = Field(
        "standard",
        description="Which JSON ONNX to write: standard is valid ONNX; neataptic is what "
        "NeatapticTS writes and reads, to the letter, which no runtime loads, with other defaults "
        "and fewer options (docs/neataptic-onnx.md lists them).",
    )
    preset: Literal["none", "ml-agents", "sentis", "godot-rl", "onnxruntime-web"] = Field(
        "none",
        description="The engine that will load the file: its names of inputs and outputs, the "
        "constants that it looks for, and an opset and types that it reads (docs/options.md).",
    )
    rename: dict[str, str] = Field(
        {},
        description='Other names for inputs and outputs, as {"input": "obs"}; also for those of '
        "the memory.",
    )
    profile: Literal["onnx", "sonnx"] = Field(
        "onnx",
        description="What the graph satisfies: onnx is valid ONNX; sonnx is also checked against "
        "the graph-semantics profile, and its nodes write all of their attributes.",
    )
    lossy: bool = Field(
        False,
        description="Write a network although this file cannot hold all of it; a warning says what "
        "is lost. Otherwise it is refused.",
    )
    mixed_activations: Literal["grouped", "per_neuron"] = Field(
        "grouped",
        description="A level with several activations: one Gemm split by activation, or a Gemm and "
        "an activation for each neuron, as NeatapticTS writes it.",
    )
    fold: bool = Field(
        False, description="Merge responses and slopes into the weights: smaller, last bits gone."
    )
    quantize: Literal["none", "weights"] = Field(
        "none",
        description="Write weights in int8, which computes something else. A quarter of the size "
        "for layers of thousands of weights; a network of a few hundred connections becomes "
        "larger, because each matrix needs scales and nodes of its own. For float32.",
    )
    batch_dimension: bool | str | None = Field(
        "N",
        description="The name of the batch dimension. true: N; false: a batch of one; null (none "
        "on the command line): no batch, for a single sample. Not a name of time: T, seq, length.",
    )
    encoding: Literal["numbers", "raw"] = Field(
        "numbers",
        description="How JSON holds tensors: lists of numbers, each bit kept; or base64, which "
        "rounds float32 tensors to float32.",
    )
    include_metadata: bool = Field(
        True, description="Write what ONNX cannot hold: ids, names, disabled genes."
    )
    embed_network: bool = Field(
        False,
        description="Write the whole network into the metadata, so that every bit of its float64 "
        "weights comes back even from a float32 file.",
    )
    producer_name: str = Field("neat_onnx", description="The producer that the file names.")
    producer_version: str | None = Field(None, description="Its version; null is this package's.")
    doc_string: str = Field("", description="The model's documentation.")
    allow_partial_connectivity: bool = Field(
        True, description="If false, refuse networks whose layers are not fully connected."
    )
    allow_mixed_activations: bool = Field(
        True, description="If false, refuse levels with several activations."
    )
    allow_recurrent: bool = Field(True, description="If false, refuse networks with memory.")
    recurrent_single_step: bool = Field(
        True, description="If false, refuse to write memory as inputs and outputs of a single step."
    )
    sequence: bool = Field(
        False,
        description="Write one Scan over [T, N, …], the memory inside, instead of a single step. "
        "Left out, it is true for a network that was imported from a model of whole sequences, "
        "with time and the batch where that had them, unless it is quantized.",
    )
    state: Literal["separate", "joined"] = Field(
        "separate",
        description="The memory of a single step: separate is an input and an output for each "
        "level and delay, or those of the model that the network was imported from; joined is one "
        "`hidden_prev` [N, k] and one `hidden_next`, in the order of `Network.initial_state`.",
    )
    fused_recurrent: bool = Field(
        True,
        description="In a sequence of float32, write layers that are an RNN, a GRU or an LSTM as "
        "that operator, if they hold all of the memory and have the activations that the operator "
        "has by default; then there is no Scan.",
    )

    conv2d_mappings: list[Conv2DMapping] = Field(
        [], description="Layers to write as Conv, if their weights are shared."
    )
    pool2d_mappings: list[Pool2DMapping] = Field(
        [], description="Layers to write as MaxPool or AveragePool."
    )
    flatten_after_pooling: bool = Field(
        False, description="Write a Flatten after every pool, also where a spatial layer follows."
    )
    validate_conv_sharing: bool = Field(
        False,
        description="The neataptic dialect: write which mapped layers share their weights. "
        "Standard files always say so.",
    )
    infer_conv: bool = Field(
        False, description="Look for convolutions in the weights, and write those found as Conv."
    )
    legacy_node_ordering: bool = Field(
        False, description="The neataptic dialect: activations before the Gemms that they read."
    )

    @field_validator("batch_dimension", "producer_name", "producer_version", "doc_string")
    @classmethod
    def _is_unicode(cls, value: bool | str | None) -> bool | str | None:
        if isinstance(value, str) and value.encode(errors="ignore").decode() != value:
            raise ValueError("is not UTF-8 text")  # as arguments of other bytes are
        return value

    @field_validator("batch_dimension")
    @classmethod
    def _is_a_name(cls, value: bool | str | None) -> bool | str | None:
        if value == "":
            raise ValueError("should be a name, as 'N' is")
        if isinstance(value, str) and names_time(value):
            raise ValueError(f"should be a name as 'N' is, and not '{value}', which says time")
        return value

    @property
    def batch(self) -> str | int:
        """The batch dimension as a dim_param, or 1, of which there may be none at the ports."""
        if not self.batch_dimension:
            return 1
        return "N" if self.batch_dimension is True else self.batch_dimension


def export_options(document: Any = None, **options: Any) -> ExportOptions:
    """Options from a document, from keywords, or both, keywords winning.

    Raises:
        OptionError: one that is unknown, or has a wrong value.
    """
    stated = ExportOptions() if document is None else options_in(document)
    if not options:
        return stated
    asked = _parsed(options)
    return stated.model_copy(update={name: getattr(asked, name) for name in asked.model_fields_set})


def options_in(document: Any) -> ExportOptions:
    """Options from a document alone, such as the content of a JSON file.

    Raises:
        OptionError: it is no object; or one that is unknown, or has a wrong value.
    """
    if isinstance(document, ExportOptions):
        return document
    if not isinstance(document, dict):
        raise OptionError(
            "options should be an object of names and values", hint='As in {"dtype": "float64"}'
        )
    return _parsed(document)


def _parsed(given: dict[str, Any]) -> ExportOptions:
    """Options from names and values, in either spelling.

    Raises:
        OptionError: one that is unknown, given in both spellings, or has a wrong value.
    """
    names = {camel(name): name for name in ExportOptions.model_fields}
    for key in given:
        if key not in (*names, *names.values(), LINK_KEY):
            raise OptionError(f"{key} is not a known option", where=str(key), hint=_LISTED)
        if key != names.get(key, key) and names[key] in given:
            text = f"{names[key]} is given twice, also as {key}"
            raise OptionError(text, where=key, hint="Leave one of them out")
    return parse(ExportOptions, given, OptionError)
