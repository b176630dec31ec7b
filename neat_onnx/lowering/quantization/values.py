"""Values as uint8: QuantizeLinear and DequantizeLinear around every Gemm.

Runtimes that find a Gemm between them compute it in integers (QGemm, QLinearMatMul):

    X ─ Q ─ DQ ─┐
    W int8 ─ DQ ┼─ Gemm ─ Q ─ DQ ─
    B int32 ─ DQ ┘                     scale of B = scale of X · scale of W

A tensor that several nodes read is quantized once.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from neat_onnx.lowering.quantization.weights import constant, dequantized, scales
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.draft import Draft, with_inputs
from neat_onnx.model.wiring import without_dead

Range = tuple[float, float]
_STEPS = 255
_MAX_BIAS_STEPS = 2**30  # of int32, with room for the sum


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
            read = with_inputs(node, [self._names.get(name, name) for name in node.input])
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
        size = scales(matrix, 0, np.abs(row) / (step * _MAX_BIAS_STEPS))
        draft.nodes.append(dequantized(draft, weights, matrix, size, 0))
        product = (step * size).astype(np.float32).astype(np.float64)
        parts = [
            constant(draft, f"{bias}_quantized", np.rint(row / product), DataType.INT32),
            constant(draft, f"{bias}_scale", product, DataType.FLOAT),
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
            constant(draft, f"{measured}_scale", scale, DataType.FLOAT),
            constant(draft, f"{measured}_zero", zero, DataType.UINT8),
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
