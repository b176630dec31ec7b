"""Budget: how much one model may ask for, counted before memory is taken.

A few bytes of ONNX can announce a billion elements. Code that makes neurons, connections, elements
of constants, or nodes says so here first, and is refused where the sum is beyond the limits.

An empty node is two bytes of a binary file, three of JSON, and hundreds or thousands in memory. So
the parts of a model (nodes, attributes, texts, types) are counted in its bytes, and a file of more
than 128 parts for each node of the limit is refused; a node counts for 64 of them. Elements of
tensors are no parts: they take about as many bytes in memory as in the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from neat_onnx.arguments import is_whole, shown
from neat_onnx.errors import ModelError, OptionError

if TYPE_CHECKING:
    from neat_onnx.model.graph import Graph

Kind = Literal["elements", "neurons", "connections", "nodes"]


@dataclass(frozen=True)
class Limits:
    """The most that is made of one model.

    Attributes:
        elements: of constants that are computed or read from sparse ones.
        neurons: of a network, with the values that are only on their way to one.
        connections: of a network.
        nodes: of a graph, after functions are inlined and loops unrolled.
    """

    elements: int = 1 << 24
    neurons: int = 1_000_000
    connections: int = 10_000_000
    nodes: int = 1 << 18


class LimitReached(ModelError):
    """A model asks for more than a limit allows: nothing else about it is worth finding out.

    Attributes:
        node: the label of the node that asks for it; "" where that is not known.
    """

    node = ""

    def of(self, node: str) -> "LimitReached":
        """The same of a node, by its label."""
        found = LimitReached(f"node {node}: {self.message}", hint=self.hints)
        found.node = node
        return found


_DEFAULT = Limits()
_CURRENT: ContextVar[Limits] = ContextVar("limits", default=_DEFAULT)


@contextmanager
def limits(
    *,
    elements: int | None = None,
    neurons: int | None = None,
    connections: int | None = None,
    nodes: int | None = None,
) -> Iterator[Limits]:
    """Set how much one model may ask for, as long as the context lasts.

        with neat_onnx.limits(connections=100_000_000):
            net = neat_onnx.import_model("large.onnx")

    Args:
        elements: of constants that are computed or read from sparse ones; at first 16,777,216.
        neurons: of a network, with the values that are only on their way to one; at first
            1,000,000.
        connections: of a network; at first 10,000,000.
        nodes: of a graph, after functions are inlined and loops unrolled; at first 262,144.

    Returns:
        A context manager that gives the limits which hold; the others stay as they are around.

    Raises:
        OptionError: a limit is no whole number of 0 or more.
        ModelError: raised inside the context, by calls that would make more of one model.
    """
    given = {"elements": elements, "neurons": neurons, "connections": connections, "nodes": nodes}
    changed = {kind: most for kind, most in given.items() if most is not None}
    for kind, most in changed.items():
        if not is_whole(most) or most < 0:
            raise OptionError(
                f"expected a whole number of 0 or more, got {shown(most)}", where=kind
            )
    token = _CURRENT.set(replace(_CURRENT.get(), **changed))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)


@dataclass
class Budget:
    """The amounts that have been taken of the limits so far."""

    limits: Limits = field(default_factory=_CURRENT.get)
    taken: dict[Kind, int] = field(default_factory=dict)

    def take(self, kind: Kind, count: int, where: str = "") -> None:
        """Count `count` more.

        Args:
            kind: kind of things to be made.
            count: how many.
            where: the node they are made for, as messages call it.

        Raises:
            LimitReached: the limit does not allow it. Nothing has been taken then.
        """
        self.require(kind, count, where)
        self.taken[kind] = self.taken.get(kind, 0) + int(count)

    def require(self, kind: Kind, count: int, where: str = "") -> None:
        """Refuse `count` more if they would be beyond the limit, and take nothing.

        Raises:
            LimitReached: the limit does not allow it.
        """
        total, most = self.taken.get(kind, 0) + int(count), getattr(self.limits, kind)
        if total > most:
            # of all nodes together: one that is beyond the limit alone is not the last
            wanted = 4 * total if where and kind in ("neurons", "connections") else total
            message = f"it takes {total} {kind}, and the limit is {most}"
            error = LimitReached(message, hint=_raised(kind, wanted))
            raise error.of(where) if where else error


def _raised(kind: Kind, wanted: int) -> str:
    return f"Raise it as far as memory allows: with neat_onnx.limits({kind}={wanted}):"


def require_elements(*sizes: int) -> None:
    """Refuse an array of this shape if it is beyond the limit: operators ask before they make one.

    Raises:
        LimitReached: the limit does not allow it; the caller knows the node.
    """
    Budget().require("elements", prod(map(int, sizes)))


_PER_NODE = 128
_OF_A_NODE, _OF_A_MESSAGE = 64, 4  # parts that one counts for: so large is what is made of it
_FEW = 1 << 14  # inputs or outputs
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # protobuf's wire types
_TAGS_OF_NODES = b"\x0a\x8a\x3a\xba"  # in a graph and in a function, alone and with more bytes
_MORE = 0x80  # the bit of a varint's byte that says that another byte follows


class Parts:
    """The parts of a file that may still be read."""

    def __init__(self) -> None:
        self.left = _PER_NODE * Budget().limits.nodes

    def take(self, count: int, *, nodes: bool = False) -> None:
        """Count messages, as objects of JSON are, before something is made of them.

        Raises:
            LimitReached: there are too many.
        """
        self.left -= count * (_OF_A_NODE if nodes else _OF_A_MESSAGE)
        if self.left < 0:
            nodes_read = Budget().limits.nodes
            raise LimitReached(
                "the file has more parts than are read of a model: "
                f"{_PER_NODE * nodes_read}, {_PER_NODE} for each node of the limit",
                hint=_raised("nodes", 4 * nodes_read),
            )


def check_binary(data: bytes) -> None:
    """Count the parts of a binary model; protobuf tells of a damaged one.

    Raises:
        LimitReached: there are too many.
    """
    from onnx import ModelProto  # noqa: PLC0415 - slow to import

    parts = Parts()
    nodes = len(data) - len(data.translate(None, _TAGS_OF_NODES))
    if nodes * _OF_A_NODE + len(data) // 2 * (_OF_A_MESSAGE + 1) <= parts.left:
        return  # each part is two bytes at least, its tag and its length or number
    messages = [(0, len(data), ModelProto.DESCRIPTOR)]
    try:
        while messages:
            place, end, message = messages.pop()
            inner = _inner(message)
            while place < end:
                parts.left -= 1
                tag = data[place]
                place += 1
                if tag & _MORE:
                    tag, place = _varint(data, place - 1)
                kind = tag & 7
                if kind == _BYTES:
                    length = data[place]
                    place += 1
                    if length & _MORE:
                        length, place = _varint(data, place - 1)
                    if found := inner.get(tag >> 3):
                        if length:
                            messages.append((place, place + length, found))
                        parts.take(1, nodes=found.name == "NodeProto")
                    place += length
                elif kind == _VARINT:
                    while data[place] & _MORE:
                        place += 1
                    place += 1
                elif kind in (_FOUR_BYTES, _EIGHT_BYTES):
                    place += 4 if kind == _FOUR_BYTES else 8
                else:
                    return
                if parts.left < 0:
                    parts.take(0)
    except IndexError:
        return


@cache
def _inner(message: Any) -> dict[int, Any]:
    """The fields of a message of protobuf that are messages, by number."""
    return {each.number: each.message_type for each in message.fields if each.message_type}


def check_text(data: bytes) -> None:
    """Count the parts of a textproto or an onnxtxt, whose messages have braces or parentheses.

    Raises:
        LimitReached: there are too many.
    """
    Parts().take(data.count(b"{") + data.count(b"("))


def check_ports(graph: "Graph") -> None:
    """Count the values of a graph's inputs and outputs in one sample: each becomes a neuron.

    More than a quarter of all neurons are refused, since something is computed of them; the first
    axis of several may be the batch.

    Raises:
        LimitReached: there are too many.
    """
    limit = Budget().limits.neurons
    most = max(limit // 4, _FEW)
    known = graph.tensors
    for place, entries in (("inputs", graph.inputs), ("outputs", graph.outputs)):
        shapes = [entry.shape or () for entry in entries if entry.name not in known]
        samples = [shape[1:] if len(shape) > 1 else shape for shape in shapes]
        values = sum(prod(size for size in each if isinstance(size, int)) for each in samples)
        if values > most:
            raise LimitReached(
                f"the {place} have {values} values, and the limit of {limit} neurons allows {most}",
                where=f"graph.{place}",
                hint=_raised("neurons", 4 * values),
            )


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of several bytes, and the place behind it."""
    value = shift = 0
    while data[place] & _MORE:
        value |= (data[place] & ~_MORE) << shift
        shift += 7
        place += 1
    return value | data[place] << shift, place + 1
