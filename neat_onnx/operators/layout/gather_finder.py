"""OneHot and Gather: comparisons of a place with all that there are, and rows of a table chosen by
them.

A OneHot of a place that there is not is 0 everywhere, as the comparisons are. A Gather fails there,
so it takes only places that are in bounds.
"""

from math import prod

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.groups.search import Found, Ints, Search

_WHOLE = ("Sign", "Floor", "Ceil", "Round", "ArgMax", "ArgMin")  # give integers
_MIN_DIFFERENCES = 8  # from a list of numbers


def find_one_hot(search: Search, cast: Node) -> Found | None:
    """1 at the place that each number is, 0 elsewhere, if the numbers are known to be integers."""
    found = _compared(search, cast.output[0])
    if found is None or not is_one_of(search.made[cast.input[0]], "Or"):
        return None
    end, kind = cast.output[0], search.kind(cast.output[0])
    if kind is not DataType.FLOAT:
        return None  # runtimes have no other
    source, count = found
    nodes, places = _integers(search, source)
    reads = [search.draft.constant("depth", count), search.draft.constant("ends", [0, 1], kind)]
    hits = search.draft.name("hits")
    nodes.append(search.draft.node("OneHot", [places, *reads], [hits]))
    return end, [*nodes, search.draft.node("Flatten", [hits], [end], axis=1)]


def find_gather(search: Search, product: Node) -> Found | None:
    """The rows of a table at computed places."""
    table, found = _table(search, product), _compared(search, product.input[0])
    if table is None or found is None or found[1] != len(table):
        return None
    source, count = found
    end, _ = search.end(product.output[0])
    if (search.draft.axes(end) or ())[-1:] != table.shape[1:]:
        end = product.output[0]
    sizes = search.draft.axes(end)
    if not sizes or not _is_in_bounds(search, source, count):
        return None
    nodes, places = _integers(search, source)
    if search.draft.axes(source) != sizes[:-1]:
        reads = [places, search.draft.constant("shape", [0, *sizes[:-1]])]
        places = search.draft.name("places")
        nodes.append(search.draft.node("Reshape", reads, [places]))
    rows = search.draft.constant("table", table, search.kind(end))
    return end, [*nodes, search.draft.node("Gather", [rows, places], [end], axis=0)]


def _compared(search: Search, hits: str) -> tuple[str, int] | None:
    """The integers that are compared with all places, also from the end; how many places."""
    way = (node for node in search.before(hits) if not _keeps(search, node))
    both = next(way, None)
    names = both.input if both and is_one_of(both, "Or") else []
    equal = [search.draft.maker(name, "Equal") for name in names]
    pairs = [each.input for each in equal if each is not None]
    if len(pairs) != len(equal) or len({less for less, _ in pairs}) != 1:
        return None
    spread = search.made.get(pairs[0][0])
    found = None if spread is None else _spread(search, spread)
    if found is None or not np.array_equal(found[1], np.arange(len(found[1]))):
        return None
    from_ends = [search.number(number) for _, number in pairs]
    fits = from_ends == [0.0, -len(found[1])] and _is_whole(search, found[0])
    return (found[0], len(found[1])) if fits else None


def _is_in_bounds(search: Search, name: str, count: int) -> bool:
    """Whether numbers are clipped to places."""
    node = search.draft.maker(search.copied(name), "Clip")
    if node is None:
        return False
    least, most = (search.number(each) for each in node.input[1:])
    return least is not None and most is not None and -count <= least and most < count


def find_differences(search: Search, node: Node) -> Found | None:
    """The differences of each element from numbers of a list, in axes of their own."""
    found, end = _spread(search, node), node.output[0]
    sizes = None if found is None else search.draft.axes(found[0])
    if found is None or sizes is None or prod(sizes) * len(found[1]) < _MIN_DIFFERENCES:
        return None
    source, numbers = found
    reads = [source, search.draft.constant("numbers", numbers, search.kind(source))]
    if sizes == (1,):
        return end, [search.draft.node("Sub", reads, [end])]
    column, less = (search.draft.name(f"{end}_{part}") for part in ("apart", "less"))
    shape = search.draft.constant("shape", [0, *sizes, 1])
    return end, [
        search.draft.node("Reshape", [source, shape], [column]),
        search.draft.node("Sub", [column, reads[1]], [less]),
        search.draft.node("Flatten", [less], [end], axis=1),
    ]


def _table(search: Search, product: Node) -> np.ndarray | None:
    """The constant matrix that a product has on the right."""
    if is_one_of(product, "Gemm"):
        weights = search.matrix(product)
        return None if weights is None else weights.T
    table = search.constant(product.input[1])
    is_matrix = table is not None and len(table.dims) == 2
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
    if places is None or numbers is None or not 0 < len(places) == len(numbers):
        return None
    count = int(places.max()) + 1
    width = len(places) // count
    alike = np.array_equal(places, np.repeat(np.arange(count), width))
    if not alike or np.any(numbers.reshape(count, width) != numbers[:width]):
        return None
    if width < 2 or search.draft.axes(source) != (count,):
        return None
    return source, numbers[:width]


def _ones(search: Search, gemm: Node) -> tuple[Ints | None, np.ndarray | None]:
    """The columns that a Gemm copies, and the numbers that it takes away from the copies."""
    if len(gemm.input) != 3:
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
    """The numbers that a product rounds towards zero, as sign(x) · ⌊sign(x) · x⌋."""
    if not is_one_of(product, "Mul"):
        return None
    sign = search.draft.maker(product.input[0], "Sign")
    floor = search.draft.maker(product.input[1], "Floor")
    size = None if floor is None else search.draft.maker(floor.input[0], "Mul")
    if sign is None or size is None:
        return None
    return sign.input[0] if {*size.input} == {sign.output[0], sign.input[0]} else None
