"""Models of integers alone are compared to the last digit: rounding is no excuse."""

import numpy as np
import onnx
import pytest

from neat_onnx import ModelError, import_model, verify


def product(factor: int, after: str, kind: str = "float") -> onnx.ModelProto:
    """x [N, 1] of integers, times a factor, and what comes after it."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 18]> g (int64[N, 1] x) => ({kind}[N, 1] y)'
        f"<int64 k = {{{factor}}}, int64 d = {{1000}}> {{ m = Mul(x, k) {after} }}"
    )


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ("y = Identity(m)", "int64"),
        ("y = Mod(m, d)", "int64"),
        ("r = Mod(m, d) y = Cast<to = 1>(r)", "float"),
    ],
    ids=["product", "remainder", "remainder as numbers"],
)
def test_a_factor_that_float32_rounds_is_another(after, kind):
    made = product(50331651, after, kind)
    net = import_model(made)
    assert verify(net, made).verdict == "equal"
    report = verify(net, product(int(np.float32(50331651)), after, kind))
    assert not report.passed
    assert report.rounding is None


def test_numbers_that_are_rounded_to_float32_as_they_become_outputs_are_equal():
    made = product(50331651, "y = Cast<to = 1>(m)")
    assert verify(import_model(made), made).verdict == "equal"


def test_products_beyond_the_integers_of_float64_are_refused():
    with pytest.raises(ModelError, match="does not compute what the model does"):
        import_model(product(2**53 + 1, "y = Mod(m, d)", "int64"))


def test_numbers_that_are_computed_of_integers_are_compared_as_numbers():
    """As words are looked up and multiplied with weights: float32 rounds there."""
    made = product(1, "f = Cast<to = 1>(m) y = Sin(f)")
    report = verify(import_model(made), made)
    assert report.passed
    assert report.dtype == "float32"
