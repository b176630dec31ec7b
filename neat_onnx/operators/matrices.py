"""Products of matrices."""

from functools import partial, reduce

import numpy as np

from neat_onnx.lifting.neurons import Tensor, matmul, moved, multiply
from neat_onnx.lifting.operator import operator, refuse
from neat_onnx.model.budget import require_elements


@operator("MatMul")
def product(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b)


@operator("Gemm")
def gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0,
    transA: bool = False, transB: bool = False, broadcast: int = 1,
) -> Tensor:  # fmt: skip
    """alpha · A · B + beta · C; numbers of C are the biases of the neurons."""
    a, b = a.T if transA else a, b.T if transB else b
    if c is not None and c.ndim and c.shape[-1] not in (1, b.shape[-1]):
        raise refuse("C", f"of {c.shape[-1]} columns", f"{b.shape[-1]}")
    if c is None or alpha == beta:
        return matmul(a, b, c) * alpha
    return matmul(a, b) * alpha + c * beta


@operator("Einsum", since=12)
def einsum(*inputs: Tensor, equation: str) -> Tensor:
    """Sums of products by letters of axes."""
    given, _, wanted = equation.replace(" ", "").partition("->")
    labels = given.split(",")
    if len(labels) != len(inputs):
        raise refuse("equation", repr(equation), f"letters of {len(inputs)} inputs")
    letters = [_with_letters(each, x.ndim) for each, x in zip(labels, inputs, strict=True)]
    if "->" in equation:
        most = max(letters, key=lambda each: sum(not k.isascii() for k in each))
        result = wanted.replace("...", "".join(k for k in most if not k.isascii()))
    else:
        every = "".join(letters)
        hidden = "".join(sorted({k for k in every if not k.isascii()}))
        result = hidden + "".join(
            sorted(k for k in {*every} if k.isascii() and every.count(k) == 1)
        )
    tensors = [_diagonal(x, each) for x, each in zip(inputs, letters, strict=True)]
    axes = result + "".join(sorted({*"".join(each for _, each in tensors)} - {*result}))
    total = reduce(_times, (_aligned(x, each, axes) for x, each in tensors))
    return total.sum(axis=tuple(range(len(result), len(axes))))


def _aligned(x: Tensor, labels: str, axes: str) -> Tensor:
    """A tensor with an axis for each letter, of length 1 for those that it has not."""
    x = x.transpose([labels.index(k) for k in axes if k in labels])
    sizes = iter(x.shape)
    return x.reshape(tuple(next(sizes) if k in labels else 1 for k in axes))


def _times(a: Tensor, b: Tensor) -> Tensor:
    require_elements(*np.broadcast_shapes(a.shape, b.shape))
    return multiply(a, b)


_HIDDEN = [chr(0x3B1 + k) for k in range(20)]  # letters that no equation has


def _with_letters(labels: str, rank: int) -> str:
    """Letters for all axes; those of an ellipsis count from its end."""
    count = rank - len(labels.replace("...", ""))
    return labels.replace("...", "".join(_HIDDEN[:count][::-1]))


def _diagonal(x: Tensor, labels: str) -> tuple[Tensor, str]:
    """The elements of which axes with the same letter have the same place."""
    while repeated := [k for k in labels if labels.count(k) > 1]:
        first = labels.index(repeated[0])
        second = labels.index(repeated[0], first + 1)
        x = moved(x, partial(np.diagonal, axis1=first, axis2=second))
        labels = "".join(k for p, k in enumerate(labels) if p not in (first, second))
        labels += repeated[0]
    return x, labels
