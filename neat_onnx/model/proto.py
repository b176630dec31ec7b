"""Model ⇄ onnx's protobuf, in pairs. The one module that knows protobuf.

It also reads onnx's text forms: textproto (`ir_version: 8`) and onnxtxt (`<ir_version: 8, …>`).
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]

from neat_onnx.errors import ModelError
from neat_onnx.model.attributes import AttributeType
from neat_onnx.model.budget import check_binary, check_text
from neat_onnx.model.data_type import DataType
from neat_onnx.model.graph import DEFAULT_OPSET, Graph
from neat_onnx.model.node import Node
from neat_onnx.model.plain_proto import inlined, with_missing_types, without_labels
from neat_onnx.model.spelling import DROPPED, NOTES, RENAMED
from neat_onnx.model.tensor import Tensor

if TYPE_CHECKING:
    from neat_onnx.model.model import Model

_OLDEST_IR = 8  # of opset 18
_MIN_LONG_VARINT = 1 << 49  # takes as many bytes as int64
_SCALARS, _ATTRIBUTE_TYPES = (str, bytes, int, float), frozenset(AttributeType)
_UNKNOWN = ({"dim_value": -1}, {"dim_param": ""})  # as some writers state a size that varies


def to_proto(model: "Model") -> onnx.ModelProto:
    """The model as a ModelProto; FLOAT rounds to float32.

    A model that does not say its IR gets 8, its opset 18; a graph without a name gets "graph",
    because ONNX wants one.

    Raises:
        ModelError: a FLOAT is too large for float32, or a text is not valid Unicode.
    """
    proto = onnx.ModelProto(ir_version=model.ir_version or _OLDEST_IR)
    try:
        _say(
            proto,
            producer_name=model.producer_name,
            producer_version=model.producer_version,
            doc_string=model.doc_string,
        )
        _fill_graph(proto.graph, model.graph)
        opsets = [(entry.domain, entry.version) for entry in model.opset_import]
        for domain, version in opsets or [("", DEFAULT_OPSET)]:
            proto.opset_import.add(domain=domain or None, version=version)
        for entry in model.metadata_props:
            proto.metadata_props.add(key=entry.key, value=entry.value)
    except UnicodeEncodeError as error:
        raise ModelError("a text has half a surrogate pair, which UTF-8 cannot hold") from error
    return proto


def document_of(proto: onnx.ModelProto) -> dict[str, Any]:
    """The JSON document of the model that `proto` holds.

    Local functions are inlined.

    Raises:
        ModelError: it is not a model, or uses something unsupported.
    """
    try:
        if proto.functions:
            proto = inlined(proto)
        if not proto.HasField("graph"):
            raise ModelError("not an ONNX model: it has no graph")
        document: dict[str, Any] = document_of_message(with_missing_types(without_labels(proto)))
        return document
    except UnicodeDecodeError as error:
        raise ModelError("not a valid ONNX protobuf: a text is not UTF-8") from error


def parsed(data: bytes) -> onnx.ModelProto:
    """The ModelProto of a binary ONNX file's content.

    Raises:
        ModelError: it is not one. LimitReached: it would make too much.
    """
    check_binary(data)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except (DecodeError, RecursionError) as error:
        raise ModelError(
            "not a valid ONNX protobuf: truncated, damaged, nested too deeply, or no ONNX at all"
        ) from error
    return proto


def _say(proto: Any, **texts: str) -> None:
    """Write texts into the fields of these names, but for empty ones: protobuf reads a missing
    text as an empty one, which would take two bytes.
    """
    for field, text in texts.items():
        if text:
            setattr(proto, field, text)


@cache
def _kind(message: Any) -> str:
    """What a message of protobuf is called in the tables of spellings, of its descriptor."""
    return str(message.name.removesuffix("Proto").lower())


@cache
def _key(field: Any) -> tuple[str, bool]:
    """The name of a field here, "" for one that is left out, and whether it holds messages."""
    kind = _kind(field.containing_type)
    name = RENAMED.get(kind, {}).get(field.name, field.name)
    return "" if name in DROPPED.get(kind, NOTES) else name, field.message_type is not None


def document_of_message(message: Any) -> Any:
    """A message of protobuf as the value of a JSON document, in our spelling; bytes stay bytes."""
    kind = _kind(message.DESCRIPTOR)
    found: dict[str, Any] = {"outputs": []} if kind == "graph" else {}
    for field, value in message.ListFields():
        name, is_message = _key(field)
        if not name:
            continue
        if not is_message:
            found[name] = value if isinstance(value, _SCALARS) else [*value]
        elif name == "sparse_initializer":
            raise ModelError(
                "sparse initializers are not read",
                where=f"initializer {value[0].values.name}",
                hint="Save them as dense ones, which hold each of their zeros",
            )
        elif isinstance(value, Message):
            found[name] = document_of_message(value)
        else:
            found[name] = [document_of_message(each) for each in value]
    if kind == "attribute" and message.type in _ATTRIBUTE_TYPES:
        key = AttributeType(message.type).key
        found = {"name": message.name, "type": message.type, key: _given(message, key, found)}
    elif kind == "dimension" and found in _UNKNOWN:
        return {}
    elif kind == "type" and not found:
        return {"tensor_type": {"elem_type": 0}}  # to be refused
    return found


def _given(message: Any, key: str, found: dict[str, Any]) -> Any:
    """The value of an attribute, which protobuf may leave out where it is 0 or empty."""
    value = found[key] if key in found else getattr(message, key)
    if key == "strings":
        return [text.decode() for text in value]
    return value.decode() if key == "s" else value


def _fill_graph(proto: onnx.GraphProto, graph: Graph) -> None:
    """Write `graph` into an empty `proto`.

    Everything is made where it belongs: protobuf copies its arguments.
    """
    proto.name = graph.name or "graph"
    _say(proto, doc_string=graph.doc_string)
    for side, entries in ((proto.input, graph.inputs), (proto.output, graph.outputs)):
        for entry in entries:
            kind = int(entry.elem_type)
            side.append(onnx.helper.make_tensor_value_info(entry.name, kind, entry.shape))
    for tensor in graph.initializer:
        _fill_tensor(proto.initializer.add(), tensor)
    for node in graph.node:
        _fill_node(proto.node.add(), node)


def _fill_tensor(proto: onnx.TensorProto, tensor: Tensor) -> None:
    proto.name = tensor.name
    proto.data_type = int(tensor.data_type)
    proto.dims.extend(tensor.dims)
    values = tensor.values
    short = tensor.data_type is DataType.INT64 and tensor.size > 0 and values.min() >= 0
    if short and values.max() < _MIN_LONG_VARINT:
        proto.int64_data.extend(values.ravel().tolist())
    else:
        proto.raw_data = tensor.to_bytes()


def node_to_proto(node: Node) -> onnx.NodeProto:
    """The node alone, as a NodeProto.

    Raises:
        ModelError: a FLOAT among its attributes is too large for float32.
    """
    proto = onnx.NodeProto()
    _fill_node(proto, node)
    return proto


def _fill_node(proto: onnx.NodeProto, node: Node) -> None:
    proto.op_type = node.op_type
    _say(proto, name=node.name, domain=node.domain)
    proto.input.extend(node.input)
    proto.output.extend(node.output)
    for name, kind, value in node.attributes.given():
        if kind in (AttributeType.FLOAT, AttributeType.FLOATS):
            with np.errstate(over="ignore"):  # looked for right here
                numbers = np.asarray(value, np.float64)
                if np.isinf(numbers.astype(np.float32)[np.isfinite(numbers)]).any():
                    text = "is too large for float32, which ONNX's attributes are"
                    raise ModelError(f"node {node.label}: {name} {text}")
        _fill_attribute(proto.attribute.add(name=name, type=int(kind)), kind, value)


def _fill_attribute(proto: onnx.AttributeProto, kind: AttributeType, value: Any) -> None:
    match kind:
        case AttributeType.STRING:
            proto.s = value.encode()
        case AttributeType.STRINGS:
            proto.strings.extend(text.encode() for text in value)
        case AttributeType.TENSOR:
            _fill_tensor(proto.t, value)
        case AttributeType.GRAPH:
            _fill_graph(proto.g, value)
        case AttributeType.FLOATS | AttributeType.INTS:
            getattr(proto, kind.key).extend(value)
        case _:
            setattr(proto, kind.key, value)


def parsed_text(data: bytes) -> onnx.ModelProto:
    """Parse a model's text.

    Raises:
        ModelError: it is not one; says where. LimitReached: it would make too much.
    """
    from google.protobuf import text_format  # type: ignore[import-untyped]  # noqa: PLC0415

    check_text(data)
    try:
        text = data.decode("utf-8-sig")
        if text.lstrip().startswith("<"):
            return onnx.parser.parse_model(text)
        proto: onnx.ModelProto = text_format.Parse(text, onnx.ModelProto())
    except IndexError as error:
        raise ModelError("not a valid ONNX text: a number in it is too large") from error
    except (onnx.parser.ParseError, text_format.ParseError, RuntimeError, ValueError) as error:
        hint = "Text forms of ONNX are textproto and onnxtxt, as onnx.save_model writes them"
        raise ModelError(f"not a valid ONNX text: {_fault(error)}", hint=hint) from error
    return proto


def _fault(error: Exception) -> str:
    """The message of a parser, which may be bytes of several lines, without the text it quotes."""
    found = error.args[0] if error.args else ""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    lines = [line.strip() for line in text.splitlines() if not line.startswith("Error context")]
    return " ".join(filter(None, lines)).rstrip(".") or "it is not readable"
