"""The options of an export, as one document."""

from typing import Any, Literal

from pydantic import AliasGenerator, ConfigDict, Field

from neat_onnx.errors import OptionError
from neat_onnx.parsing import Document, parse

_LATER = {
    "conv2d_mappings": "convolutions",
    "pool2d_mappings": "pooling",
    "validate_conv_sharing": "convolutions",
    "flatten_after_pooling": "pooling",
    "infer_conv": "convolutions",
    "legacy_node_ordering": "the neataptic dialect",
}


def camel(name: str) -> str:
    """conv2d_mappings as conv2dMappings, where pydantic's own to_camel makes conv2DMappings."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


class ExportOptions(Document):
    """How a network becomes ONNX. The defaults work for every network that is supported.

    In JSON the camelCase names of NeatapticTS are read as well as these.
    """

    model_config = ConfigDict(
        defer_build=True,
        alias_generator=AliasGenerator(validation_alias=camel),
        populate_by_name=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    opset: int = Field(18, ge=13, le=26, description="The opset version to write.")
    dtype: Literal["float32", "float64"] = Field("float32", description="The type of the numbers.")
    dialect: Literal["standard"] = Field(
        "standard", description="Which JSON ONNX to write: standard is valid ONNX."
    )
    mixed_activations: Literal["grouped", "per_neuron"] = Field(
        "grouped",
        description="A level with several activations: one Gemm split by activation, or a Gemm and "
        "an activation for each neuron, as NeatapticTS writes it.",
    )
    fold: bool = Field(
        False, description="Merge responses and slopes into the weights: smaller, last bits gone."
    )
    batch_dimension: bool | str = Field(
        "N", description="The name of the batch dimension; true is 'N', false is a batch of one."
    )
    encoding: Literal["numbers", "raw"] = Field(
        "numbers",
        description="How JSON holds tensors: lists of numbers, each bit kept, or base64, which "
        "rounds float32 tensors to float32.",
    )
    include_metadata: bool = Field(
        True, description="Write what ONNX cannot say: ids, names, disabled genes."
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
        True,
        description="If false, refuse to write memory as inputs and outputs of a single step.",
    )
    sequence: bool = Field(
        False,
        description="Write one Scan over [T, N, …], the memory inside, instead of a single step.",
    )
    fused_recurrent: bool = Field(
        True,
        description="In a sequence of float32, write layers that are an RNN, a GRU or an LSTM as "
        "that operator, if they hold all of the memory; then there is no Scan.",
    )

    @property
    def batch(self) -> str | int:
        """The batch dimension as a dim_param, or 1."""
        if self.batch_dimension is False:
            return 1
        return "N" if self.batch_dimension is True else self.batch_dimension


def export_options(document: Any = None, **options: Any) -> ExportOptions:
    """Options from a document, from keywords, or both, keywords winning.

    Raises:
        OptionError: one that is unknown, not supported yet, or has a wrong value.
    """
    if isinstance(document, ExportOptions):
        document = document.model_dump(exclude_unset=True)
    if not isinstance(document, dict | None):
        raise OptionError("options should be an object of names and values")
    given = {**(document or {}), **options}
    for name in given:
        topic = _LATER.get(name) or next((t for n, t in _LATER.items() if camel(n) == name), None)
        if topic:
            raise OptionError(
                f"the option {name} is not supported yet",
                where=name,
                hint=f"It comes with the export of {topic}; leave it out",
            )
    known = ", ".join(ExportOptions.model_fields)
    return parse(ExportOptions, given, OptionError, hint=f"Options: {known}")
