"""Networks written for libraries, which stand above this package: they are given to it here."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from neat_onnx.files import write_bytes

if TYPE_CHECKING:
    from neat_onnx.network.network import Network


class Writer(Protocol):
    """A library that networks are written for."""

    def write(self, network: "Network") -> Any:
        """Return the library's document of the network."""
        ...

    def files(self, network: "Network", name: str) -> dict[str, bytes]:
        """Return the files to write, by name."""
        ...


Finder = TypeVar("Finder", bound=Callable[..., Writer])

_find: list[Callable[..., Writer]] = []


def find_writers_with(find: Finder) -> Finder:
    """Make `find` the function that returns a library by its name or by a path. A decorator."""
    _find[:] = [find]
    return find


def to_library(network: "Network", name: str) -> Any:
    """See `Network.to_library`."""
    return _find[0](name).write(network)


def save(network: "Network", path: str | os.PathLike[str], library: str | None) -> None:
    """See `Network.save`."""
    target = Path(path)
    for name, data in _find[0](library, target).files(network, target.name).items():
        write_bytes(target.with_name(name), data)
