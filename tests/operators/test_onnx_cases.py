"""Operators element by element, along axes and of layout: ONNX's own cases, as numbers and as
neurons.
"""

import pytest

from tests.lifting.harness import Case, cases_of, check

ELEMENTS = (
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Clip",
    "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater",
    "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Less", "LessOrEqual",
    "Log", "Max", "Mean", "Min", "Mish", "Mul", "Neg", "Not", "Or", "PRelu",
    "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
    "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor",
)  # fmt: skip
ALONG = (
    "Gemm", "MatMul", "Einsum", "GroupNormalization", "InstanceNormalization",
    "LayerNormalization", "LpNormalization", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax",
    "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip
LAYOUT = (
    "Concat", "Expand", "Flatten", "Pad", "Reshape", "Shape", "Size", "Slice", "Split", "Squeeze",
    "Transpose", "Unsqueeze",
)  # fmt: skip
_INFINITE = "bias is not a finite number"
REFUSED = {
    "test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal_expanded": _INFINITE,
    "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal_expanded": _INFINITE,
    "test_constant_pad": "constant_value is computed",
    "test_constant_pad_axes": "constant_value is computed",
    "test_constant_pad_negative_axes": "constant_value is computed",
    "test_range_float_type_positive_delta_expanded": "expected a number",
    "test_reduce_max_empty_set": "zero-size array",
    "test_reduce_min_empty_set": "zero-size array",
    "test_gradient_of_add": "operator Gradient",
    "test_gradient_of_add_and_mul": "operator Gradient",
}


@pytest.mark.parametrize("case", cases_of(*ELEMENTS, *ALONG, *LAYOUT, without=REFUSED), ids=str)
def test_as_numbers_and_as_neurons(case: Case):
    check(case)
