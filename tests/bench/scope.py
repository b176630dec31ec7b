"""Which of ONNX's backend cases neurons can compute at all: a rule on the model, no list of names.

A graph is in scope if all its nodes are of the families below, every shape is static, nothing in it
is random, and its tensors are of real numbers, integers or truth values.
"""

import re
from collections.abc import Iterator

import onnx
from onnx import TensorProto

FAMILIES = {
    "affine maps": """
        Gemm MatMul Einsum Conv ConvTranspose CausalConvWithState AveragePool GlobalAveragePool
        BatchNormalization Resize Upsample Add Sub Neg Identity Cast CastLike Dropout Constant
        ConstantOfShape""",
    "functions of one number": """
        Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu
        HardSigmoid HardSwish LeakyRelu Log Mish PRelu Reciprocal Relu Round Selu Shrink Sigmoid
        Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu""",
    "products and quotients": "Mul Div Pow Mod ReduceProd CumProd SwiGLU RotaryEmbedding",
    "min and max": """
        Min Max MaxPool GlobalMaxPool ReduceMin ReduceMax ArgMin ArgMax Hardmax TopK""",
    "sums": """
        Sum Mean CumSum ReduceSum ReduceMean ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum
        ReduceLogSumExp LpPool NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss""",
    "comparisons": """
        Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor Not Where IsNaN IsInf""",
    "rearrangements": """
        Concat Split Slice Gather GatherElements GatherND Scatter ScatterElements ScatterND Reshape
        Flatten Transpose Squeeze Unsqueeze Expand Tile Pad DepthToSpace SpaceToDepth Trilu
        CenterCropPad ReverseSequence Shape Size""",
    "norms": """
        LayerNormalization RMSNormalization InstanceNormalization GroupNormalization
        LpNormalization LRN MeanVarianceNormalization""",
    "softmax": "Softmax LogSoftmax Attention",
    "recurrences": "RNN LSTM GRU",
}
OPERATORS = frozenset(name for names in FAMILIES.values() for name in names.split())
_NUMBER = re.compile("B?FLOAT16|FLOAT|DOUBLE|U?INT(8|16|32|64)|BOOL")
NUMBERS = {kind for name, kind in TensorProto.DataType.items() if _NUMBER.fullmatch(name)}


def is_in_scope(model: onnx.ModelProto) -> bool:
    """Whether neurons can compute a model: its operators, shapes and types are all of a kind."""
    graph = model.graph
    nodes = [*graph.node, *(node for function in model.functions for node in function.node)]
    own = {function.name for function in model.functions}
    return (
        all(_is_known(node, own) for node in nodes)
        and not any(_trains(node) for node in nodes)
        and all(_is_static(entry) for entry in (*graph.input, *graph.output))
        and all(kind in NUMBERS for kind in _types(graph))
    )


def _is_known(node: onnx.NodeProto, own: set[str]) -> bool:
    """Whether a node is of the families, or calls a function of the model."""
    return node.op_type in own or (node.domain in ("", "ai.onnx") and node.op_type in OPERATORS)


def _trains(node: onnx.NodeProto) -> bool:
    """Whether it draws numbers, or has outputs for training."""
    if node.op_type == "Dropout":
        return len(node.input) > 2 and bool(node.input[2])
    return any(attribute.name == "training_mode" and attribute.i for attribute in node.attribute)


def _is_static(entry: onnx.ValueInfoProto) -> bool:
    """Whether an input or output is a tensor whose sizes are all given."""
    tensor = entry.type.tensor_type
    if not entry.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return False
    return all(size.HasField("dim_value") and size.dim_value > 0 for size in tensor.shape.dim)


def _types(graph: onnx.GraphProto) -> Iterator[int]:
    """The element types of its inputs, outputs and constants, and those it casts to."""
    for entry in (*graph.input, *graph.output):
        yield entry.type.tensor_type.elem_type
    for tensor in graph.initializer:
        yield tensor.data_type
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to":
                yield attribute.i
            elif attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t.data_type
