"""Models from ONNX's own text, with random weights by their names."""

import re
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from neat_onnx import Model, load_model

End = tuple[str, str, list[Any]]


def read(text: str, *, opset: int = 18) -> Model:
    """The model of a text; see `proto_of`."""
    return load_model(proto_of(text, opset=opset))


def proto_of(text: str, *, opset: int = 18) -> onnx.ModelProto:
    """The model `(inputs) => (outputs) <constants> {nodes}`.

    A name like `W_4_3` that no node gives is an initializer of random normal numbers of that shape,
    `H_4_3` one of FLOAT16, and `i_1_2` are the integers 1 and 2.
    """
    head = f'<ir_version: {9 if opset > 18 else 8}, opset_import: ["": {opset}]> g '
    proto = onnx.parser.parse_model(head + text)
    made = {name for node in proto.graph.node for name in node.output}
    rng = np.random.default_rng(5)
    for name in dict.fromkeys(name for node in proto.graph.node for name in node.input):
        if name not in made and re.fullmatch(r"\w+?(_\d+)+", name):
            stem, *sizes = name.split("_")
            numbers = [int(size) for size in sizes]
            values = np.array(numbers) if stem == "i" else rng.normal(size=numbers)
            kind = {"i": np.int64, "H": np.float16}.get(stem, np.float32)
            proto.graph.initializer.append(numpy_helper.from_array(values.astype(kind), name))
    return proto


def ends(model: Model) -> list[End]:
    """Name, type and shape of inputs and outputs."""
    entries = (*model.graph.inputs, *model.graph.outputs)
    return [(each.name, each.elem_type.name, list(each.shape or ())) for each in entries]


def drawn(model: Model, rng: np.random.Generator, **lengths: int) -> dict[str, np.ndarray]:
    """A value for each input, axes by symbol of these lengths."""
    feed = {}
    for entry in model.graph.inputs:
        sizes = [size if isinstance(size, int) else lengths[size] for size in entry.shape or ()]
        kind = entry.elem_type.dtype
        whole = kind.kind in "iub"
        values = (
            rng.integers(0, 2 if kind.kind == "b" else 4, sizes)
            if whole
            else rng.normal(size=sizes)
        )
        feed[entry.name] = np.asarray(values).astype(kind)
    return feed
