"""The spellings of JSON ONNX, brought to the one that the models read.

- **ours**, which NeatapticTS writes too: `graph.inputs`, `graph.outputs`, `node.attributes`.
- **official**, as `onnx.save_model(m, "m.json")` writes it: `graph.input`, `graph.output`,
  `node.attribute`; bytes (an attribute's `s`) are base64.
- **camelCase**, as protobuf's own JSON mapping writes it: the same with `opType`, `dataType`, …

They may be mixed. An attribute's `s` is base64 under `attribute`, and text under `attributes`.

Protobuf fields without effect on the outputs are dropped: `model_version`, `domain`,
`training_info` of a model, `value_info` and `quantization_annotation` of a graph, `doc_string` of
all but model and graph, `metadata_props` of all but the model, `denotation`, and the placement
hints. Every other unknown field is left in place, to be refused.
"""

import base64
import binascii
import re
from typing import Any

from neat_onnx.errors import ModelError
from neat_onnx.schema_links import LINK_KEY

_UPPER = re.compile(r"(?<=[a-z0-9])[A-Z]")
_NOTES = frozenset({"doc_string", "metadata_props", "denotation"})
_DROPPED = {
    "model": frozenset({LINK_KEY, "model_version", "domain", "training_info", "configuration"}),
    "graph": frozenset({"value_info", "quantization_annotation", "metadata_props"}),
    "node": _NOTES | {"overload", "device_configurations"},
    "attribute": _NOTES,
    "function": frozenset({"metadata_props", "value_info"}),
    "other": _NOTES,
}
_OURS = {
    "graph": {"input": "inputs", "output": "outputs"},
    "node": {"attribute": "attributes"},
    "function": {"input": "inputs", "output": "outputs"},
}


def canonical(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of a model's document in our spelling. Lists of numbers are not copied.

    Wrong values are left as they are, for the models to refuse.

    Raises:
        ModelError: a key is given in two spellings; text in base64 cannot be decoded.
    """
    model = _object(document, "model")
    model["graph"] = _graph(model.get("graph"), "graph")
    if isinstance(model.get("functions"), list):
        model["functions"] = [
            _function(function, f"functions[{at}]")
            for at, function in enumerate(model["functions"])
        ]
    return model


def _function(document: Any, where: str) -> Any:
    if not isinstance(document, dict):
        return document
    return _with_nodes(_object(document, "function", where), where)


def _graph(document: Any, where: str) -> Any:
    if not isinstance(document, dict):
        return document
    graph = _object(document, "graph", where)
    for key in ("inputs", "outputs", "initializer"):
        if key in graph:
            graph[key] = _deep(graph[key])
    return _with_nodes(graph, where)


def _with_nodes(part: dict[str, Any], where: str) -> dict[str, Any]:
    """A graph or a function, its nodes in our spelling."""
    if isinstance(part.get("node"), list):
        part["node"] = [_node(node, f"{where}.node[{at}]") for at, node in enumerate(part["node"])]
    return part


def _node(document: Any, where: str) -> Any:
    if not isinstance(document, dict):
        return document
    official = "attribute" in document
    node = _object(document, "node", where)
    if isinstance(node.get("attributes"), list):
        node["attributes"] = [_attribute(entry, official, where) for entry in node["attributes"]]
    return node


def _attribute(document: Any, official: bool, where: str) -> Any:
    if not isinstance(document, dict):
        return document
    entry = _object(document, "attribute", where)
    if "t" in entry:
        entry["t"] = _deep(entry["t"])
    if "g" in entry:
        entry["g"] = _graph(entry["g"], f"{where}.{entry.get('name')}")
    if official and isinstance(entry.get("s"), str):
        entry["s"] = _text(entry["s"], where)
    if official and isinstance(entry.get("strings"), list):
        entry["strings"] = [
            _text(text, where) if isinstance(text, str) else text for text in entry["strings"]
        ]
    return entry


def _text(encoded: str, where: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        raise ModelError(
            "an attribute's text is not base64",
            where=where,
            hint="Under 'attribute' text is base64, as protobuf writes it; use 'attributes'",
        ) from None


def _deep(value: Any) -> Any:
    """Tensors and value infos: the names at every depth."""
    if isinstance(value, dict):
        return {key: _deep(entry) for key, entry in _object(value, "other").items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_deep(entry) for entry in value]
    return value


def _object(document: dict[str, Any], message: str, where: str | None = None) -> dict[str, Any]:
    """`document` with our names for its keys, without the keys that are dropped."""
    renamed: dict[str, Any] = {}
    for key, value in document.items():
        name = _UPPER.sub(lambda upper: f"_{upper[0].lower()}", key)
        name = _OURS.get(message, {}).get(name, name)
        if name in renamed:
            raise ModelError(f"'{name}' is given in two spellings", where=where)
        if name not in _DROPPED[message]:
            renamed[name] = value
    return renamed
