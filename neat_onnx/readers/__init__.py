"""Readers: the peers' networks → Network. Each peer's file compiles its evaluation order."""

import os
from collections.abc import Mapping
from typing import Any, Protocol

from neat_onnx.errors import DocumentError, OptionError
from neat_onnx.network.network import Network
from neat_onnx.readers import neat_python, neat_python_live, neataptic, neataptic_ts, own
from neat_onnx.text import parse_json, read_bytes


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
        time_step: of the integration, for neat-python's ctrnn and iznn networks only.
        advance_time: what one step of `run` advances them by; their JSON says neither.

    Raises:
        DocumentError: it cannot be read, is not JSON, or is nothing this package knows.
        NetworkError: it is not a network; says where.
        OptionError: times for a network that has none.
    """
    network = source if isinstance(source, Network) else _read(_document(source))
    if time_step is not None or advance_time is not None:
        raise OptionError(
            "time_step and advance_time are for ctrnn and iznn networks",
            where="time_step" if time_step is not None else "advance_time",
        )
    return network


def _read(document: Any) -> Network:
    if isinstance(document, Mapping):
        for reader in READERS:
            if reader.recognises(document):
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
    if neat_python_live.recognises(source):
        return neat_python_live.to_document(source)
    raise DocumentError(
        f"a {type(source).__name__} is not a network",
        hint="Give a path, JSON text, bytes, a parsed document or a live neat-python network",
    )


def _parsed(data: bytes) -> Any:
    if data[:1] == b"\x08":  # the tag of ir_version, the first field of a binary model
        raise DocumentError("this looks like a binary ONNX model, not a network", hint=_ONNX_HINT)
    return parse_json(data)
