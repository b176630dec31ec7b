"""model_schema: the JSON Schema of the documents that `Model.to_json` writes.

It knows our spelling only (`inputs`, `outputs`, `attributes`): `load_model` reads more. Besides
shapes that a schema can state, a document must hold together (`validate`).
"""

from typing import Any

from neat_onnx.model.attributes import Attributes, AttributeType
from neat_onnx.model.data_type import DataType
from neat_onnx.model.model import Model
from neat_onnx.model.node import OWN_DOMAIN, Node, node_classes
from neat_onnx.model.tensor import DATA_FIELDS, SPARSE_TYPES

Schema = dict[str, Any]

_ID = "https://neat-onnx.github.io/schema/model.schema.json"
_TENSOR = {"$ref": "#/$defs/Tensor"}
_NAMES: Schema = {"type": "array", "items": {"type": "string"}}


def _example_value(name: str) -> Schema:
    shape = {"dim": [{"dim_param": "N"}, {"dim_value": 2}]}
    return {
        "name": name,
        "type": {"tensor_type": {"elem_type": int(DataType.FLOAT), "shape": shape}},
    }


_EXAMPLE: Schema = {
    "ir_version": 8,
    "opset_import": [{"version": 18}],
    "graph": {
        "name": "dense",
        "inputs": [_example_value("input")],
        "outputs": [_example_value("output")],
        "initializer": [
            {"name": "W0", "data_type": 1, "dims": [2, 2], "float_data": [0.1, -0.2, 0.3, 0.4]},
            {"name": "B0", "data_type": 1, "dims": [2], "float_data": [0.5, -0.0]},
        ],
        "node": [
            {
                "op_type": "Gemm",
                "name": "gemm_l1",
                "input": ["input", "W0", "B0"],
                "output": ["output"],
                "attributes": [{"name": "transB", "type": "INT", "i": 1}],
            }
        ],
    },
}


def model_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a model, with every operator registered so far."""
    schema = _tidy(Model.model_json_schema(ref_template="#/$defs/{model}"))
    definitions: Schema = schema.pop("$defs")
    definitions["Dim"]["not"] = {"required": ["dim_value", "dim_param"]}
    definitions["Tensor"] = _tensor(definitions["Tensor"])
    definitions["Graph"]["properties"]["initializer"]["items"] = {
        **_TENSOR,
        "type": "object",
        "required": ["name"],
    }
    del definitions["Attributes"]
    operators = node_classes()
    definitions["Node"] = {
        "description": "One application of an operator to tensors, all of them by name.",
        "oneOf": [
            *({"$ref": f"#/$defs/{op_type}Node"} for op_type in operators),
            {"$ref": "#/$defs/FunctionCall"},
        ],
    }
    definitions["FunctionCall"] = _call()
    definitions |= {f"{op_type}Node": _node(kind) for op_type, kind in operators.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID,
        **schema,
        "title": "JSON ONNX model",
        "examples": [_EXAMPLE],
        "$defs": dict(sorted(definitions.items())),
    }


def _tensor(schema: Schema) -> Schema:
    """Adds the numbers: each type under its own key, or raw_data for all, or sparse for floats."""
    whole = {"type": "array", "items": {"type": "integer"}}
    texts = {"enum": ["NaN", "Infinity", "-Infinity"]}
    real = {"type": "array", "items": {"anyOf": [{"type": "number"}, texts]}}
    numbers: Schema = {"float_data": real, "double_data": real, "int64_data": whole}
    numbers["int32_data"] = numbers["uint64_data"] = whole
    raw = {
        "type": "string",
        "contentEncoding": "base64",
        "description": "The numbers as little-endian ONNX elements.",
    }
    floats = {"enum": [int(data_type) for data_type in SPARSE_TYPES]}
    exclusive: list[Schema] = [
        {
            "if": {"properties": {"data_type": {"const": int(data_type)}}},
            "then": {"properties": {key: False for key in numbers if key != field}},
        }
        for data_type, field in DATA_FIELDS.items()
    ]
    alone = dict.fromkeys(numbers, False)
    exclusive += [
        {"if": {"required": ["raw_data"]}, "then": {"properties": {**alone, "sparse": False}}},
        {"if": {"required": ["sparse"]}, "then": {"properties": {**alone, "data_type": floats}}},
    ]
    return {
        **schema,
        "properties": {**schema["properties"], **numbers, "raw_data": raw, "sparse": _sparse()},
        "allOf": exclusive,
    }


def _sparse() -> Schema:
    position = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    return {
        "type": "object",
        "description": "A tensor of mostly zeros, as those of its values that are not 0.0.",
        "properties": {
            "coordinates": {
                "type": "array",
                "items": position,
                "description": "The position of each value along each of the dims; none twice.",
            },
            "values": {
                "type": "array",
                "items": {"type": "number"},
                "description": "As many as there are coordinates.",
            },
        },
        "required": ["coordinates", "values"],
        "additionalProperties": False,
    }


def _node(kind: type[Node]) -> Schema:
    domain = kind.model_fields["domain"].default
    return {
        "title": kind.__name__,
        "description": f"ONNX operator {kind.__name__}, in this form since opset {kind.since}.",
        "type": "object",
        "properties": {
            "op_type": {"const": kind.__name__},
            "name": {"type": "string", "description": "The node's own name, for people."},
            "domain": {"enum": [domain] if domain else ["", "ai.onnx"]},
            "input": {**_NAMES, **_arity(kind.inputs)},
            "output": {**_NAMES, **_arity(kind.outputs)},
            "attributes": _attributes(kind.model_fields["attributes"].annotation),
        },
        "required": ["op_type", "input", "output"],
        "additionalProperties": False,
    }


def _call() -> Schema:
    return {
        "description": "A call of a function of the model: `op_type` is its name.",
        "type": "object",
        "properties": {
            "op_type": {"type": "string"},
            "name": {"type": "string", "description": "The node's own name, for people."},
            "domain": {"const": OWN_DOMAIN},
            "input": _NAMES,
            "output": _NAMES,
        },
        "required": ["op_type", "domain", "input", "output"],
        "additionalProperties": False,
    }


def _arity(bounds: tuple[int, int | None]) -> Schema:
    least, most = bounds
    return {"minItems": least} if most is None else {"minItems": least, "maxItems": most}


def _attributes(kind: Any) -> Schema:
    """ONNX's list of attributes, each with its type and the values it may have."""
    assert issubclass(kind, Attributes)
    types = kind.types()
    if not types:
        return {"type": "array", "maxItems": 0}
    fields = _tidy(kind.model_json_schema(ref_template="#/$defs/{model}"))["properties"]
    schema: Schema = {
        "type": "array",
        "maxItems": len(types),
        "items": {
            "oneOf": [_attribute(name, type_, fields[name]) for name, type_ in types.items()]
        },
    }
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    if required:
        schema["allOf"] = [
            {"contains": {"type": "object", "properties": {"name": {"const": name}}}}
            for name in required
        ]
    return schema


def _attribute(name: str, kind: AttributeType, value: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {
            "name": {"const": name},
            "type": {"const": kind.name},
            kind.key: _TENSOR if kind is AttributeType.TENSOR else value,
        },
        "required": ["name", "type", kind.key],
        "additionalProperties": False,
    }


def _tidy(schema: Any, named: bool = False) -> Any:
    """Without pydantic's additions for Python: null for absent fields, titles made of names.

    `named` says that the keys of `schema` are names of ours, not keywords.
    """
    if isinstance(schema, list):
        return [_tidy(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if not named and {"type": "null"} in schema.get("anyOf", ()):
        (only,) = (option for option in schema["anyOf"] if option != {"type": "null"})
        schema = {**schema, **only}
        del schema["anyOf"]
    if not named and isinstance(schema.get("description"), str):
        first_paragraph = schema["description"].split("\n\n")[0]
        schema = {**schema, "description": " ".join(first_paragraph.split())}
    dropped = () if named else ("title", *(["default"] if schema.get("default", 0) is None else []))
    return {
        key: _tidy(value, named=not named and key in ("properties", "$defs"))
        for key, value in schema.items()
        if key not in dropped
    }
