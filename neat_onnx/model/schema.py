"""model_schema: the JSON Schema of the documents that `Model.to_json` writes.

It knows our spelling only (`inputs`, `outputs`, `attributes`): `load_model` reads more. Besides
shapes that a schema can state, a document must hold together (`validate`).

A node has one plain shape for all operators, and rules for those often written. A rule is an `if`
on `op_type` with its `then`. A validator that tries alternatives (`oneOf`) tells of every operator
that a node is not; with rules it tells of the one thing that is wrong, where it stands. Operators
without a rule are plain nodes.
"""

from typing import Any

from neat_onnx.model.attributes import Attributes, AttributeType
from neat_onnx.model.data_type import DataType
from neat_onnx.model.model import Model
from neat_onnx.model.node import Node, node_class, node_classes
from neat_onnx.model.tensor import DATA_FIELDS
from neat_onnx.schema_links import headed

Schema = dict[str, Any]

_TENSOR = {"$ref": "#/$defs/Tensor"}


_SHAPE = {"dim": [{"dim_param": "N"}, {"dim_value": 2}]}
_TYPE_OF_A_VALUE: Schema = {"tensor_type": {"elem_type": int(DataType.FLOAT), "shape": _SHAPE}}
_EXAMPLE: Schema = {
    "ir_version": 8,
    "opset_import": [{"version": 18}],
    "graph": {
        "name": "dense",
        "inputs": [{"name": "input", "type": _TYPE_OF_A_VALUE}],
        "outputs": [{"name": "output", "type": _TYPE_OF_A_VALUE}],
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
    definitions["AttributeType"] = {
        "description": "The type of an attribute, by ONNX's name.",
        "enum": [kind.name for kind in AttributeType],
    }
    definitions["Attribute"] = _attribute()
    definitions["Node"] = _node()
    whole = headed(schema, "model", "JSON ONNX model", [_EXAMPLE])
    return whole | {"$defs": dict(sorted(definitions.items()))}


def _tensor(schema: Schema) -> Schema:
    """Add the numbers: under one key alone, that of their type, or raw_data for all types."""
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
    del schema["additionalProperties"]  # the rules have the names
    conditions: dict[str, Schema] = {"raw_data": {"raw_data": True}}
    for field in numbers:
        types = [int(data_type) for data_type, key in DATA_FIELDS.items() if key == field]
        conditions[field] = {"data_type": {"enum": types}, "raw_data": False}
    rules = [
        {
            "if": {"properties": condition, "required": [next(iter(condition))]},
            "then": {"propertyNames": {"enum": ["name", "data_type", "dims", field]}},
        }
        for field, condition in conditions.items()
    ]
    return {
        **schema,
        "properties": {**schema["properties"], **numbers, "raw_data": raw},
        "allOf": rules,
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


TYPED = (
    "Abs", "Add", "ArgMax", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat",
    "Constant", "Conv", "Div", "Elu", "Equal", "Exp", "Flatten", "GRU", "Gather",
    "GatherElements", "Gemm", "GlobalAveragePool", "Greater", "HardSigmoid", "Identity", "LSTM",
    "LeakyRelu", "MatMul", "MaxPool", "Mul", "Neg", "RNN", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceSum", "Relu", "Reshape", "Scan", "Selu", "Sigmoid", "Sin", "Slice", "Softmax",
    "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "TopK", "Transpose",
    "Unsqueeze", "Where",
)  # fmt: skip
"""The operators that have rules: those that export and seed models write most."""

_OWN_DOMAIN = {"enum": ["", "ai.onnx"]}
_NAMES: Schema = {"type": "array", "items": {"type": "string"}}
_TYPE: Schema = {"$ref": "#/$defs/AttributeType"}


def _attribute() -> Schema:
    """The schema of an attribute of any operator, whose type says under which key its value is."""
    number, whole, text = ({"type": kind} for kind in ("number", "integer", "string"))
    values: dict[AttributeType, Schema] = {
        AttributeType.FLOAT: number,
        AttributeType.INT: whole,
        AttributeType.STRING: text,
        AttributeType.TENSOR: _TENSOR,
        AttributeType.GRAPH: {"$ref": "#/$defs/Graph"},
        AttributeType.FLOATS: {"type": "array", "items": number},
        AttributeType.INTS: {"type": "array", "items": whole},
        AttributeType.STRINGS: {"type": "array", "items": text},
    }
    return {
        "description": "An attribute: its name, its type, and its value under the type's key.",
        "type": "object",
        "properties": {
            "name": text,
            "type": _TYPE,
            **{kind.key: value for kind, value in values.items()},
        },
        "required": ["name", "type"],
        "additionalProperties": False,
        "maxProperties": 3,
        "allOf": [_rule({"type": {"const": kind.name}}, {kind.key: True}) for kind in values],
    }


def _node() -> Schema:
    """The schema of a node: one plain shape for all operators, and rules for those in TYPED."""
    return {
        "description": "One application of an operator to tensors, all of them by name.",
        "type": "object",
        "properties": {
            "op_type": {"type": "string", "description": "The operator."},
            "name": {"type": "string", "description": "The node's own name, for people."},
            "domain": {"type": "string", "description": "The operator's domain; '' is ONNX's own."},
            "input": {**_NAMES, "description": "The tensors it reads; '' for one left out."},
            "output": {**_NAMES, "description": "The tensors it gives."},
            "attributes": {"type": "array", "items": {"$ref": "#/$defs/Attribute"}},
        },
        "required": ["op_type", "input", "output"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"domain": _OWN_DOMAIN}},
                "then": {"properties": {"op_type": {"enum": _names_of_onnx()}}},
            },
            *(_node_rule(node_class(op_type)) for op_type in TYPED),
        ],
    }


def _rule(condition: Schema, then: Schema) -> Schema:
    """`condition` on properties that are there, and properties that have to be there then."""
    return {
        "if": {"properties": condition, "required": list(condition)},
        "then": {"properties": then, "required": list(then)},
    }


def _names_of_onnx() -> list[str]:
    """The operators of ONNX's own domain, and those that are registered here."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    known = {schema.name for schema in defs.get_all_schemas() if schema.domain == ""}
    own = {name for name, kind in node_classes().items() if not kind.model_fields["domain"].default}
    return sorted(known | own)


def _node_rule(kind: type[Node]) -> Schema:
    domain = kind.model_fields["domain"].default
    attributes = _attributes_rule(kind.model_fields["attributes"].annotation)
    then: Schema = {
        "title": f"{kind.__name__}, in this form since opset {kind.since}",
        "properties": {
            "input": {"type": "array", **_arity(kind.inputs)},
            "output": {"type": "array", **_arity(kind.outputs)},
            "attributes": attributes,
        },
    }
    if "contains" in attributes or "allOf" in attributes:
        then["required"] = ["attributes"]
    condition = {
        "op_type": {"const": kind.__name__},
        "domain": {"const": domain} if domain else _OWN_DOMAIN,
    }
    return {"if": {"properties": condition, "required": ["op_type"]}, "then": then}


def _arity(bounds: tuple[int, int | None]) -> Schema:
    least, most = bounds
    return {"minItems": least} if most is None else {"minItems": least, "maxItems": most}


def _attributes_rule(kind: Any) -> Schema:
    """The names that a list of attributes may have, the type of each, and the values it may have.

    The types themselves are the business of the schema of all attributes.
    """
    assert issubclass(kind, Attributes)
    types = kind.types()
    if not types:
        return {"type": "array", "maxItems": 0}
    fields = kind.model_json_schema()["properties"]
    items: Schema = {
        "type": "object",
        "properties": {"name": {"enum": list(types)}},
        "allOf": [
            _attribute_rule(name, type_, _values_of(fields[name])) for name, type_ in types.items()
        ],
    }
    found: Schema = {"type": "array", "items": items}
    needed = [name for name, field in kind.model_fields.items() if field.is_required()]
    holds = [
        {"contains": {"type": "object", "properties": {"name": {"const": name}}}} for name in needed
    ]
    return {**found, **(holds[0] if len(holds) == 1 else {"allOf": holds} if holds else {})}


def _attribute_rule(name: str, kind: AttributeType, values: Schema | bool) -> Schema:
    """A rule of an attribute whose type is one: what is none is told already."""
    then = {"type": {"const": kind.name}, **({} if values is True else {kind.key: values})}
    rule = _rule({"name": {"const": name}, "type": _TYPE}, then)
    return {**rule, "then": {"properties": then}}


def _values_of(field: Schema) -> Schema | bool:
    """The restrictions of a value beyond its type."""
    options = [each for each in field.get("anyOf", [field]) if each != {"type": "null"}]
    value = options[0]
    if "const" in value or "enum" in value:
        return {"enum": value.get("enum", [value.get("const")])}
    inner = value.get("items", {})
    if "enum" in inner or "const" in inner:
        allowed = {"enum": inner.get("enum", [inner.get("const")])}
        return {"type": "array", "items": allowed}
    limits = {key: value[key] for key in ("minimum", "exclusiveMinimum", "maximum") if key in value}
    return {"type": value["type"], **limits} if limits else True
