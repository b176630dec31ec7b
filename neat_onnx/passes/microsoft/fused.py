"""onnxruntime's operators that its optimizer fuses from several of ONNX's, in parts again."""

import math
from typing import Any

from neat_onnx.model.value import MAX_AXES
from neat_onnx.passes.microsoft.call import CONV, Call, rewrites

_PARAMETERS = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Selu": ("alpha", "gamma"),
    "ThresholdedRelu": ("alpha",),
    **dict.fromkeys(("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"), ()),
}
"""The attributes of each activation, in their order."""
_EPSILON = {"SimplifiedLayerNormalization": 1e-5}  # of the others: 1e-12


@rewrites("FusedGemm")
def _gemm(call: Call) -> str | None:
    """Gemm, then an activation with parameters of their own names."""
    given = call.options("alpha", "beta", "transA", "transB")
    dense = call("Gemm", *call.node.input, **given)
    name = call.given.get("activation", "")
    every = {key: call.given.get(f"activation_{key}") for key in ("alpha", "beta", "gamma")}
    if name and name not in _PARAMETERS:
        return None
    known: dict[str, Any] = {
        key: every[key] for key in _PARAMETERS.get(name, ()) if every[key] is not None
    }
    return call(name, dense, **known) if name else dense


@rewrites("FusedConv")
def _conv(call: Call) -> str | None:
    """Conv, plus a fourth input if there is one, then an activation with a list of parameters."""
    value = call("Conv", *(call.input(at) for at in range(3)), **call.options(*CONV))
    if call.input(3):
        value = call("Add", value, call.input(3))
    name, numbers = call.given.get("activation", ""), call.given.get("activation_params", [])
    if name == "Clip":
        return call("Clip", value, *(call.constant(each) for each in numbers))
    if name and name not in _PARAMETERS:
        return None
    known: dict[str, Any] = dict(zip(_PARAMETERS.get(name, ()), numbers, strict=False))
    return call(name, value, **known) if name else value


@rewrites("FusedMatMul", "TransposeMatMul")
def _matmul(call: Call) -> str | None:
    """MatMul of matrices that may be transposed, times a factor."""
    one, other = (_transposed(call, at, letter) for at, letter in enumerate("AB"))
    if one is None or other is None:
        return None
    product, alpha = call("MatMul", one, other), call.given.get("alpha", 1.0)
    return product if alpha == 1.0 else call("Mul", product, call.constant(alpha))


def _transposed(call: Call, position: int, letter: str) -> str | None:
    """An operand with its axes in order: a batch may stand between the axes of the matrix."""
    name = call.input(position)
    matrix, batch = (call.given.get(f"trans{kind}{letter}", 0) for kind in ("", "Batch"))
    rank = call.rank(name)
    if not matrix and not batch:
        return name
    if rank is None or rank < 2:
        return None if rank is None else name
    rows, columns = (0 if batch else rank - 2), rank - 1
    rest = [axis for axis in range(rank - 1) if axis != rows]
    return call("Transpose", name, perm=[*rest, *((columns, rows) if matrix else (rows, columns))])


@rewrites("Gelu", "BiasGelu")
def _gelu(call: Call) -> str | None:
    """x · Φ(x) by erf, of a sum if there is a bias."""
    x = _biased(call)
    wide = call("Erf", call("Div", x, call.constant(math.sqrt(2.0))))
    return call("Mul", call("Mul", x, call("Add", wide, call.constant(1.0))), call.constant(0.5))


@rewrites("FastGelu")
def _fast_gelu(call: Call) -> str | None:
    """x · Φ(x) approximated by tanh, of a sum if there is a bias."""
    x = _biased(call)
    cube = call("Mul", call("Mul", call("Mul", x, x), x), call.constant(0.044715))
    inner = call("Mul", call("Add", x, cube), call.constant(math.sqrt(2.0 / math.pi)))
    half = call("Mul", x, call.constant(0.5))
    return call("Mul", half, call("Add", call("Tanh", inner), call.constant(1.0)))


def _biased(call: Call) -> str:
    x, bias = call.input(0), call.input(1)
    return call("Add", x, bias) if bias else x


@rewrites("QuickGelu")
def _quick_gelu(call: Call) -> str | None:
    x, alpha = call.input(0), call.given.get("alpha", 1.702)
    inner = x if alpha == 1.0 else call("Mul", x, call.constant(alpha))
    return call("Mul", x, call("Sigmoid", inner))


@rewrites("CDist")
def _distances(call: Call) -> str | None:
    """The distance of each row of one matrix from each of another, or its square."""
    kind = call.given.get("metric", "sqeuclidean")
    if kind not in ("euclidean", "sqeuclidean"):
        return None
    rows, others = (call("Unsqueeze", call.input(at), call.integers([1 - at])) for at in (0, 1))
    squares = call("ReduceSumSquare", call("Sub", rows, others), call.integers([2]), keepdims=0)
    return call("Sqrt", squares) if kind == "euclidean" else squares


@rewrites("SkipLayerNormalization")
def _skip_layer_normalization(call: Call) -> str | None:
    total = _skipped(call, 4)
    gamma, beta, epsilon = call.input(2), call.input(3), call.given.get("epsilon", 1e-12)
    return total and call("LayerNormalization", total, gamma, beta, axis=-1, epsilon=epsilon)


@rewrites("SkipSimplifiedLayerNormalization")
def _skip_simplified(call: Call) -> str | None:
    total = _skipped(call, 3)
    return total and _root_mean_square(call, total, call.input(2), -1)


@rewrites("SimplifiedLayerNormalization")
def _simplified(call: Call) -> str | None:
    if call.output(1):
        return None
    axis = call.given.get("axis", -1)
    if axis >= 0:
        rank = call.rank(call.input(0))
        if rank is None:
            return None
        axis -= rank
    if not -MAX_AXES <= axis < 0:
        return None
    return _root_mean_square(call, call.input(0), call.input(1), axis)


def _skipped(call: Call, bias_at: int) -> str | None:
    """The sum of both inputs, and of a bias if there is one; the fourth output is this sum."""
    if call.output(1) or call.output(2):
        return None
    bias, total = call.input(bias_at), call.output(3)
    both = call("Add", call.input(0), call.input(1), gives="" if bias else total)
    return call("Add", both, bias, gives=total) if bias else both


def _root_mean_square(call: Call, x: str, gamma: str, axis: int) -> str:
    """x over the root of the mean of its squares along the axes from `axis` on, times gamma."""
    epsilon = call.given.get("epsilon", _EPSILON.get(call.node.op_type, 1e-12))
    axes = call.integers(range(axis, 0))
    mean = call("ReduceMean", call("Mul", x, x), axes, keepdims=1)
    root = call("Sqrt", call("Add", mean, call.constant(epsilon)))
    return call("Mul", call("Div", x, root), gamma)
