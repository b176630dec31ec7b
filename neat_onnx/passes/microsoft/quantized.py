"""onnxruntime's operators on quantized tensors: dequantized, computed, and quantized again."""

from neat_onnx.model import DataType
from neat_onnx.passes.microsoft.call import (
    CONV,
    SIXTEEN_BITS,
    Call,
    QuantizationParameters,
    rewrites,
)

_POOL = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
_MAX_POOL = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")
_BY_AXIS = 13  # the opset since which Softmax is along one axis alone


def _result(call: Call, position: int) -> QuantizationParameters:
    """Scale and zero point of the result, which are inputs of the node from this position on."""
    return QuantizationParameters(call.input(position), call.input(position + 1))


@rewrites("QuantizeLinear")
def _quantize(call: Call) -> str | None:
    return call.quantized(call.input(0), _result(call, 1))


@rewrites("DequantizeLinear")
def _dequantize(call: Call) -> str | None:
    is_wide = call.type_of(call.input(0)) in (DataType.UINT16, DataType.INT16)
    return _wide_numbers(call) if is_wide and call.opset < SIXTEEN_BITS else call.numbers(0)


def _wide_numbers(call: Call) -> str | None:
    """The numbers that steps of 16 bits mean, in nodes of opsets that do not dequantize these."""
    steps, scale, zero = (call.input(position) for position in range(3))
    value, scales = call("Cast", steps, to=int(DataType.FLOAT)), call.tensor(scale)
    rank = call.rank(steps)
    if scales is None or rank is None:
        return None
    axis = call.given.get("axis", 1)
    several = scales.values.size != 1
    shape = call.integers(-1 if several and k == axis % rank else 1 for k in range(rank))
    if zero:
        offset = call("Cast", zero, to=int(DataType.FLOAT))
        value = call("Sub", value, call("Reshape", offset, shape))
    return call("Mul", value, call("Reshape", scale, shape))


@rewrites("QLinearAdd", "QLinearMul")
def _binary(call: Call) -> str | None:
    operator = call.node.op_type.removeprefix("QLinear")
    value = call(operator, call.numbers(0), call.numbers(3))
    return call.quantized_with_zero(value, _result(call, 6), call.input(0))


@rewrites("QLinearSigmoid", "QLinearLeakyRelu")
def _unary(call: Call) -> str | None:
    operator = call.node.op_type.removeprefix("QLinear")
    value = call(operator, call.numbers(0), **call.options("alpha"))
    return call.quantized(value, _result(call, 3), call.input(0))


@rewrites("QLinearAveragePool")
def _average_pool(call: Call) -> str | None:
    pooled = _channels_first(call, "AveragePool", [call.numbers(0)], _POOL)
    return pooled and call.quantized_with_zero(pooled, _result(call, 3), call.input(0))


@rewrites("QLinearGlobalAveragePool")
def _global_average_pool(call: Call) -> str | None:
    pooled = _channels_first(call, "GlobalAveragePool", [call.numbers(0)], ())
    return pooled and call.quantized(pooled, _result(call, 3), call.input(0))


@rewrites("QLinearConcat")
def _concat(call: Call) -> str | None:
    values = [call.numbers(position) for position in range(2, len(call.node.input), 3)]
    joined = call("Concat", *values, **call.options("axis"))
    return call.quantized(joined, _result(call, 0), call.input(2))


@rewrites("QLinearWhere")
def _where(call: Call) -> str | None:
    chosen = call("Where", call.input(0), call.numbers(1), call.numbers(4))
    return call.quantized(chosen, _result(call, 7), call.input(1))


@rewrites("QLinearSoftmax")
def _softmax(call: Call) -> str | None:
    """Softmax along one axis, or, in the form of old opsets, along all axes from one on.

    The result is in steps of which a whole number make one: 254, where the scale is a little more
    than 1/255.
    """
    axis, rank = call.given.get("axis", -1), call.rank(call.input(0))
    value, result = call.numbers(0), _result(call, 3)
    if call.given.get("opset", 0) >= _BY_AXIS or axis == -1 or axis + 1 == rank:
        soft = call("Softmax", value, axis=axis)
    else:
        flat = call("Softmax", call("Flatten", value, axis=axis), axis=-1)
        soft = call("Reshape", flat, call("Shape", value))
    steps = call("Mul", soft, call("Floor", call("Reciprocal", result.scale)))
    return call.quantized(steps, result._replace(scale=call.constant(1.0)), call.input(0))


@rewrites("QLinearConv")
def _conv(call: Call) -> str | None:
    return _channels_first(call, "QLinearConv", call.node.input, CONV)


@rewrites("NhwcMaxPool")
def _max_pool(call: Call) -> str | None:
    call.given["channels_last"] = 1
    return _channels_first(call, "MaxPool", call.node.input, _MAX_POOL)


@rewrites("MatMulIntegerToFloat")
def _matmul(call: Call) -> str | None:
    product = call("MatMulInteger", *(call.input(at) for at in (0, 1, 4, 5)))
    return _scaled(call, product, call.input(2), call.input(3), call.input(6))


@rewrites("DynamicQuantizeMatMul")
def _dynamic_matmul(call: Call) -> str | None:
    steps, scale, zero = call.several("DynamicQuantizeLinear", call.input(0), count=3)
    product = call("MatMulInteger", steps, call.input(1), zero, call.input(3))
    return _scaled(call, product, scale, call.input(2), call.input(4))


def _scaled(call: Call, product: str, one: str, other: str, bias: str) -> str:
    """A product of integers times both scales, plus a bias if there is one."""
    numbers = call("Cast", product, to=int(DataType.FLOAT))
    scaled = call("Mul", numbers, call("Mul", one, other))
    return call("Add", scaled, bias) if bias else scaled


def _channels_first(
    call: Call, operator: str, reads: list[str], attributes: tuple[str, ...]
) -> str | None:
    """Emit a spatial operator, between Transposes where the channels are the last axis."""
    given = call.options(*attributes)
    if not call.given.get("channels_last"):
        return call(operator, *reads, **given)
    rank = call.rank(call.input(0))
    if rank is None:
        return None
    first = call("Transpose", reads[0], perm=[0, rank - 1, *range(1, rank - 1)])
    result = call(operator, first, *reads[1:], **given)
    return call("Transpose", result, perm=[0, *range(2, rank), 1])
