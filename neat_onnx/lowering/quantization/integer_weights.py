"""Weights that are steps of 8 bits, written as those: a quarter of the size, and the same numbers.

    W0 = (W0_quantized - W0_zero) · W0_scale,    as float32 has this product, bit for bit

Weights that are of 16 bits are cast from their type: half of the size.

Models that others quantized have such weights; random ones never are. The scale is one for the
tensor, or one along an axis. Cast, Sub and Mul give the weights back, and not DequantizeLinear:
onnx's reference evaluator has that from opset 19 on, and onnxruntime rewrites a MatMul that reads
one to round its other input too.
"""

import numpy as np

from neat_onnx.lowering.quantization.scales import QuantizedNumbers, quantized
from neat_onnx.lowering.quantization.weights import constant
from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.draft import Draft

_MAX_ELEMENTS = 1 << 22  # of a tensor
_MIN_BYTES_SAVED = 512
_BYTES_OF_NAMES = 256  # of the nodes and initializers, roughly
_MIN_WEIGHTS_PER_SCALE = 4  # on average, to be no coincidence
_NODES_COMPUTED = 3  # by an import, for a tensor
_MAX_ELEMENTS_OF_ALL = 1 << 23  # such nodes: half of those that an import may compute


def integer_weights(model: Model) -> Model:
    """The model with the weights that are steps of 8 bits as int8 or uint8."""
    draft, left = Draft(model), _MAX_ELEMENTS_OF_ALL
    for tensor in model.graph.initializer:
        computed = _NODES_COMPUTED * tensor.size
        if tensor.data_type is not DataType.FLOAT or tensor.size > _MAX_ELEMENTS or computed > left:
            continue
        numbers = _worthwhile(tensor)
        if numbers is None and (kind := _half(tensor)):
            numbers = QuantizedNumbers(tensor.values, kind, np.zeros(()), np.ones(()))
        if numbers is not None:
            left -= computed
            del draft.tensors[tensor.name]
            draft.nodes += _nodes(draft, tensor.name, numbers)
    return draft.finished([*draft.nodes, *model.graph.node]) if draft.nodes else model


def _worthwhile(tensor: Tensor) -> QuantizedNumbers | None:
    """The numbers of a tensor as integers, if that saves enough and is no coincidence."""
    values = tensor.values
    for axis in (None, *range(values.ndim)):
        scales = 1 if axis is None else values.shape[axis]
        if 3 * values.size - 4 * scales - _BYTES_OF_NAMES < _MIN_BYTES_SAVED:
            continue
        numbers = quantized(values, axis)
        if numbers is not None and np.count_nonzero(values) >= _MIN_WEIGHTS_PER_SCALE * scales:
            return numbers
    return None


def _half(tensor: Tensor) -> DataType | None:
    """The type of 16 bits that has all numbers of a tensor, if that saves enough."""
    if 2 * tensor.size - _BYTES_OF_NAMES < _MIN_BYTES_SAVED:
        return None
    values = tensor.values
    with np.errstate(over="ignore"):
        if np.array_equal(values, values.astype(np.float16)):
            return DataType.FLOAT16
    half = Tensor.of("", values, DataType.BFLOAT16, infinite=True).as_written
    return DataType.BFLOAT16 if np.array_equal(values, half) else None


def _nodes(draft: Draft, name: str, numbers: QuantizedNumbers) -> list[Node]:
    """The nodes that give a tensor of this name back; its parts are added to the draft."""
    nodes = [("Cast", constant(draft, f"{name}_quantized", numbers.stored, numbers.data_type))]
    if np.any(numbers.zero_point):
        nodes.append(("Sub", constant(draft, f"{name}_zero", numbers.zero_point, DataType.FLOAT)))
    if np.any(numbers.scale != 1.0):
        nodes.append(("Mul", constant(draft, f"{name}_scale", numbers.scale, DataType.FLOAT)))
    given = [draft.name(f"{name}_{op_type.lower()}") for op_type, _ in nodes[:-1]]
    made: list[Node] = []
    for (op_type, operand), before, after in zip(nodes, ["", *given], [*given, name], strict=True):
        reads = [before, operand] if before else [operand]
        attributes = {} if before else {"to": int(DataType.FLOAT)}
        label = draft.node_name(f"{op_type.lower()}_{name}")
        made.append(draft.node(op_type, reads, [after], name=label, **attributes))
    return made
