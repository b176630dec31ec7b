"""model_schema: the JSON Schema of the documents that `Model.to_json` writes.

It knows our spelling only (`inputs`, `outputs`, `attributes`): `load_model` reads more. Besides
shapes that a schema can state, a document must hold together (`validate`).
"""

from typing import Any

from neat_onnx.model.data_type import DataType
from neat_onnx.model.model import Model
from neat_onnx.model.node_schema import Schema, attribute_schema, node_schema
from neat_onnx.model.tensor import DATA_FIELDS, SPARSE_TYPES
from neat_onnx.schema_links import LINK, schema_id

_TENSOR = {"$ref": "#/$defs/Tensor"}


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
    """The JSON Schema (draft 2020-12) of a model."""
    schema = _tidy(Model.model_json_schema(ref_template="#/$defs/{model}"))
    definitions: Schema = schema.pop("$defs")
    definitions["Dim"]["maxProperties"] = 1
    definitions["Tensor"] = _tensor(definitions["Tensor"])
    definitions["Graph"]["properties"]["initializer"]["items"] = {
        **_TENSOR,
        "type": "object",
        "required": ["name"],
        "properties": {"name": True},
    }
    del definitions["Attributes"]
    definitions["Attribute"] = attribute_schema(_TENSOR, {"$ref": "#/$defs/Graph"})
    definitions["Node"] = node_schema({"$ref": "#/$defs/Attribute"})
    schema["properties"] = {"$schema": LINK, **schema["properties"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("model"),
        **schema,
        "title": "JSON ONNX model",
        "examples": [_EXAMPLE],
        "$defs": dict(sorted(definitions.items())),
    }


def _tensor(schema: Schema) -> Schema:
    """Adds the numbers: each type under its own key, or raw_data for all, or sparse for floats."""
    whole = {"type": "array", "items": {"type": "integer"}}
    number_or_text = {
        "if": {"type": "string"},
        "then": {"enum": ["NaN", "Infinity", "-Infinity"]},
        "else": {"type": "number"},
    }
    real = {"type": "array", "items": number_or_text}
    numbers: Schema = {"float_data": real, "double_data": real, "int64_data": whole}
    numbers["int32_data"] = numbers["uint64_data"] = whole
    raw = {
        "type": "string",
        "contentEncoding": "base64",
        "description": "The numbers as little-endian ONNX elements.",
    }
    return {
        **schema,
        "properties": {**schema["properties"], **numbers, "raw_data": raw, "sparse": _sparse()},
        "allOf": _one_of_the_numbers(),
    }


def _one_of_the_numbers() -> list[Schema]:
    """Rules by which a tensor has its numbers under one key alone, that of its type."""
    fields: dict[str, list[int]] = {}
    for data_type, field in DATA_FIELDS.items():
        fields.setdefault(field, []).append(int(data_type))

    def only(field: str, condition: Schema, **then: Schema) -> Schema:
        names = {"enum": ["name", "data_type", "dims", field]}
        first = next(iter(condition))
        condition = {"properties": condition, "required": [first]}
        return {"if": condition, "then": {"propertyNames": names, **then}}

    by_type = [
        only(field, {"data_type": {"enum": types}, "raw_data": False, "sparse": False})
        for field, types in fields.items()
    ]
    floats = {"data_type": {"enum": [int(data_type) for data_type in SPARSE_TYPES]}}
    return [
        *by_type,
        only("raw_data", {"raw_data": True}),
        only("sparse", {"sparse": True}, properties=floats),
    ]


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
