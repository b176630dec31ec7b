"""Model: a whole ONNX model, in memory, as JSON and (through proto) as binary."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from neat_onnx.errors import DocumentError, ModelError, OptionError
from neat_onnx.files import parse_json, read_bytes, write_bytes
from neat_onnx.model.dialect import canonical
from neat_onnx.model.layout import json_text
from neat_onnx.model.node import Node, parse_node
from neat_onnx.model.numbers import Version
from neat_onnx.model.refusal import refusal
from neat_onnx.model.sparse import Room
from neat_onnx.model.tensor import Tensor
from neat_onnx.model.value import ValueInfo

if TYPE_CHECKING:
    import onnx

DEFAULT_OPSET = 18
NEWEST_OPSET = 28  # a later one may have changed what an operator means
ONNX_DOMAINS = ("", "ai.onnx")
Encoding = Literal["numbers", "raw", "sparse"]


def _node(document: Any, info: ValidationInfo) -> Node:
    return parse_node(document, info.context)


AnyNode = Annotated[SerializeAsAny[Node], BeforeValidator(_node)]


class _Part(BaseModel):
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


class OperatorSet(_Part):
    """A version of the operators of a domain."""

    domain: str = Field("", description='"" is ONNX\'s own.')
    version: Version

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.domain in ONNX_DOMAINS and self.version > NEWEST_OPSET:
            raise ValueError(f"opset {self.version} not supported, the newest is {NEWEST_OPSET}")
        return self


class MetadataEntry(_Part):
    """A text of the writer's own, under a key."""

    key: str
    value: str


class Graph(_Part):
    """The nodes, what they read and what they produce."""

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


class Model(_Part):
    """A model. Only `graph` is required: the rest says who wrote it, and for which ONNX."""

    ir_version: Version | None = Field(None, description="The version of ONNX's file format.")
    opset_import: list[OperatorSet] = Field([], description="The operators' versions.")
    producer_name: str = Field("", description="The tool that wrote the model.")
    producer_version: str = Field("", description="That tool's version.")
    doc_string: str = Field("", description="Text for people.")
    metadata_props: list[MetadataEntry] = Field([], description="What else the writer says.")
    graph: Graph
    _encoding: Encoding = PrivateAttr("numbers")

    def __repr__(self) -> str:
        graph = self.graph
        return (
            f"<Model of {len(graph.node)} nodes and {len(graph.initializer)} initializers, "
            f"{len(graph.inputs)} inputs, {len(graph.outputs)} outputs, opset {self.opset}>"
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

    def written_as(self, encoding: Encoding) -> Self:
        """The same model; its JSON has this encoding unless another is asked for."""
        copy = self.model_copy()
        copy._encoding = encoding
        return copy

    def to_document(self, encoding: Encoding | None = None) -> dict[str, Any]:
        """The model as the value of its JSON document, see `to_json`.

        Raises:
            ModelError: with `encoding="raw"`, a FLOAT is too large for float32.
            OptionError: there is no such encoding.
        """
        return self.model_dump(context=self._context(encoding))

    def to_json(self, indent: bool = True, encoding: Encoding | None = None) -> str:
        """The model as JSON text, in ASCII, with a newline at its end.

        Args:
            indent: lay it out for people, with each list of numbers on one line.
            encoding: "numbers" writes each float as the shortest decimal that reads back as the
                same double; "raw" writes base64 of the ONNX elements: FLOAT rounds to float32;
                "sparse" is "numbers", but floats that are mostly 0.0 are the coordinates and the
                values of the others (see `neat_onnx.model.sparse`).
                None is what the model was exported with, else "numbers".

        Raises:
            ModelError, OptionError: as `to_document`.
        """
        document = self.model_dump(context={**self._context(encoding), "arrays": True})
        return json_text(document, indent) + "\n"

    def _context(self, encoding: Encoding | None) -> dict[str, Any]:
        """How `Tensor` is to write itself."""
        known = get_args(Encoding)
        if encoding not in (None, *known):
            raise OptionError(f"no encoding '{encoding}'", hint=f"Known: {', '.join(known)}")
        return {"encoding": encoding or self._encoding, "room": Room()}

    def to_proto(self) -> "onnx.ModelProto":
        """The model as onnx's ModelProto. FLOAT rounds to float32 here.

        Raises:
            ModelError: a FLOAT is too large for float32.
        """
        from neat_onnx.model.proto import to_proto  # noqa: PLC0415 - onnx is slow to import

        return to_proto(self)

    @classmethod
    def from_proto(cls, proto: "onnx.ModelProto") -> "Model":
        """The model that onnx's `proto` holds.

        Raises:
            ModelError: it uses what is not supported.
        """
        from neat_onnx.model.proto import from_proto  # noqa: PLC0415 - onnx is slow to import

        return from_proto(proto)

    def to_bytes(self) -> bytes:
        """The model as binary ONNX, always the same bytes for the same model.

        Raises:
            ModelError: a FLOAT is too large for float32.
        """
        data: bytes = self.to_proto().SerializeToString(deterministic=True)
        return data

    def save(self, path: str | os.PathLike[str], encoding: Encoding | None = None) -> None:
        """Write the model to `path`, whole or not at all: `.onnx` is binary, `.json` JSON.

        The encoding is that of `to_json`.

        Raises:
            OptionError: `path` has another ending, or there is no such encoding.
            ModelError: as `to_bytes`; and, for `.onnx`, no node produces an output: so it is with
                what NeatapticTS writes, which no runtime would load.
            DocumentError: the file cannot be written.
        """
        match Path(path).suffix.lower():
            case ".onnx":
                self._check_outputs()
                data = self.to_bytes()
            case ".json":
                data = self.to_json(encoding=encoding).encode()
            case other:
                raise OptionError(
                    f"cannot tell the format from the ending '{other}'",
                    where=str(path),
                    hint="Use .onnx or .json",
                )
        write_bytes(path, data)

    def _check_outputs(self) -> None:
        graph = self.graph
        known = {name for node in graph.node for name in node.output} | set(graph.tensors)
        known |= {entry.name for entry in graph.inputs}
        for entry in graph.outputs:
            if entry.name not in known:
                raise ModelError(
                    f"no node produces the output '{entry.name}'",
                    where="graph.outputs",
                    hint="Documents of NeatapticTS are JSON only: save it as .json, or make valid "
                    "ONNX of it with `neat-onnx convert`",
                )


def load_model(source: Any) -> Model:
    """Read a model. No other file is opened: external data is refused.

    Args:
        source: a path; the content of a file, as bytes or as text that starts with "{"; a JSON
            document; onnx's ModelProto; or a Model, which is returned as it is.

    Returns:
        The model, with the encoding of the JSON that it came from.

    Raises:
        DocumentError: it cannot be read, or is neither JSON nor protobuf.
        ModelError: it is not a model, or one that uses what is not supported.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, dict):
        return from_document(source)
    if type(source).__name__ == "ModelProto":
        return Model.from_proto(source)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{"):
        return from_document(parse_json(source))
    if isinstance(source, str | os.PathLike):
        return _from_bytes(read_bytes(source))
    if isinstance(source, bytes | bytearray | memoryview):
        return _from_bytes(bytes(source))
    raise DocumentError(
        f"cannot read a model from a {type(source).__name__}",
        hint="Give a path, bytes, JSON text, a dict or a ModelProto",
    )


def from_document(document: Any) -> Model:
    """The model of a JSON document, in any of the spellings that `dialect` knows.

    Raises:
        ModelError: it is not a model, or one that uses what is not supported.
    """
    if not isinstance(document, dict) or not isinstance(document.get("graph"), dict):
        raise ModelError("not an ONNX model: it has no graph")
    plain = canonical(document)
    try:
        return Model.model_validate(plain, context={"room": Room()})
    except ValidationError as error:
        raise refusal(error, plain) from None


def _from_bytes(data: bytes) -> Model:
    if data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{"):
        return from_document(parse_json(data))
    from neat_onnx.model.proto import from_bytes  # noqa: PLC0415 - onnx is slow to import

    return from_bytes(data)
