"""Kinds of operators, by what becomes of the elements that they read."""

MOVING = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose"}
    | {"Unsqueeze"}
)
"""Operators whose results have elements of their first input, and no others."""
CHOOSING = MOVING | {
    *("ArrayFeatureExtractor", "Clip", "Compress", "Concat", "DepthToSpace", "Expand"),
    *("GatherElements", "GatherND", "GlobalMaxPool", "Max", "MaxPool", "Min", "ReduceMax"),
    *("ReduceMin", "ReverseSequence", "SpaceToDepth", "Tile", "TopK", "Where"),
}
"""Operators whose results have elements of their inputs, and no others."""
EXACT = CHOOSING | {
    *("Abs", "And", "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr"),
    *("BitwiseXor", "CenterCropPad", "ConstantOfShape", "Equal", "EyeLike", "Greater"),
    *("GreaterOrEqual", "Hardmax", "IsInf", "IsNaN", "Less", "LessOrEqual", "Neg", "Not", "OneHot"),
    *("Or", "Pad", "Relu", "ScatterElements", "ScatterND", "Shape", "Sign", "Trilu", "Xor"),
}
"""Operators that round nothing."""
ELEMENTWISE = frozenset(
    {
        *("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Cast", "Ceil"),
        *("Clip", "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Greater"),
        *("GreaterOrEqual", "HardSigmoid", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Log"),
        *("Max", "Mean", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Pow", "Reciprocal", "Relu"),
        *("Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub"),
        *("Sum", "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor", "Gelu", "HardSwish", "Mish"),
    }
)
"""Operators that make an element of one element of each input, which broadcast to each other."""
