"""Readers: the peers' networks → Network. Each peer's file compiles its evaluation order."""

import os
from collections.abc import Mapping
from typing import Any, Protocol

from neat_onnx.errors import DocumentError
from neat_onnx.files import parse_json, read_bytes
from neat_onnx.libraries.neat_python import ctrnn, iznn, live
from neat_onnx.libraries.neat_python import read as neat_python
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.libraries.neataptic import read as neataptic
from neat_onnx.libraries.neataptic_ts import read as neataptic_ts
from neat_onnx.libraries.own import read as own
from neat_onnx.network.network import Network


class Reader(Protocol):
    """What the file of a peer has.

    Attributes:
        name: the peer.
        keys: what its documents have at the top, for the message when nobody recognises one.
    """

    name: str
    keys: str

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether the document is this peer's; cheap, and true of broken ones too."""
        ...

    def read(self, document: Mapping[str, Any]) -> Network:
        """The network.

        Raises:
            NetworkError: it is not one; says where.
        """
        ...


class TimedReader(Protocol):
    """What the file of a kind of network has whose step is an amount of time."""

    name: str

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether the document is of this kind; cheap, and true of broken ones too."""
        ...

    def read(self, document: Mapping[str, Any], times: Times) -> Network:
        """The network.

        Raises:
            NetworkError: it is not one; says where.
            OptionError: the times are missing or wrong.
        """
        ...


TIMED_READERS: tuple[TimedReader, ...] = (ctrnn, iznn)
"""Asked before the others."""

READERS: tuple[Reader, ...] = (own, neat_python, neataptic_ts, neataptic)
"""Asked in this order."""

_ONNX_HINT = "To turn a model into a network use import_model, or `neat-onnx import`"


def load_network(
    source: object, *, time_step: float | None = None, advance_time: float | None = None
) -> Network:
    """The network in `source`; its format is found out.

    Args:
        source: a path, JSON text (a string that starts with a brace), bytes, a parsed document, a
            live neat-python network, or a Network, which is returned as it is.
        time_step: of the integration, for neat-python's ctrnn (seconds) and iznn (milliseconds)
            networks only.
        advance_time: what one step of `run` advances them by, a time_step if it is not given; their
            JSON says neither.

    Returns:
        The network, its evaluation order turned into delays of connections.

    Raises:
        DocumentError: it cannot be read, is not JSON, or is nothing this package knows.
        NetworkError: it is not a network; says where.
        OptionError: times for a network that has none, or none for one that needs them.
    """
    times = Times(time_step, advance_time)
    if not isinstance(source, Network):
        return _read(_document(source), times)
    times.refuse()
    return source


def _read(document: Any, times: Times) -> Network:
    if isinstance(document, Mapping):
        for timed in TIMED_READERS:
            if timed.recognises(document):
                return timed.read(document, times)
        for reader in READERS:
            if reader.recognises(document):
                times.refuse()
                return reader.read(document)
        if "graph" in document:
            raise DocumentError("this is a JSON ONNX model, not a network", hint=_ONNX_HINT)
    known = "; ".join(f"{reader.keys} ({reader.name})" for reader in READERS)
    raise DocumentError("not a network this package knows", hint=f"Expected keys: {known}")


def _document(source: object) -> Any:
    """`source` as a parsed document."""
    if isinstance(source, Mapping):
        return source
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return parse_json(source)
    if isinstance(source, str | os.PathLike):
        return _parsed(read_bytes(source))
    if isinstance(source, bytes | bytearray | memoryview):
        return _parsed(bytes(source))
    if live.recognises(source):
        return live.to_document(source)
    raise DocumentError(
        f"a {type(source).__name__} is not a network",
        hint="Give a path, JSON text, bytes, a parsed document or a live neat-python network",
    )


def _parsed(data: bytes) -> Any:
    if data[:1] == b"\x08":  # the tag of ir_version, the first field of a binary model
        raise DocumentError("this looks like a binary ONNX model, not a network", hint=_ONNX_HINT)
    return parse_json(data)
