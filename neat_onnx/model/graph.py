"""Graph and its parts as Pydantic models: the fields of a model, without reading or writing.

ONNX has more operators, and older forms of them, than there are classes of nodes. A node of these
is an `OpenNode`, held as it is with its attributes by name, so that it can be shown, rewritten by
the passes, and saved.
"""

from functools import cache
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from neat_onnx.errors import ModelError, warn
from neat_onnx.model.attributes import (
    Attributes,
    AttributeType,
    GivenValue,
    given_value,
    plain_value,
)
from neat_onnx.model.data_type import DataType, Version
from neat_onnx.model.node import OLDEST_TYPED, RUNTIME_DOMAIN, Node, domain_of, node_class
from neat_onnx.model.tensor import Tensor
from neat_onnx.model.value import ValueInfo
from neat_onnx.parsing import Plain

DEFAULT_OPSET = 18
NEWEST_OPSET = 28  # a later one may have changed what an operator means
ONNX_DOMAINS = ("", "ai.onnx")
IR_OF_OPSET = dict(
    zip(range(13, 29), (7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14), strict=True)
)
"""The oldest IR version that each opset allows, from ONNX's table of versions."""
_RUNTIME, _NEWEST_LOADED = "onnxruntime 1.31", 26


def ir_version(opset: int) -> int:
    """Return the oldest IR version of an opset; warn if the most common runtime loads neither."""
    oldest = IR_OF_OPSET[opset]
    if opset > _NEWEST_LOADED:
        warn(
            f"{_RUNTIME} does not load opset {opset} (IR {oldest}), the newest that it knows is "
            f"{_NEWEST_LOADED}; tract, OpenCV and OpenVINO do"
        )
    return oldest


def _node(document: Any, _: Any, info: ValidationInfo) -> Node:
    return parse_node(document, info.context)


AnyNode = Annotated[SerializeAsAny[Node], WrapValidator(_node)]


class Part(BaseModel, metaclass=Plain):
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

        Words, images and masks are integers or truth values, whatever numbers are made of them; and
        FLOAT16 counts where there is no other, since it may be cast at once.
        """
        kinds = [entry.elem_type for entry in (*self.inputs, *self.outputs)]
        kinds += [tensor.data_type for tensor in self.initializer]
        floats = [kind for kind in kinds if kind.dtype.kind == "f"]
        wide = [kind for kind in floats if kind is not DataType.FLOAT16]
        return next(iter(wide or floats), DataType.FLOAT)


_ML, _MAX_INT32 = "ai.onnx.ml", 2**31 - 1
_KNOWN_DOMAINS = (*ONNX_DOMAINS, _ML)
_MAY_BE_NAN = "may_be_nan"  # a key of pydantic's context
_ADDED = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""Operators that onnxruntime writes in ONNX's own domain at opsets that lack them."""


class OpenAttributes(Attributes):
    """Attributes of any name, each with its type and value, in the order in which they stand."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    entries: dict[str, GivenValue] = Field({})

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, document: Any, info: ValidationInfo) -> Any:
        if not isinstance(document, list | tuple):
            return document
        entries: dict[str, GivenValue] = {}
        for entry in document:
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name in entries:
                raise ValueError("each attribute is an object with a name of its own")
            try:
                entries[name] = _held(given_value(entry), info.context)
            except ValueError as error:
                if isinstance(error, ValidationError):
                    raise
                raise ValueError(f"{name} {error}") from None
        return {"entries": entries}

    def given(self) -> Any:
        """Name, type and value of each attribute."""
        return ((name, *given) for name, given in self.entries.items())


class OpenNode(Node, abstract=True):
    """A node whose attributes are not declared.

    Attributes:
        attributes: see `OpenAttributes`.
    """

    inputs = (0, None)
    outputs = (0, None)
    attributes: OpenAttributes = OpenAttributes.defaults()

    @field_validator("op_type")
    @classmethod
    def _is_this_class(cls, op_type: str) -> str:
        return op_type

    @field_validator("domain")
    @classmethod
    def _is_this_domain(cls, domain: str) -> str:
        return "" if domain in ONNX_DOMAINS else domain


def _read_open(document: dict[str, Any], context: Any) -> OpenNode | None:
    """The node of `document`; None if ONNX has no such operator, or not in this form.

    A node of a domain that is not ONNX's own is always read.
    """
    domain = document.get("domain", "")
    opset = (context or {}).get("opset", DEFAULT_OPSET)
    if domain in _KNOWN_DOMAINS and not _is_known(document, domain, opset):
        return None
    context = {**(context or {}), _MAY_BE_NAN: domain == _ML}  # an Imputer puts numbers for NaN
    return OpenNode.model_validate(document, context=context)


def _held(given: GivenValue, context: Any) -> GivenValue:
    if given.type is AttributeType.TENSOR:
        return GivenValue(given.type, Tensor.model_validate(given.value, context=context))
    if given.type is AttributeType.GRAPH:
        return GivenValue(given.type, Graph.model_validate(given.value, context=context))
    return GivenValue(given.type, plain_value(given, (context or {}).get(_MAY_BE_NAN, False)))


def _is_known(document: dict[str, Any], domain: str, opset: int) -> bool:
    version = opset if domain in ONNX_DOMAINS else _MAX_INT32
    schema = schema_of(document["op_type"], domain, version)
    if schema is None:
        return document["op_type"] in _ADDED
    kinds = {name: int(entry.type.value) for name, entry in schema.attributes.items()}
    types = (_type_of(entry) for entry in document.get("attributes", []))
    inputs, outputs = document.get("input", []), document.get("output", [])
    if not (isinstance(inputs, list | tuple) and isinstance(outputs, list | tuple)):
        return False
    return (
        all(name == "consumed_inputs" or kinds.get(name) == kind for name, kind in types)
        and schema.min_input <= len(inputs) <= schema.max_input
        and schema.min_output <= len(outputs) <= schema.max_output
    )


def _type_of(entry: Any) -> tuple[Any, int]:
    """The name and the type of an entry of an attribute list; 0 if it is no such entry."""
    try:
        name = entry["name"]
        kind = int(given_value(entry, AttributeType.INTS).type)
        return (name, kind) if isinstance(name, str) else (None, 0)
    except (TypeError, KeyError, ValueError):
        return None, 0


@cache
def schema_of(op_type: str, domain: str, version: int) -> Any:
    """ONNX's schema of an operator at a version of its domain; None if it has none."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    domain, version = "" if domain in ONNX_DOMAINS else domain, min(max(0, version), _MAX_INT32)
    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None


def parse_node(document: Any, context: Any = None) -> Node:
    """The node that `document` describes.

    It is an instance of the class its op_type names. A node that the class refuses and ONNX allows
    is an `OpenNode`, as is an operator without a class, and every node of an opset before 13.

    Args:
        context: pydantic's, of the document that the node is part of; "opset" is its opset.

    Raises:
        ValueError: it is not a node, or not a right one (pydantic's ValidationError is one).
    """
    if isinstance(document, Node):
        return document
    if not isinstance(document, dict):
        raise ValueError("is not an object")
    op_type = document.get("op_type")
    if not isinstance(op_type, str) or not op_type:
        raise ValueError("has no op_type")
    if not op_type.isascii() and any("\ud800" <= letter <= "\udfff" for letter in op_type):
        raise ValueError("has half a surrogate pair in its op_type, which UTF-8 cannot hold")
    if not isinstance(document.get("attributes", []), list | Attributes):
        raise ValueError("attributes is not a list")
    opset = (context or {}).get("opset", OLDEST_TYPED)
    if opset < OLDEST_TYPED and (found := _read_open(document, context)):
        return found
    try:
        kind = node_class(op_type)
    except ModelError as error:
        if found := _read_open(document, context):
            return found
        raise PydanticCustomError(
            "unsupported_op", "{text}", {"text": error.message, "hint": error.hint}
        ) from None
    of_runtime = document.get("domain") == RUNTIME_DOMAIN and not domain_of(kind)
    if of_runtime and (found := _read_open(document, context)):
        return found
    try:
        return kind.model_validate(document, context=context)
    except ValidationError:
        if "attributes" not in document:  # an error is about the one that is missing then
            return parse_node({"attributes": [], **document}, context)
        is_known = document.get("domain", "") in _KNOWN_DOMAINS
        if is_known and not kind.whole and (found := _read_open(document, context)):
            return found
        raise
