"""Products of matrices."""

from neat_onnx.tracing.neurons import Tensor, matmul
from neat_onnx.tracing.operator import operator


@operator("MatMul")
def product(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b)


@operator("Gemm")
def gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0,
    transA: bool = False, transB: bool = False, broadcast: int = 1,
) -> Tensor:  # fmt: skip
    """alpha · A · B + beta · C; the factors belong to the weights."""
    b = b.T if transB else b
    y = matmul(a.T if transA else a, b * alpha if alpha != 1.0 else b)
    return y if c is None else y + (c * beta if beta != 1.0 else c)
