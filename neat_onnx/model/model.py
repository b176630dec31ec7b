"""Model: a whole ONNX model, in memory, as JSON and (through proto) as binary."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import Field, PrivateAttr, ValidationError

from neat_onnx.arguments import FLAG, PATH, Kind, one_of, optional, takes
from neat_onnx.collector import collector_paused
from neat_onnx.errors import DocumentError, ModelError, OptionError
from neat_onnx.files import parse_json, read_bytes, sniff, write_bytes
from neat_onnx.model.budget import Budget
from neat_onnx.model.data_type import Version
from neat_onnx.model.graph import (
    DEFAULT_OPSET,
    ONNX_DOMAINS,
    Graph,
    MetadataEntry,
    OperatorSet,
    Part,
)
from neat_onnx.model.node import refusal
from neat_onnx.model.spelling import Spelling, canonical, json_text, protobuf_document
from neat_onnx.model.states import State, states
from neat_onnx.model.wiring import unproduced
from neat_onnx.schema_links import LINK_KEY, schema_id

if TYPE_CHECKING:
    import onnx

Encoding = Literal["numbers", "raw"]
_ENCODING, _SPELLING = one_of(*get_args(Encoding)), one_of(*get_args(Spelling))
_PROTO = Kind("an onnx.ModelProto", lambda value: hasattr(value, "SerializeToString"))


class Model(Part):  # noqa: PLW1641 - no model has a hash
    """A model. Only `graph` is required: the rest says who wrote it, and for which ONNX.

    Attributes:
        graph: nodes, initializers, inputs and outputs.
        ir_version: the version of ONNX's file format, or None.
        opset_import: the versions of the operators, by domain; `opset` is that of ONNX's own.
        producer_name, producer_version: the tool that wrote it.
        doc_string: text for people.
        metadata_props: texts of the writer's own, each under a key; `metadata` is a dict of them.
    """

    ir_version: Version | None = Field(None, description="The version of ONNX's file format.")
    opset_import: list[OperatorSet] = Field([], description="The operators' versions.")
    producer_name: str = Field("", description="The tool that wrote the model.")
    producer_version: str = Field("", description="That tool's version.")
    doc_string: str = Field("", description="Text for people.")
    metadata_props: list[MetadataEntry] = Field([], description="What else the writer says.")
    graph: Graph

    _encoding: Encoding = PrivateAttr("numbers")
    _schema: str = PrivateAttr("")

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators; 18 if the model does not say."""
        versions = [entry.version for entry in self.opset_import if entry.domain in ONNX_DOMAINS]
        return versions[0] if versions else DEFAULT_OPSET

    @property
    def metadata(self) -> dict[str, str]:
        """A copy of metadata_props as a dict. Of a key that occurs twice, the first counts."""
        return {entry.key: entry.value for entry in reversed(self.metadata_props)}

    def __repr__(self) -> str:
        graph = self.graph
        return (
            f"<Model of {len(graph.node)} nodes and {len(graph.initializer)} initializers, "
            f"{len(graph.inputs)} inputs, {len(graph.outputs)} outputs, opset {self.opset}>"
        )

    def __eq__(self, other: object) -> bool:
        """Compare two models; a link to the schema is none of their content."""
        if isinstance(other, Model) and other._schema != self._schema:
            other = other.model_copy()
            other._schema = self._schema
        return super().__eq__(other)

    def written_as(self, encoding: Encoding) -> Self:
        """The same model; its JSON has this encoding unless another is asked for."""
        copy = self.model_copy()
        copy._encoding = encoding
        return copy

    @takes(encoding=optional(_ENCODING), spelling=_SPELLING)
    def to_document(
        self, encoding: Encoding | None = None, spelling: Spelling = "neat_onnx"
    ) -> dict[str, Any]:
        """The model as the value of its JSON document, see `to_json`.

        Raises:
            ModelError: with `encoding="raw"`, a FLOAT is too large for float32.
            OptionError: there is no such encoding or spelling.
        """
        return self._document(encoding, spelling, arrays=False)

    @takes(indent=FLAG, encoding=optional(_ENCODING), spelling=_SPELLING)
    def to_json(
        self,
        indent: bool = True,
        encoding: Encoding | None = None,
        spelling: Spelling = "neat_onnx",
    ) -> str:
        """The model as JSON text, in ASCII, with a newline at its end.

        Args:
            indent: lay it out for people, with each list of numbers on one line.
            encoding: "numbers" writes each float as the shortest decimal that reads back as the
                same double; "raw" writes base64 of the ONNX elements: FLOAT rounds to float32.
                None is the encoding that the model was exported with, else "numbers".
            spelling: "neat_onnx" has the names that NeatapticTS reads; "protobuf" is protobuf's own
                JSON, which `onnx.load_model(format="json")` and Netron read.

        Raises:
            ModelError, OptionError: as `to_document`.
        """
        return json_text(self._document(encoding, spelling, arrays=True), indent) + "\n"

    def _document(
        self, encoding: Encoding | None, spelling: Spelling, *, arrays: bool
    ) -> dict[str, Any]:
        """The JSON document, with the link to its schema that the model was read with; its lists
        of numbers as arrays if wanted.
        """
        official = spelling == "protobuf"
        encoding = encoding or ("numbers" if official else self._encoding)
        document = self.model_dump(context={"encoding": encoding, "arrays": arrays})
        if official:
            return protobuf_document(document)
        return {LINK_KEY: self._schema, **document} if self._schema else document

    def to_proto(self) -> "onnx.ModelProto":
        """The model as onnx's ModelProto. FLOAT rounds to float32 here.

        Raises:
            ModelError: a FLOAT is too large for float32.
        """
        from neat_onnx.model.proto import to_proto  # noqa: PLC0415 - onnx is slow to import

        return to_proto(self)

    @classmethod
    @takes(proto=_PROTO)
    def from_proto(cls, proto: "onnx.ModelProto") -> "Model":
        """The model that onnx's `proto` holds.

        Raises:
            ModelError: it uses something unsupported.
        """
        from neat_onnx.model.proto import document_of  # noqa: PLC0415 - onnx is slow to import

        return _validated(document_of(proto))

    @property
    def states(self) -> tuple[State, ...]:
        """The memory: pairs of an output and the input that it feeds in the next step.

        Empty for a model without memory, or of whole sequences, whose memory is inside.

        Raises:
            ModelError: the metadata about it does not fit the graph.
        """
        return states(self)

    def to_bytes(self) -> bytes:
        """The model as binary ONNX, always the same bytes for the same model.

        Raises:
            ModelError: a FLOAT is too large for float32.
        """
        data: bytes = self.to_proto().SerializeToString(deterministic=True)
        return data

    @takes(path=PATH, encoding=optional(_ENCODING), spelling=_SPELLING, schema=FLAG)
    def save(
        self,
        path: str | os.PathLike[str],
        encoding: Encoding | None = None,
        spelling: Spelling = "neat_onnx",
        schema: bool = False,
    ) -> None:
        """Write the model to `path`, whole or not at all: `.onnx` is binary, `.json` JSON.

        Encoding and spelling are as in `to_json`; binary files have none.

        Args:
            path: the file, which is replaced if it exists.
            encoding: as in `to_json`.
            spelling: as in `to_json`.
            schema: name the JSON Schema under `$schema`, so that editors check the document.

        Raises:
            OptionError: `path` has another ending, or there is no such encoding; or the file would
                not be a document of the schema.
            ModelError: as `to_bytes`; and, for `.onnx`, no node produces an output: documents of
                NeatapticTS are so, and no runtime would load them.
            DocumentError: the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in (".onnx", ".json"):
            text = f"cannot tell the format from the ending '{suffix}'"
            raise OptionError(text, where=str(path), hint="Use .onnx or .json")
        if schema and (suffix == ".onnx" or spelling != "neat_onnx"):
            text = "the JSON Schema is of the default JSON form alone"
            raise OptionError(text, where="schema", hint="Save as .json, without another spelling")
        if suffix == ".onnx":
            self.check_outputs()
            data = self.to_bytes()
        else:
            linked = self.model_copy()
            linked._schema = schema_id("model") if schema else self._schema
            data = linked.to_json(encoding=encoding, spelling=spelling).encode()
        write_bytes(path, data)

    def check_outputs(self) -> None:
        """Check that every output of the graph is produced: no runtime loads a model otherwise.

        Raises:
            ModelError: an output is produced by no node, and is neither input nor initializer.
        """
        for name in unproduced(self.graph):
            raise ModelError(
                f"no node produces the output '{name}'",
                where="graph.outputs",
                hint="No runtime loads it so. `neat-onnx convert` makes valid ONNX of it; as "
                "it is, as documents of NeatapticTS are, it can be saved as .json",
            )


_NETWORK_HINT = "To turn a network into a model use load_network and export, or `neat-onnx export`"
_NO_MODELS: dict[str, tuple[str, str]] = {
    "pickle": ("a pickle", _NETWORK_HINT),
    "gzip": (
        "a gzip file",
        f"Unpack it first; if it is a checkpoint of neat-python: {_NETWORK_HINT}",
    ),
    "zip": ("a zip archive", "Unpack it, and give the model in it"),
}


@collector_paused()
def load_model(source: Any) -> Model:
    """Read a model.

    External data is read from files in the model's own folder, or below it, and nowhere else; of a
    model that does not come from a path it is refused.

    Args:
        source: a path; the content of a file (binary ONNX, JSON, or onnx's textproto or onnxtxt),
            as bytes or, of JSON, as text that starts with "{"; a JSON document; onnx's ModelProto;
            or a Model, which is returned as it is.

    Returns:
        The model, with the encoding of the JSON that it came from.

    Raises:
        DocumentError: it cannot be read, or is neither JSON nor protobuf.
        ModelError: it is not a model, or uses something unsupported; or its external data is not
            where it should be.
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
        return _from_bytes(read_bytes(source), os.path.dirname(os.fspath(source)) or os.curdir)
    if isinstance(source, bytes | bytearray | memoryview):
        return _from_bytes(bytes(source))
    hint = "Give a path, bytes, JSON text, a dict or a ModelProto"
    raise DocumentError(f"cannot read a model from a {type(source).__name__}", hint=hint)


def is_model(content: Any, name: str = "") -> bool:
    """Whether the content of a file is a model, rather than a network: by keys, or first bytes.

    Args:
        content: its JSON value, or the bytes of a file that is not JSON.
        name: the name of the file, whose ending counts where the bytes do not say it.
    """
    if isinstance(content, bytes):
        kind = sniff(content)
        return kind in ("onnx", "onnx text") or (
            kind in ("binary", "text") and name.lower().endswith(".onnx")
        )
    return isinstance(content, dict) and "graph" in content


def from_document(document: Any) -> Model:
    """The model of a JSON document, in any of the spellings that `spelling` knows.

    Raises:
        ModelError: it is not a model, or uses something unsupported.
    """
    if not isinstance(document, dict) or not isinstance(document.get("graph"), dict):
        raise ModelError("not an ONNX model: it has no graph", hint=_NETWORK_HINT)
    if document.get("functions"):
        raise ModelError(
            "local functions are read of binary ONNX alone",
            where="functions",
            hint='Save it as such: onnx.save(onnx.load(path, format="json"), "model.onnx")',
        )
    try:
        model = _validated(canonical(document))
    except RecursionError:
        raise ModelError(
            "its graphs are nested too deeply: each stands in a node of another",
            where="graph",
            hint="Binary ONNX holds some thirty inside each other, and no exporter writes as many",
        ) from None
    model._schema = str(document.get(LINK_KEY, ""))
    return model


def _validated(plain: dict[str, Any]) -> Model:
    """The model of a document in our spelling."""
    try:
        return Model.model_validate(plain, context={"budget": Budget(), "opset": _opset(plain)})
    except ValidationError as error:
        raise refusal(error, plain) from None


def _opset(document: dict[str, Any]) -> int:
    """The opset that a document states; wrong values are refused elsewhere."""
    entries = document.get("opset_import")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("domain", "") in ONNX_DOMAINS:
            text = str(entry.get("version"))
            return int(text) if text.isdecimal() else DEFAULT_OPSET
    return DEFAULT_OPSET


def _from_bytes(data: bytes, folder: str | None = None) -> Model:
    """The model of a file's content; external data is read from `folder`, if that is known."""
    if not data.strip():
        raise DocumentError("the file is empty", hint="Write the model again")
    kind = sniff(data)
    if kind == "json":
        return from_document(parse_json(data))
    if kind in _NO_MODELS:
        what, hint = _NO_MODELS[kind]
        raise DocumentError(f"this is {what}, not a model", hint=hint)
    from neat_onnx.model.proto import parsed, parsed_text  # noqa: PLC0415

    proto = parsed_text(data) if kind == "onnx text" else parsed(data)
    if folder is not None:
        from neat_onnx.model.external import read_external_data  # noqa: PLC0415

        read_external_data(proto, folder)
    return Model.from_proto(proto)
