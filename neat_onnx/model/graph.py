"""Graph and its parts as Pydantic models: the fields of a model, without reading or writing."""

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from neat_onnx.errors import warn
from neat_onnx.model.data_type import DataType
from neat_onnx.model.node import Node, parse_node
from neat_onnx.model.numbers import Version
from neat_onnx.model.operator_kinds import CHOOSING
from neat_onnx.model.tensor import Tensor
from neat_onnx.model.value import ValueInfo

DEFAULT_OPSET = 18
NEWEST_OPSET = 28  # a later one may have changed what an operator means
ONNX_DOMAINS = ("", "ai.onnx")
IR_OF_OPSET = dict(
    zip(range(13, 29), (7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14), strict=True)
)
"""The oldest IR version that each opset allows, from ONNX's table of versions."""
_FIRST_WITH_FUNCTIONS = 8  # IR version that has local functions
_RUNTIME, _NEWEST_LOADED = "onnxruntime 1.31", 26


def ir_version(opset: int, *, with_functions: bool = False) -> int:
    """Return the oldest IR version of an opset; warn if the most common runtime loads neither."""
    oldest = max(IR_OF_OPSET[opset], _FIRST_WITH_FUNCTIONS if with_functions else 0)
    if opset > _NEWEST_LOADED:
        warn(
            f"{_RUNTIME} does not load opset {opset} (IR {oldest}), the newest that it knows is "
            f"{_NEWEST_LOADED}; tract, OpenCV and OpenVINO do"
        )
    return oldest


def _node(document: Any, info: ValidationInfo) -> Node:
    return parse_node(document, info.context)


AnyNode = Annotated[SerializeAsAny[Node], BeforeValidator(_node)]


class Part(BaseModel):
    """A JSON object that leaves out the fields of `optional` that are empty."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        required = {name for name, field in type(self).model_fields.items() if field.is_required()}
        document: dict[str, Any] = handler(self)
        return {
            key: value
            for key, value in document.items()
            if key in required or value not in (None, "", [])
        }


class OperatorSet(Part):
    """A version of the operators of a domain."""

    domain: str = Field("", description='"" is ONNX\'s own.')
    version: Version

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.domain in ONNX_DOMAINS and self.version > NEWEST_OPSET:
            raise ValueError(f"opset {self.version} not supported, the newest is {NEWEST_OPSET}")
        return self


class MetadataEntry(Part):
    """A text of the writer's own, under a key."""

    key: str
    value: str


class Graph(Part):
    """The nodes with their inputs and outputs."""

    name: str = ""
    doc_string: str = Field("", description="Text for people.")
    inputs: list[ValueInfo] = Field([], description="What a caller gives.")
    outputs: list[ValueInfo] = Field(description="What a caller gets.")
    initializer: list[Tensor] = Field(
        [], description="The constant tensors, each under a name of its own."
    )
    node: list[AnyNode] = Field(
        [], description="The operators, each after those whose outputs it reads."
    )

    @field_validator("initializer")
    @classmethod
    def _own_names(cls, tensors: list[Tensor]) -> list[Tensor]:
        seen: set[str] = set()
        for at, tensor in enumerate(tensors):
            if not tensor.name:
                raise ValueError(f"initializer {at} has no name")
            if tensor.name in seen:
                raise ValueError(f"duplicate initializer '{tensor.name}'")
            seen.add(tensor.name)
        return tensors

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The initializers by their names."""
        return {tensor.name: tensor for tensor in self.initializer}

    @property
    def number_type(self) -> DataType:
        """The type of the numbers: of the first input of floats, else of an output or a constant.

        Words, images and masks are integers or truth values, whatever numbers are made of them.
        Inputs and outputs of FLOAT16 may be cast at once, and numbers of another type be computed.
        """
        entries = (*self.inputs, *self.outputs)
        kinds = [entry.elem_type for entry in entries]
        kinds += [tensor.data_type for tensor in self.initializer]
        floats = [kind for kind in kinds if kind.dtype.kind == "f"]
        if DataType.FLOAT16 in floats[:1]:
            halves = {entry.name for entry in entries if entry.elem_type is DataType.FLOAT16}
            ends = [
                node for node in self.node if not halves.isdisjoint([*node.input, *node.output])
            ]
            if all(node.op_type == "Cast" or node.op_type in CHOOSING for node in ends):
                floats = [kind for kind in floats if kind is not DataType.FLOAT16]
        return next(iter(floats), DataType.FLOAT)


class Function(Part):
    """A function of the model: the nodes that a call of it stands for.

    A call is a node whose `domain` and `op_type` are the function's `domain` and `name`.
    """

    name: str
    domain: str
    doc_string: str = Field("", description="Text for people.")
    inputs: list[str] = Field([], description="The names of its arguments inside the function.")
    outputs: list[str] = Field(description="The names of its results inside the function.")
    opset_import: list[OperatorSet] = Field([], description="The versions of its operators.")
    node: list[AnyNode] = Field(
        description="The operators, each after those whose outputs it reads."
    )


class Content(Part):
    """The fields of a model. Only `graph` is required."""

    ir_version: Version | None = Field(None, description="The version of ONNX's file format.")
    opset_import: list[OperatorSet] = Field([], description="The operators' versions.")
    producer_name: str = Field("", description="The tool that wrote the model.")
    producer_version: str = Field("", description="That tool's version.")
    doc_string: str = Field("", description="Text for people.")
    metadata_props: list[MetadataEntry] = Field([], description="What else the writer says.")
    graph: Graph
    functions: list[Function] = Field(
        [], description="Functions without attributes that nodes of the graph call."
    )

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators; 18 if the model does not say."""
        versions = [entry.version for entry in self.opset_import if entry.domain in ONNX_DOMAINS]
        return versions[0] if versions else DEFAULT_OPSET

    @property
    def metadata(self) -> dict[str, str]:
        """A copy of metadata_props as a dict. Of a key that occurs twice, the first counts."""
        return {entry.key: entry.value for entry in reversed(self.metadata_props)}
