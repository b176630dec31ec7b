"""Operators that no network computes, and what to do instead."""

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
_QDQ = (
    "Write it with QuantizeLinear and DequantizeLinear (QuantFormat.QDQ, in Brevitas QCDQ) and "
    "without onnxruntime's rewrites, or import the model from before it was quantized"
)
_REWRITTEN = "Save the model without onnxruntime's rewrites (ORT_DISABLE_ALL)"
_KERNELS = "Train a linear model, trees or a perceptron in place of support vectors"
_TREES = "Convert it for an older ai.onnx.ml, as target_opset={'ai.onnx.ml': 3} of skl2onnx does"
_PLACES = (
    "Where it reads depends on inputs, as only Gather and GatherElements may: leave the step out "
    "of the model, or import the tensors before it, by their names in outputs=[…]"
)
_JOIN = "Write it as Concat of the inputs, or as inputs of their own"
_MATRIX = "Write it as MatMul with a constant matrix"
_ARITHMETIC = "Write it as products and sums of elements"
_TABLE = {
    _CHANCE: "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    _COUNT: "NonMaxSuppression Unique",
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
    _QDQ: (
        "BipolarQuant FloatQuant Quant QLinearAdd QLinearMul QLinearSigmoid QLinearLeakyRelu "
        "QLinearSoftmax QLinearWhere QLinearConcat QLinearAveragePool QLinearGlobalAveragePool "
        "QGemm MatMulIntegerToFloat DynamicQuantizeMatMul"
    ),
    _REWRITTEN: (
        "CDist NhwcMaxPool TransposeMatMul SkipLayerNormalization SkipSimplifiedLayerNormalization"
    ),
    _KERNELS: "SVMClassifier SVMRegressor",
    _TREES: "TreeEnsemble",
    _PLACES: "GridSample RoiAlign MaxRoiPool MaxUnpool DeformConv",
    _JOIN: "FeatureVectorizer",
    _MATRIX: "DFT STFT Col2Im",
    _ARITHMETIC: "Det",
}

REFUSED = {name: reason for reason, names in _TABLE.items() for name in names.split()}
"""What to do, by the name of an operator."""
