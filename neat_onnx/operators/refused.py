"""Operators that no network computes, and what to do instead."""

from collections.abc import Iterator

_CHANCE = (
    "A network draws nothing at random. Import the tensors before the chance, by their names in "
    "outputs=[…], or make the random numbers an input of the graph"
)
_COUNT = (
    "How many elements there are depends on the inputs, and neurons are fixed: leave this step out "
    "of the model, or import the tensors before it, by their names in outputs=[…]"
)
_TRAINING = "It is a step of training: import the model that is trained"
_SEQUENCES = (
    "Sequences and optionals are no tensors: stack the tensors, or import those before it, by "
    "their names in outputs=[…]"
)
_TEXTS = "Texts are no numbers: encode them outside of the model"
_QUANTIZED = "Import the model from before it was quantized"
_QCDQ = "Export it in the form QCDQ, with QuantizeLinear and DequantizeLinear"
_TABLE = {
    _CHANCE: "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    _COUNT: "NonMaxSuppression",
    _TRAINING: "Adagrad Adam Gradient Momentum SoftmaxCrossEntropyLossGrad",
    _SEQUENCES: (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt "
        "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap "
        "SplitToSequence CastMap DictVectorizer"
    ),
    _TEXTS: (
        "CategoryMapper RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer "
        "ImageDecoder"
    ),
    _QUANTIZED: "DynamicQuantizeLSTM MatMulBnb4 MatMulNBits QAttention",
    _QCDQ: "BipolarQuant FloatQuant Quant",
}


def _pairs() -> Iterator[tuple[str, str]]:
    for reason, names in _TABLE.items():
        yield from ((name, reason) for name in names.split())


REFUSED = dict(_pairs())
"""What to do, by the name of an operator."""
