"""The ways out for operators that no neurons compute, and no function lifts."""

from neat_onnx.lifting.registry import never_lifted

_HINTS = {
    "Import the model from before it was quantized": (
        "DynamicQuantizeLSTM",
        "MatMulBnb4",
        "MatMulNBits",
        "QAttention",
    ),
    "Export it in the form QCDQ, with QuantizeLinear and DequantizeLinear": (
        "BipolarQuant",
        "FloatQuant",
        "Quant",
    ),
    "It is a step of training: import the model that is trained": (
        "Adagrad",
        "Adam",
        "Gradient",
        "Momentum",
    ),
    "Neurons are fixed, and how many tensors this sequence has is not known: as where a loop that "
    "appends to it goes through inputs of no fixed size, or ends by a computed condition": (
        "ConcatFromSequence",
        "SequenceAt",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceInsert",
        "SequenceLength",
        "SplitToSequence",
    ),
}

for _hint, _operators in _HINTS.items():
    for _operator in _operators:
        never_lifted(_operator, _hint)
