"""Take products by a constant matrix apart where only parts of them are read.

Keras computes all gates of a cell by one MatMul and takes the result apart. A gate with a product
of its own is one sum on import, which addends join.
"""

from collections.abc import Iterator
from itertools import pairwise, repeat
from typing import NamedTuple

from neat_onnx.model import Model, Node
from neat_onnx.passes.dense import is_dense, is_row
from neat_onnx.model.draft import Draft, is_one_of

_PARTING = ("Split", "Slice")
_END = 2**31 - 1  # and beyond: to the end of an axis


class _Part(NamedTuple):
    """Columns of a product, and the tensor that they become."""

    name: str
    columns: slice


def split_products(model: Model) -> Model:
    """The model with a MatMul [N, K] × [K, M] for each part of one that Split or Slice alone read.

    The Add of a constant row [M] between them is taken apart as well.
    """
    nodes = model.graph.node
    if not any(is_one_of(node, *_PARTING) for node in nodes):
        return model
    draft = Draft(model)
    constants: dict[tuple[str, int, int], str] = {}
    changed: dict[int, Node | list[Node] | None] = {}
    for at, product in enumerate(nodes):
        if not is_one_of(product, "MatMul"):
            continue
        path, readers = [at], draft.readers[product.output[0]]
        adds = len(readers) == 1 and is_one_of(nodes[readers[0]], "Add")
        if adds:
            path, readers = [at, *readers], draft.readers[nodes[readers[0]].output[0]]
        if not readers or not all(is_one_of(nodes[end], *_PARTING) for end in readers):
            continue
        if not is_dense(product, draft):
            continue
        row = _row(nodes[path[-1]], product, draft) if adds else None
        parts = _parts([nodes[end] for end in readers], product, draft)
        if parts is None or (adds and row is None):
            continue
        changed |= dict.fromkeys([*path, *readers])
        changed[at] = [
            node for part in parts for node in _product(product, row, part, draft, constants)
        ]
    return draft.replaced(changed)


def _row(add: Node, product: Node, draft: Draft) -> str | None:
    """The constant row that an Add adds to a product, if it does."""
    others = [name for name in add.input if name != product.output[0]]
    return others[0] if is_row(others, product, draft) else None


def _parts(readers: list[Node], product: Node, draft: Draft) -> list[_Part] | None:
    """The parts that nodes take of a product's columns; None unless they are disjoint, or do not
    only take columns.
    """
    width = draft.tensors[product.input[1]].dims[1]
    parts: list[_Part] = []
    for node in readers:
        found = _split(node, width, draft) if node.op_type == "Split" else _sliced(node, draft)
        if found is None:
            return None
        parts += [_Part(part.name, slice(*part.columns.indices(width))) for part in found]
    spans = sorted((part.columns.start, part.columns.stop) for part in parts)
    lengths = all(start < stop for start, stop in spans)
    are_disjoint = all(one[1] <= other[0] for one, other in pairwise(spans))
    return parts if lengths and are_disjoint and len(parts) > 1 else None


def _split(node: Node, width: int, draft: Draft) -> list[_Part] | None:
    """The parts of a Split along the columns."""
    count = len(node.output)
    attributes = node.given_attributes
    sizes = [min(-(-width // count), width - -(-width // count) * part) for part in range(count)]
    if len(node.input) > 1:
        given = _integers(node.input[1], draft)
        if given is None:
            return None
        sizes = given
    if attributes.get("axis", 0) not in (1, -1) or attributes.get("num_outputs", count) != count:
        return None
    if len(sizes) != count or sum(sizes) != width or min(sizes) < 1:
        return None  # import says what is wrong with it
    starts = [sum(sizes[:part]) for part in range(count)]
    parts = zip(node.output, starts, sizes, strict=True)
    return [_Part(name, slice(start, start + size)) for name, start, size in parts if name]


def _sliced(node: Node, draft: Draft) -> list[_Part] | None:
    """The part that a Slice along the columns takes, in steps of 1; of the rows it takes all."""
    given = [_integers(name, draft) for name in node.input[1:]]
    lists = [each for each in given if each is not None]
    if len(lists) < max(3, len(given)) or len({*map(len, lists)}) > 1:
        return None
    starts, stops, axes, *steps = lists
    taken = [slice(None), slice(None)]
    for start, stop, axis, step in zip(
        starts, stops, axes, steps[0] if steps else repeat(1), strict=False
    ):
        if step != 1 or axis not in range(-2, 2):
            return None
        taken[axis] = slice(start, None if stop >= _END else stop)
    whole = taken[0] in (slice(None), slice(0, None))
    return [_Part(node.output[0], taken[1])] if whole else None


def _integers(name: str, draft: Draft) -> list[int] | None:
    """The elements of a constant of integers."""
    tensor = draft.tensors.get(name)
    if tensor is None or tensor.values.dtype.kind != "i":
        return None
    return [int(element) for element in tensor.values.ravel()]


def _product(
    product: Node,
    row: str | None,
    part: _Part,
    draft: Draft,
    constants: dict[tuple[str, int, int], str],
) -> Iterator[Node]:
    """The nodes that compute a part."""

    def columns_of(name: str) -> str:
        key = name, part.columns.start, part.columns.stop
        if key not in constants:
            tensor = draft.tensors[name]
            wish = f"{name}_{part.columns.start}"
            values = tensor.values[..., part.columns]
            constants[key] = draft.constant(wish, values, tensor.data_type)
        return constants[key]

    made = part.name if row is None else draft.name(f"{part.name}_product")
    yield draft.node("MatMul", [product.input[0], columns_of(product.input[1])], [made])
    if row is not None:
        yield draft.node("Add", [made, columns_of(row)], [part.name])
