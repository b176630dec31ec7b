"""Gather: rows of a table chosen by comparisons of a place with all that there are."""

from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.passes.short_form.larger_operators.search import Found, Ints, Search

_WHOLE = ("Sign", "Floor", "Ceil", "Round", "ArgMax", "ArgMin")  # give integers
_FEWEST = 8  # differences from a list of numbers


def looked_up(search: Search, product: Node) -> Found | None:
    """The rows of a table at computed places, which are known to be integers."""
    table = _table(search, product)
    if table is None:
        return None
    found = _compared(search, product.input[0])
    if found is None:
        return None
    source, numbers = found
    if not np.array_equal(numbers, np.arange(len(table))) or not _is_whole(search, source):
        return None
    end, _ = search.end(product.output[0])
    if (search.sizes(end) or ())[-1:] != table.shape[1:]:
        end = product.output[0]
    if not (sizes := search.sizes(end)):
        return None
    nodes, places = _integers(search, source)
    if search.sizes(source) != sizes[:-1]:
        reads = [places, search.draft.constant("shape", [0, *sizes[:-1]])]
        places = search.draft.name("places")
        nodes.append(search.node("Reshape", reads, [places]))
    rows = search.draft.constant("table", table, search.kind(end))
    return end, [*nodes, search.node("Gather", [rows, places], [end], axis=0)]


def _compared(search: Search, hits: str) -> tuple[str, np.ndarray] | None:
    """The places that are compared with numbers, and these."""
    way = (node for node in search.before(hits) if not _keeps(search, node))
    both = next(way, None)
    equal = search.made.get(both.input[0]) if both and is_one_of(both, "Or") else None
    spread = search.made.get(equal.input[0]) if equal and is_one_of(equal, "Equal") else None
    return None if spread is None else _spread(search, spread)


def differences(search: Search, node: Node) -> Found | None:
    """The differences of each element from numbers of a list, in axes of their own."""
    found, end = _spread(search, node), node.output[0]
    sizes = None if found is None else search.sizes(found[0])
    if found is None or sizes is None or prod(sizes) * len(found[1]) < _FEWEST:
        return None
    source, numbers = found
    reads = [source, search.draft.constant("numbers", numbers, search.kind(source))]
    if sizes == (1,):
        return end, [search.node("Sub", reads, [end])]
    apart, less = (search.draft.name(f"{end}_{part}") for part in ("apart", "less"))
    shape = search.draft.constant("shape", [0, *sizes, 1])
    return end, [
        search.node("Reshape", [source, shape], [apart]),
        search.node("Sub", [apart, reads[1]], [less]),
        search.node("Flatten", [less], [end], axis=1),
    ]


def _table(search: Search, product: Node) -> np.ndarray | None:
    """The constant matrix that a product has on the right."""
    if is_one_of(product, "Gemm"):
        weights = search.matrix(product)
        return None if weights is None else weights.T
    table = search.constant(product.input[1])
    is_matrix = table is not None and len(table.dims) == 2  # noqa: PLR2004 (rows and columns)
    return np.asarray(table.values).reshape(table.dims) if table and is_matrix else None


def _keeps(search: Search, node: Node) -> bool:
    return search.moves(node) or is_one_of(node, "Cast")


def _spread(search: Search, node: Node) -> tuple[str, np.ndarray] | None:
    """The tensor whose elements, one after the other, have numbers taken away, the same from each;
    and these.
    """
    if is_one_of(node, "Gemm"):
        source, places, numbers = node.input[0], *_ones(search, node)
    elif is_one_of(node, "Sub"):
        gather, less = search.made.get(node.input[0]), search.draft.tensors.get(node.input[1])
        if gather is None or less is None:
            return None
        source, places = gather.input[0], search.columns(gather)
        numbers = np.asarray(less.values).ravel()
    else:
        return None
    if places is None or numbers is None or len(places) != len(numbers):
        return None
    count = int(places.max()) + 1
    width = len(places) // count
    alike = np.array_equal(places, np.repeat(np.arange(count), width))
    if not alike or np.any(numbers.reshape(count, width) != numbers[:width]):
        return None
    if width < 2 or search.sizes(source) != (count,):  # noqa: PLR2004 (a difference is one node)
        return None
    return source, numbers[:width]


def _ones(search: Search, gemm: Node) -> tuple[Ints | None, np.ndarray | None]:
    """The columns that a Gemm copies, and the numbers that it takes away from the copies."""
    if len(gemm.input) != 3:  # noqa: PLR2004 (its bias)
        return None, None
    weights, biases = search.weights(gemm), search.draft.tensors.get(gemm.input[2])
    if weights is None or biases is None or np.any((weights != 0).sum(axis=1) != 1):
        return None, None
    places = weights.argmax(axis=1)
    copies = np.all(weights[np.arange(len(weights)), places] == 1)
    return (places, 0.0 - biases.values) if copies else (None, None)


def _is_whole(search: Search, name: str) -> bool:
    """Whether a tensor is of integers, as far as the functions on the way to it tell."""
    for node in search.before(name):
        if is_one_of(node, *_WHOLE):
            return True
        if not (is_elementwise(node) or _keeps(search, node)):
            return False
    return False


def _integers(search: Search, name: str) -> tuple[list[Node], str]:
    """Numbers as integers: the nodes that make them, and the name of the result.

    A Cast rounds towards zero as well; it stands before functions of the rounded numbers.
    """
    after: list[Node] = []
    node = search.made.get(name)
    while node is not None and is_elementwise(node) and (one := _computed(search, node)):
        after.append(node)
        node = search.made.get(one)
    rounded = None if node is None else _rounded(search, node)
    if rounded is None or not after:
        nodes = [search.integers(name if rounded is None else rounded)]
        return nodes, nodes[-1].output[0]
    nodes = [search.integers(rounded)]
    again = search.draft.name("rounded")
    nodes.append(search.cast(nodes[-1].output[0], again, name))
    nodes += search.changed(again, after)
    nodes.append(search.integers(nodes[-1].output[0]))
    return nodes, nodes[-1].output[0]


def _computed(search: Search, node: Node) -> str | None:
    """The one computed input of a node; None of several."""
    names = [name for name in node.input if name and name not in search.draft.tensors]
    return names[0] if len(names) == 1 else None


def _rounded(search: Search, product: Node) -> str | None:
    """The numbers that a product rounds towards zero, as sign(x) · ⌊|x|⌋."""
    if not is_one_of(product, "Mul"):
        return None
    sign, floor = (search.made.get(each) for each in product.input)
    size = search.made.get(floor.input[0]) if floor and is_one_of(floor, "Floor") else None
    if sign is None or size is None or not (is_one_of(sign, "Sign") and is_one_of(size, "Abs")):
        return None
    return sign.input[0] if sign.input[0] == size.input[0] else None
