"""Mistakes that people make in JSON ONNX: each a change of one right document.

Each has the place of the change, the value put there (None takes the key away), the path that a
validator should name, and what it should say was expected.
"""

import copy
from typing import Any, NamedTuple

Path = tuple[str | int, ...]


class Mistake(NamedTuple):
    place: Path
    value: Any
    where: str
    expected: str


GEMM = ("graph", "node", 0)
CONV = ("graph", "node", 1)
CONCAT = ("graph", "node", 2)
W0 = ("graph", "initializer", 0)
INPUT = ("graph", "inputs", 0)
TYPES = "'FLOAT', 'INT', 'STRING'"
DIM = (*INPUT, "type", "tensor_type", "shape", "dim", 1)


def _named(name: str, sizes: list[Any]) -> dict[str, Any]:
    dims = [{"dim_param": size} if isinstance(size, str) else {"dim_value": size} for size in sizes]
    return {"name": name, "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": dims}}}}


def _node(op_type: str, reads: str, gives: str, attribute: dict[str, Any]) -> dict[str, Any]:
    node = {"op_type": op_type, "input": reads.split(), "output": [gives]}
    return {**node, "attributes": [attribute]}


RIGHT: dict[str, Any] = {
    "ir_version": 8,
    "opset_import": [{"domain": "", "version": 18}],
    "metadata_props": [{"key": "author", "value": "me"}],
    "graph": {
        "name": "example",
        "inputs": [_named("x", ["N", 2]), _named("image", ["N", 1, 4, 4])],
        "outputs": [_named("y", ["N", 2]), _named("picture", ["N", 2, 2, 2])],
        "initializer": [
            {"name": "W0", "data_type": 1, "dims": [1, 2], "float_data": [0.5, -0.25]},
            {"name": "K", "data_type": 1, "dims": [1, 1, 3, 3], "float_data": [0.5] * 9},
        ],
        "node": [
            _node("Gemm", "x W0", "h", {"name": "transB", "type": "INT", "i": 1}),
            _node("Conv", "image K", "c", {"name": "strides", "type": "INTS", "ints": [1, 1]}),
            _node("Concat", "h h", "y", {"name": "axis", "type": "INT", "i": 1}),
            {"op_type": "Tanh", "input": ["c"], "output": ["t"]},
            _node("Concat", "t t", "picture", {"name": "axis", "type": "INT", "i": 1}),
            {"op_type": "Celu", "input": ["y"], "output": ["z"]},
            {**_node("Mine", "z", "z2", {"name": "a", "type": "FLOATS", "floats": [1.0]}),
             "domain": "com.example"},
        ],
    },
}  # fmt: skip

MISTAKES: dict[str, Mistake] = {
    "no graph": Mistake(("graph",), None, "", "'graph' is a required property"),
    "a misspelt key": Mistake(("opsetimport",), [], "", "'opsetimport' was unexpected"),
    "a version as text": Mistake(("ir_version",), "8", "ir_version", "not of type 'integer'"),
    "an opset as a number": Mistake(("opset_import",), 18, "opset_import", "not of type 'array'"),
    "an opset without a version": Mistake(
        ("opset_import",), [{"domain": ""}], "opset_import[0]", "'version' is a required"
    ),
    "metadata as an object": Mistake(
        ("metadata_props",), {"author": "me"}, "metadata_props", "not of type 'array'"
    ),
    "a number in the metadata": Mistake(
        ("metadata_props", 0, "value"), 1, "metadata_props[0].value", "not of type 'string'"
    ),
    "no outputs": Mistake(("graph", "outputs"), None, "graph", "'outputs' is a required property"),
    "`nodes` for `node`": Mistake(("graph", "nodes"), [], "graph", "'nodes' was unexpected"),
    "an input without a name": Mistake(
        (*INPUT, "name"), None, "graph.inputs[0]", "'name' is a required property"
    ),
    "an input without a type": Mistake(
        (*INPUT, "type"), None, "graph.inputs[0]", "'type' is a required property"
    ),
    "an element type by name": Mistake(
        (*INPUT, "type", "tensor_type", "elem_type"), "float32",
        "graph.inputs[0].type.tensor_type.elem_type", "'float32' is not one of [1,",
    ),
    "an unknown element type": Mistake(
        (*INPUT, "type", "tensor_type", "elem_type"), 99,
        "graph.inputs[0].type.tensor_type.elem_type", "99 is not one of [1,",
    ),
    "a shape as a list": Mistake(
        (*INPUT, "type", "tensor_type", "shape"), ["N", 2],
        "graph.inputs[0].type.tensor_type.shape", "not of type 'object'",
    ),
    "a size as a number": Mistake(
        DIM, 2, "graph.inputs[0].type.tensor_type.shape.dim[1]", "not of type 'object'"
    ),
    "a negative size": Mistake(
        (*DIM, "dim_value"), -1, "graph.inputs[0].type.tensor_type.shape.dim[1].dim_value",
        "less than the minimum of 0",
    ),
    "a size and a symbol": Mistake(
        (*DIM, "dim_param"), "M", "graph.inputs[0].type.tensor_type.shape.dim[1]",
        "has too many properties",
    ),
    "an initializer without a name": Mistake(
        (*W0, "name"), None, "graph.initializer[0]", "'name' is a required property"
    ),
    "an initializer without a type": Mistake(
        (*W0, "data_type"), None, "graph.initializer[0]", "'data_type' is a required property"
    ),
    "`shape` for `dims`": Mistake(
        (*W0, "shape"), [1, 2], "graph.initializer[0]",
        "'shape' is not one of ['name', 'data_type', 'dims', 'float_data']",
    ),
    "a fraction as a size": Mistake(
        (*W0, "dims", 0), 1.5, "graph.initializer[0].dims[0]", "not of type 'integer'"
    ),
    "numbers under another type": Mistake(
        (*W0, "data_type"), 7, "graph.initializer[0]",
        "'float_data' is not one of ['name', 'data_type', 'dims', 'int64_data']",
    ),
    "null among numbers": Mistake(
        (*W0, "float_data", 1), None, "graph.initializer[0].float_data[1]", "not of type 'number'"
    ),
    "text among numbers": Mistake(
        (*W0, "float_data", 1), "0.5", "graph.initializer[0].float_data[1]",
        "not one of ['NaN', 'Infinity', '-Infinity']",
    ),
    "base64 and numbers": Mistake(
        (*W0, "raw_data"), "AAAA", "graph.initializer[0]",
        "'float_data' is not one of ['name', 'data_type', 'dims', 'raw_data']",
    ),
    "a node without an operator": Mistake(
        (*GEMM, "op_type"), None, "graph.node[0]", "'op_type' is a required property"
    ),
    "a misspelt operator": Mistake(
        (*GEMM, "op_type"), "Gem", "graph.node[0].op_type", "'Gem' is not one of ['Abs',"
    ),
    "`inputs` for `input`": Mistake(
        (*GEMM, "inputs"), ["x"], "graph.node[0]", "'inputs' was unexpected"
    ),
    "one tensor in place of a list": Mistake(
        (*GEMM, "input"), "x", "graph.node[0].input", "not of type 'array'"
    ),
    "too few inputs": Mistake((*GEMM, "input"), ["x"], "graph.node[0].input", "is too short"),
    "too many outputs": Mistake(
        (*GEMM, "output"), ["h", "i"], "graph.node[0].output", "is too long"
    ),
    "attributes as an object": Mistake(
        (*GEMM, "attributes"), {"transB": 1}, "graph.node[0].attributes", "not of type 'array'"
    ),
    "a misspelt attribute": Mistake(
        (*GEMM, "attributes", 0, "name"), "transb", "graph.node[0].attributes[0].name",
        "'transb' is not one of ['alpha', 'beta', 'transA', 'transB']",
    ),
    "a misspelt type": Mistake(
        (*GEMM, "attributes", 0, "type"), "INTT", "graph.node[0].attributes[0].type",
        f"'INTT' is not one of [{TYPES}",
    ),
    "an attribute without a value": Mistake(
        (*GEMM, "attributes", 0, "i"), None, "graph.node[0].attributes[0]",
        "'i' is a required property",
    ),
    "an attribute of another type": Mistake(
        (*GEMM, "attributes", 0), {"name": "alpha", "type": "INT", "i": 1},
        "graph.node[0].attributes[0].type", "'FLOAT' was expected",
    ),
    "an attribute's value as text": Mistake(
        (*CONV, "attributes", 0, "ints"), "1, 1", "graph.node[1].attributes[0].ints",
        "not of type 'array'",
    ),
    "a value that an attribute never has": Mistake(
        (*GEMM, "attributes", 0, "i"), 2, "graph.node[0].attributes[0].i", "not one of [0, 1]"
    ),
    "an attribute too many": Mistake(
        ("graph", "node", 3, "attributes"), [{"name": "alpha", "type": "FLOAT", "f": 1.0}],
        "graph.node[3].attributes", "is expected to be empty",
    ),
    "an attribute that is missing": Mistake(
        (*CONCAT, "attributes"), None, "graph.node[2]", "'attributes' is a required property"
    ),
}  # fmt: skip


def with_mistake(mistake: Mistake) -> dict[str, Any]:
    """The right document with a mistake."""
    document = target = copy.deepcopy(RIGHT)
    *way, last = mistake.place
    for step in way:
        target = target[step]  # type: ignore[index]
    if mistake.value is None and isinstance(last, str):
        del target[last]
    else:
        target[last] = mistake.value  # type: ignore[index]
    return document
