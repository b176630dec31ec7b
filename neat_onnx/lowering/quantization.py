"""Models in integers of 8 bits: their weights, and the values of every Gemm.

Weights are int8, with a scale for each neuron, and a DequantizeLinear gives the matrix back.

The matrix keeps its name, so the nodes that read it stay as they are, in the bodies of loops too:

    W0 ≈ W0_scale[row] · W0_quantized,    W0_scale[row] = max |W0[row]| / 127

Values are uint8, between QuantizeLinear and DequantizeLinear; runtimes that find a Gemm between
them compute it in integers (QGemm, QLinearMatMul). A tensor that several nodes read is quantized
once.

    X ─ Q ─ DQ ─┐
    W int8 ─ DQ ┼─ Gemm ─ Q ─ DQ ─
    B int32 ─ DQ ┘                     scale of B = scale of X · scale of W
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from neat_onnx.model import DataType, Graph, Model, Node, Tensor
from neat_onnx.model.draft import Draft, copied
from neat_onnx.model.wiring import names_read, subgraphs, without_dead

Floats = npt.NDArray[np.float64]

Range = tuple[float, float]
_STEPS = 255
_MAX_BIAS_STEPS = 2**30  # of int32, with room for the sum
_MAX_INT8 = 127
_MIN_SCALE = float(np.finfo(np.float32).tiny)
_ROWS = {"Gemm": {1: 0}, "Conv": {1: 0}, "RNN": dict.fromkeys((1, 2), 1)}
_ROWS |= dict.fromkeys(("GRU", "LSTM"), _ROWS["RNN"])
"""For each operator, the inputs that are weights, and the axis of them that is the neuron."""


def quantize_weights(model: Model) -> Model:
    """The model with the weights of its Gemm, Conv, RNN, GRU and LSTM nodes in int8.

    A tensor that is read as anything else besides, or along another axis, stays as it is.
    """
    draft = Draft(model)
    as_weights = Counter(_weights(model.graph, draft))
    reads = Counter(names_read(model.graph))
    axes = {name: axis for (name, axis), count in as_weights.items() if count == reads[name]}
    for name, axis in axes.items():
        values = draft.tensors.pop(name).values
        scale = _scales(values, axis)
        draft.nodes.append(_dequantized(draft, name, values, scale, axis))
    return draft.finished([*draft.nodes, *model.graph.node]) if axes else model


def _weights(graph: Graph, draft: Draft) -> Iterator[tuple[str, int]]:
    """The initializers that are weights, each with the axis of its neurons; inner graphs too."""
    for node in graph.node:
        for position, axis in _ROWS.get(node.op_type, {}).items():
            name = node.input[position]
            if name in draft.tensors and draft.tensors[name].data_type is DataType.FLOAT:
                yield name, _column(node) if node.op_type == "Gemm" else axis
        for inner in subgraphs(node):
            yield from _weights(inner, draft)


def _column(gemm: Node) -> int:
    """The axis of a Gemm's weights that its output has."""
    given = gemm.given_attributes
    return 0 if given.get("transB") else 1


def _scales(values: Floats, axis: int, least: Floats | float = 0.0) -> Floats:
    """The step of int8 along an axis, in float32, `least` or more; 1 for zeros."""
    others = tuple(k for k in range(values.ndim) if k != axis)
    size = np.maximum(np.max(np.abs(values), axis=others) / _MAX_INT8, least)
    return np.where(size > _MIN_SCALE, size, 1.0).astype(np.float32).astype(np.float64)


def _dequantized(draft: Draft, name: str, values: Floats, scale: Floats, axis: int) -> Node:
    """Add weights as int8 to a draft, and return the node that gives them back under their name."""
    shape = [-1 if k == axis else 1 for k in range(values.ndim)]
    whole = np.clip(np.rint(values / scale.reshape(shape)), -_MAX_INT8, _MAX_INT8)
    parts = [
        _constant(draft, f"{name}_quantized", whole, DataType.INT8),
        _constant(draft, f"{name}_scale", scale, DataType.FLOAT),
        _constant(draft, f"{name}_zero", np.zeros(len(scale)), DataType.INT8),
    ]
    label = draft.node_name(f"dequantize_{name}")
    return draft.node("DequantizeLinear", parts, [name], name=label, axis=axis)


def _constant(draft: Draft, wish: str, values: npt.ArrayLike, data_type: DataType) -> str:
    """Add an initializer to a draft and return its name."""
    name = draft.name(wish)
    kind = np.int64 if data_type.is_integer else np.float64
    draft.tensors[name] = Tensor.of(name, np.asarray(values, kind), data_type)
    return name


# --- values --------------------------------------------------------------------------------------


def quantized_tensors(model: Model) -> list[str]:
    """Return the tensors that `quantize_values` quantizes: inputs and outputs of every Gemm."""
    names = [
        name
        for node in model.graph.node
        if _is_dense(node)
        for name in (node.input[0], *node.output)
    ]
    return list(dict.fromkeys(names))


def quantize_values(model: Model, ranges: Mapping[str, Range]) -> Model:
    """Return the model with its Gemms between QuantizeLinear and DequantizeLinear.

    Args:
        model: its Gemms have constant weights, `transB`, and neither alpha nor beta.
        ranges: the least and the largest value of each of `quantized_tensors`.
    """
    return _Quantizer(model, ranges).model()


class _Quantizer:
    """The nodes in the making, and the name of each tensor after it was quantized."""

    def __init__(self, model: Model, ranges: Mapping[str, Range]) -> None:
        self._draft, self._ranges = Draft(model), ranges
        self._names: dict[str, str] = {}
        self._reads = Counter(name for node in model.graph.node for name in node.input)

    def model(self) -> Model:
        for node in self._draft.model.graph.node:
            read = copied(node, input=[self._names.get(name, name) for name in node.input])
            if _is_dense(node):
                self._dense(node)
            else:
                self._draft.nodes.append(read)
        return without_dead(self._draft.finished())

    def _dense(self, node: Node) -> None:
        """Emit a Gemm with everything around it."""
        draft, (x, weights, bias) = self._draft, node.input
        source = self._names.get(x) or self._around(x, x)
        matrix, row = draft.tensors[weights].values, draft.tensors[bias].values
        weights, bias = self._own(weights), self._own(bias)
        step = self._step(x)[0]
        size = _scales(matrix, 0, np.abs(row) / (step * _MAX_BIAS_STEPS))
        draft.nodes.append(_dequantized(draft, weights, matrix, size, 0))
        product = (step * size).astype(np.float32).astype(np.float64)
        parts = [
            _constant(draft, f"{bias}_quantized", np.rint(row / product), DataType.INT32),
            _constant(draft, f"{bias}_scale", product, DataType.FLOAT),
        ]
        label = draft.node_name(f"dequantize_{bias}")
        draft.nodes.append(draft.node("DequantizeLinear", parts, [bias], name=label, axis=0))
        output = node.output[0]
        given = draft.name(f"{output}_float")
        draft.nodes.append(
            node.model_copy(update={"input": [source, weights, bias], "output": [given]})
        )
        self._names[output] = self._around(given, output, output)

    def _own(self, tensor: str) -> str:
        """The name for the rounded numbers of one Gemm: others may read the tensor as it is."""
        if self._reads[tensor] > 1:
            return self._draft.name(tensor)
        del self._draft.tensors[tensor]
        return tensor

    def _around(self, tensor: str, measured: str, wish: str = "") -> str:
        """Emit QuantizeLinear and DequantizeLinear of a tensor, and return the results.

        Args:
            measured: the tensor whose range it has.
            wish: the name to give, if it must be one.
        """
        draft = self._draft
        scale, zero = self._step(measured)
        parts = [
            _constant(draft, f"{measured}_scale", scale, DataType.FLOAT),
            _constant(draft, f"{measured}_zero", zero, DataType.UINT8),
        ]
        steps, given = draft.name(f"{measured}_quantized"), wish or draft.name(f"{measured}_uint8")
        for op_type, verb, read, gives in (
            ("QuantizeLinear", "quantize", tensor, steps),
            ("DequantizeLinear", "dequantize", steps, given),
        ):
            label = draft.node_name(f"{verb}_{measured}")
            draft.nodes.append(draft.node(op_type, [read, *parts], [gives], name=label))
        self._names[measured] = given
        return given

    def _step(self, tensor: str) -> tuple[float, int]:
        """The scale and the zero point of a tensor; 0 is one of its steps."""
        low, high = (f(0.0, each) for f, each in zip((min, max), self._ranges[tensor], strict=True))
        scale = float(np.float32((high - low) / _STEPS)) or 1.0
        return scale, int(np.clip(np.rint(-low / scale), 0, _STEPS))


def _is_dense(node: Node) -> bool:
    return node.op_type == "Gemm" and not node.domain
