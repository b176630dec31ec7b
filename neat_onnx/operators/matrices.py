"""Products of matrices."""

import math
from functools import partial

import numpy as np

from neat_onnx.lifting.neurons import Tensor, matmul, moved
from neat_onnx.lifting.operator import operator, refuse


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
    """Sums of products by letters of axes, two tensors at a time."""
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
    pairs = list(tensors)
    while len(pairs) > 1:
        rest = result + "".join(each for _, each in pairs[2:])
        pairs[:2] = [_contracted(pairs[0], pairs[1], rest)]
    x, each = _summed(*pairs[0], result)
    return x.transpose([each.index(k) for k in result])


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


def _summed(x: Tensor, labels: str, kept: str) -> tuple[Tensor, str]:
    axes = tuple(p for p, k in enumerate(labels) if k not in kept)
    return (x.sum(axis=axes) if axes else x), "".join(k for k in labels if k in kept)


def _contracted(
    one: tuple[Tensor, str], other: tuple[Tensor, str], rest: str
) -> tuple[Tensor, str]:
    """The product of two tensors, summed over the letters that nobody else reads."""
    a, left = _summed(*one, other[1] + rest)
    b, right = _summed(*other, left + rest)
    batch = [k for k in left if k in right and k in rest]
    inner = [k for k in left if k in right and k not in rest]
    rows = [k for k in left if k not in right]
    columns = [k for k in right if k not in left]
    size = dict(zip(left, a.shape, strict=True))
    for k, d in zip(right, b.shape, strict=True):
        size[k] = max(d, size.get(k, 1))

    def folded(x: Tensor, labels: str, groups: list[list[str]]) -> Tensor:
        x = x.transpose([labels.index(k) for group in groups for k in group])
        sizes = [size[k] if k in labels else 1 for group in groups[:1] for k in group]
        return x.reshape(*sizes, *(math.prod(size[k] for k in group) for group in groups[1:]))

    found = matmul(folded(a, left, [batch, rows, inner]), folded(b, right, [batch, inner, columns]))
    order = [*batch, *rows, *columns]
    return found.reshape(tuple(size[k] for k in order)), "".join(order)
