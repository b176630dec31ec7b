"""Constants in fewer bytes, with nodes that give them back bit for bit.

Small integers are int8, uint8 or uint16 and cast; a number that fills a tensor is expanded; of few
numbers that stand many times each is written once, and gathered; integers with one step between
neighbours are a Range; a number in a triangle, as masks are, is cut out of a tensor of it. Runtimes
fold these nodes as they load a model. They are written where they save a tenth of it.
"""

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.file_sizes import FileSizes
from neat_onnx.passes.draft import Draft
from neat_onnx.short_form.triangles import SINCE as TRIANGLES_SINCE
from neat_onnx.short_form.triangles import Triangle, triangle_of

_MAX_SHARE_OF_BYTES = 0.9
_BYTES_PER_NODE = 40  # and initializer, roughly
_BYTES = {
    DataType.FLOAT: 4,
    DataType.DOUBLE: 8,
    DataType.INT64: 8,
    DataType.INT32: 4,
    DataType.BOOL: 1,
}
_SMALL = {  # types of one or two bytes: how many, the least and the largest number
    DataType.UINT8: (1, 0, 255),
    DataType.INT8: (1, -128, 127),
    DataType.UINT16: (2, 0, 65_535),
}
_MAX_VALUES = 64  # that are gathered
_EXACT = 1 << 24  # the least integer that float32 cannot add 1 to


def packed(model: Model) -> Model:
    """The model with its constants in fewer bytes, if that makes it smaller by a tenth."""
    draft = Draft(model)
    for tensor in model.graph.initializer:
        if tensor.data_type in _BYTES and tensor.size > 1:
            draft.nodes += _shorter(draft, tensor)
    if not draft.nodes:
        return model
    found = draft.finished([*draft.nodes, *model.graph.node])
    measured = FileSizes(model)
    small = measured.of(found) <= _MAX_SHARE_OF_BYTES * measured.of(model)
    return found if small else model


def _shorter(draft: Draft, tensor: Tensor) -> list[Node]:
    """Nodes that make a tensor of fewer bytes, which they add to the draft; none if it is short."""
    whole, width = tensor.size * _BYTES[tensor.data_type], _BYTES[tensor.data_type]
    bits, kind = _bits(tensor), _small_type(tensor)
    values, which = np.unique(bits, return_inverse=True)
    costs = {
        _expanded: 2 * _BYTES_PER_NODE + width if len(values) == 1 else whole,
        _cast: _BYTES_PER_NODE + tensor.size * _SMALL[kind][0] if kind else whole,
        _gathered: 3 * _BYTES_PER_NODE + tensor.size + width * len(values)
        if len(values) <= _MAX_VALUES
        else whole,
        _ranged: 2 * _BYTES_PER_NODE + 3 * width if _is_range(tensor) else whole,
        _cut: 4 * _BYTES_PER_NODE + width if _triangle(draft, tensor) else whole,
    }
    best = min(costs, key=lambda each: costs[each])
    if costs[best] >= whole:
        return []
    del draft.tensors[tensor.name]
    return best(draft, tensor, which.reshape(tensor.dims))


def _bits(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The elements as integers: -0.0 is not 0.0."""
    values = tensor.values.ravel()
    found: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = (
        values.astype(np.int64) if values.dtype.kind == "b" else values.view(np.int64)
    )
    return found


def _small_type(tensor: Tensor) -> DataType | None:
    """The type of one or two bytes that holds all values of a tensor, if there is one."""
    values = tensor.values
    if not np.all(np.isfinite(values)) or np.any(values != np.round(values)):
        return None
    if _has_negative_zero(values):
        return None
    for kind, (_, least, largest) in _SMALL.items():
        if least <= values.min() and values.max() <= largest:
            return kind
    return None


def _has_negative_zero(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool(np.any(np.signbit(values) & (values == 0.0)))


def _is_range(tensor: Tensor) -> bool:
    """Whether a list is of integers with one step between neighbours."""
    values = tensor.values
    if len(tensor.dims) != 1 or not np.all(np.isfinite(values)) or _has_negative_zero(values):
        return False
    steps = np.diff(values)
    whole = np.all((values == np.round(values)) & (np.abs(values) < _EXACT))
    return bool(whole and steps[0] != 0 and np.all(steps == steps[0]))


def _triangle(draft: Draft, tensor: Tensor) -> Triangle | None:
    """The triangle of a matrix that has one number there, and 0 elsewhere."""
    values = tensor.values
    if len(np.unique(values[values != 0])) != 1 or _has_negative_zero(values):
        return None
    has_operator = draft.model.opset >= TRIANGLES_SINCE
    return triangle_of(values.reshape(tensor.dims) != 0) if has_operator else None


def _cast(draft: Draft, tensor: Tensor, which: np.ndarray) -> list[Node]:
    kind = _small_type(tensor)
    assert kind is not None
    small = draft.constant(tensor.name, tensor.values.astype(np.int64), kind)
    return [draft.node("Cast", [small], [tensor.name], to=int(tensor.data_type))]


def _expanded(draft: Draft, tensor: Tensor, which: np.ndarray) -> list[Node]:
    one = draft.constant(tensor.name, tensor.values.ravel()[:1], tensor.data_type)
    shape = draft.constant(tensor.name, list(tensor.dims))
    return [draft.node("Expand", [one, shape], [tensor.name])]


def _gathered(draft: Draft, tensor: Tensor, which: np.ndarray) -> list[Node]:
    first = np.unique(_bits(tensor), return_index=True)[1]
    values = Tensor.of("", tensor.values.ravel()[first], tensor.data_type, infinite=True)
    named = draft.name(tensor.name)
    draft.tensors[named] = values.model_copy(update={"name": named})
    small = draft.constant(tensor.name, which.astype(np.int64), DataType.UINT8)
    at = draft.name(tensor.name)
    return [
        draft.node("Cast", [small], [at], to=int(DataType.INT32)),
        draft.node("Gather", [named, at], [tensor.name]),
    ]


def _ranged(draft: Draft, tensor: Tensor, which: np.ndarray) -> list[Node]:
    first, second, *_ = values = tensor.values.tolist()
    step = second - first
    given = (first, values[-1] + step, step)
    reads = [draft.constant(tensor.name, each, tensor.data_type) for each in given]
    return [draft.node("Range", reads, [tensor.name])]


def _cut(draft: Draft, tensor: Tensor, which: np.ndarray) -> list[Node]:
    triangle = _triangle(draft, tensor)
    assert triangle is not None
    given = tensor.values.ravel()
    one = draft.constant(tensor.name, given[given != 0][:1], tensor.data_type)
    shape = draft.constant(tensor.name, list(tensor.dims))
    reads = [draft.name(tensor.name), draft.constant(tensor.name, triangle.diagonal)]
    return [
        draft.node("Expand", [one, shape], [reads[0]]),
        draft.node("Trilu", reads, [tensor.name], upper=triangle.upper),
    ]
