"""Protobuf's own JSON of a model, as `onnx.load_model(format="json")` and Netron read it.

Against the default spelling, which NeatapticTS reads: names are in camelCase (`opType`,
`dataType`), a graph has `input` and `output`, a node has `attribute`, integers of 64 bits are
decimal strings, and an attribute's text is base64. Numbers stay numbers, in `floatData`,
`doubleData`, `int64Data` and `int32Data`: base64 of tensors is not read everywhere.
"""

import base64
import re
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

Spelling = Literal["neat_onnx", "protobuf"]

_UNDERSCORE = re.compile(r"_([a-z])")
_RENAMED = {"inputs": "input", "outputs": "output", "attributes": "attribute"}
_DEFAULT_IR, _DEFAULT_OPSET = 8, 18


def protobuf_document(document: dict[str, Any]) -> dict[str, Any]:
    """Respell a model's document.

    Args:
        document: the document of `Model.to_document`; tensors may hold arrays.

    Returns:
        The same model in protobuf's JSON, with the versions and the graph's name, which ONNX wants.
    """
    versions = {"ir_version": _DEFAULT_IR, "opset_import": [{"version": _DEFAULT_OPSET}]}
    return _object({**versions, **document}, _MODEL)


def _graph(document: dict[str, Any]) -> dict[str, Any]:
    return _object({**document, "name": document.get("name") or "graph"}, _GRAPH)


def _object(document: dict[str, Any], known: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """`document` with camelCase keys; the values under `known` keys are respelt too."""
    return {
        _official(key): known[key](value) if key in known else value
        for key, value in document.items()
    }


def _official(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), _RENAMED.get(name, name))


def _each(respell: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [respell(value) for value in values]


def _of(known: dict[str, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    return lambda document: _object(document, known)


def _text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _node(document: dict[str, Any]) -> dict[str, Any]:
    respelt = _object(document, _NODE)
    return {key: value for key, value in respelt.items() if value not in ([], "")}


def _integers(values: Any) -> list[str]:
    return [str(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]


_TENSOR: dict[str, Callable[[Any], Any]] = {"dims": _integers, "int64_data": _integers}
_DIM: dict[str, Callable[[Any], Any]] = {"dim_value": str}
_SHAPE = {"dim": _each(_of(_DIM))}
_VALUE = {"type": _of({"tensor_type": _of({"shape": _of(_SHAPE)})})}
_ATTRIBUTE: dict[str, Callable[[Any], Any]] = {
    "i": str,
    "ints": _integers,
    "s": _text,
    "strings": _each(_text),
    "t": _of(_TENSOR),
    "g": _graph,
}
_NODE = {"attributes": _each(_of(_ATTRIBUTE))}
_GRAPH: dict[str, Callable[[Any], Any]] = {
    "inputs": _each(_of(_VALUE)),
    "outputs": _each(_of(_VALUE)),
    "initializer": _each(_of(_TENSOR)),
    "node": _each(_node),
}
_VERSIONS = _each(_of({"version": str}))
_MODEL: dict[str, Callable[[Any], Any]] = {
    "ir_version": str,
    "opset_import": _VERSIONS,
    "graph": _graph,
    "functions": _each(_of({"opset_import": _VERSIONS, "node": _each(_node)})),
}
