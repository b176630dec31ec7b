"""Files as optimizers rewrite them: by onnxruntime, by onnx's version converter, and by hand as
onnxsim, onnxslim and onnxoptimizer do.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import numpy_helper, version_converter
from onnxruntime import GraphOptimizationLevel as Level
from support.harness.sessions import open_session

from neat_onnx import Model


def by_onnxruntime(model: Model, level: Level = Level.ORT_ENABLE_BASIC) -> bytes:
    """The file that a session of this level writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        settings = {"graph_optimization_level": level, "optimized_model_filepath": str(path)}
        open_session(model, **settings)
        return path.read_bytes()


def extended(model: Model) -> bytes:
    """The file with the nodes that onnxruntime fuses of several."""
    return by_onnxruntime(model, Level.ORT_ENABLE_EXTENDED)


def by_converter(model: Model, opset: int = 21) -> bytes:
    """The file in another opset."""
    return version_converter.convert_version(model.to_proto(), opset).SerializeToString()


def without_copies(model: Model) -> bytes:
    """The file without what changes no number: Identity, factors of 1, and zeros that are added.


    Outputs keep their names, and so the tensor that was copied into one has the output's.
    """
    proto = model.to_proto()
    numbers = _numbers(proto)
    for graph in list(_graphs(proto.graph)):
        for node in list(graph.node):
            neutral = {"Mul": 1.0, "Add": 0.0}.get(node.op_type)
            given = [name for name in node.input if neutral is None or numbers.get(name) != neutral]
            if node.op_type == "Identity" or (neutral is not None and len(given) == 1):
                _take_out(graph, node, given[0])
    return proto.SerializeToString()


def without_zeros(model: Model) -> bytes:
    """The file without zeros that are added, as by onnxslim: the sum's name stays."""
    proto = model.to_proto()
    numbers = _numbers(proto)
    for graph in list(_graphs(proto.graph)):
        made = {name for node in graph.node for name in node.output}
        made -= {entry.name for entry in graph.output}
        for node in list(graph.node):
            given = [name for name in node.input if numbers.get(name) != 0.0]
            if node.op_type == "Add" and len(given) == 1 and given[0] in made:
                graph.node.remove(node)
                _rename(graph, given[0], node.output[0])
    return proto.SerializeToString()


def without_twins(content: bytes) -> bytes:
    """The file with one node in place of several that are alike."""
    proto = onnx.load_from_string(content)
    wanted = {entry.name for entry in proto.graph.output}
    values = {tensor.name: tensor for tensor in proto.graph.initializer}
    first: dict[bytes, onnx.NodeProto] = {}
    for node in list(proto.graph.node):
        like = onnx.NodeProto()
        like.CopyFrom(node)
        like.ClearField("output")
        like.ClearField("name")
        like.input[:] = [_content(values[name]) if name in values else name for name in node.input]
        other = first.setdefault(like.SerializeToString(deterministic=True), node)
        if other is not node and wanted.isdisjoint(node.output):
            proto.graph.node.remove(node)
            for gone, stays in zip(node.output, other.output, strict=True):
                _rename(proto.graph, gone, stays)
    return proto.SerializeToString()


def _content(tensor: onnx.TensorProto) -> str:
    values = numpy_helper.to_array(tensor)
    return f"{values.dtype} {values.shape} {values.tobytes().hex()}"


def _numbers(proto: onnx.ModelProto) -> dict[str, float]:
    """The initializers that are one number."""
    return {
        tensor.name: values.item()
        for tensor in proto.graph.initializer
        if (values := numpy_helper.to_array(tensor)).size == 1 and values.dtype.kind == "f"
    }


def with_merged_factors(model: Model) -> bytes:
    """The file with one constant factor in place of two that follow one another, as by onnxsim."""
    proto = model.to_proto()
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    for graph in list(_graphs(proto.graph)):
        read = Counter(name for node in graph.node for name in node.input)
        read.update(entry.name for entry in graph.output)
        before: dict[str, tuple[onnx.NodeProto, str]] = {}
        for node in list(graph.node):
            factors = [name for name in node.input if name in values]
            if node.op_type != "Mul" or len(factors) != 1:
                continue
            (source,) = set(node.input) - set(factors)
            if source in before and read[source] == 1:
                inner, factor = before[source]
                merged = np.asarray(values[factor] * values[factors[0]])
                values[f"{source} merged"] = merged
                proto.graph.initializer.append(numpy_helper.from_array(merged, f"{source} merged"))
                inner.input[:] = [name for name in inner.input if name != factor]
                node.input[:] = [*inner.input, f"{source} merged"]
                graph.node.remove(inner)
                factors = [f"{source} merged"]
            before[node.output[0]] = node, factors[0]
    return proto.SerializeToString()


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _take_out(graph: onnx.GraphProto, node: onnx.NodeProto, given: str) -> None:
    """Take a copy of a node's output out, if it can be."""
    copy, outputs = node.output[0], {entry.name for entry in graph.output}
    made = {name for each in graph.node for name in each.output}
    if copy not in outputs:
        old, new = copy, given
    elif given in made and given not in outputs:
        old, new = given, copy
    else:
        return
    graph.node.remove(node)
    _rename(graph, old, new)


def _rename(graph: onnx.GraphProto, old: str, new: str) -> None:
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new if name == old else name for name in names]
