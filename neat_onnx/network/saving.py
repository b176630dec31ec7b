"""Networks written for libraries, and drawn, by rooms that stand above this package: these are
given to it here.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from neat_onnx.errors import DocumentError, NetworkError, OptionError
from neat_onnx.files import read_bytes, write_bytes
from neat_onnx.schema_links import with_link

if TYPE_CHECKING:
    from neat_onnx.network.network import Network


class Writer(Protocol):
    """A library that networks are written for."""

    name: str
    title: str

    def write(self, network: "Network") -> Any:
        """Return the library's document of the network."""
        ...

    def files(self, network: "Network", name: str, **facts: Any) -> dict[str, bytes]:
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
    writer = _find[0](name)
    with advised(network, writer):
        return writer.write(network)


Advisor = TypeVar("Advisor", bound=Callable[[NetworkError, "Network", Writer], None])

_advise: list[Callable[[NetworkError, "Network", Writer], None]] = []


def advise_with(advise: Advisor) -> Advisor:
    """Make `advise` the function that adds hints to a library's refusal. A decorator."""
    _advise[:] = [advise]
    return advise


@contextmanager
def advised(network: "Network", writer: Writer) -> Iterator[None]:
    """Add to the refusal of a network what its library can hold."""
    try:
        yield
    except NetworkError as error:
        for advise in _advise:
            advise(error, network, writer)
        raise


def save(
    network: "Network",
    path: str | os.PathLike[str],
    library: str | None,
    *,
    schema: bool = False,
    **facts: Any,
) -> list[Path]:
    """Write the files of a network, and return their paths; see `Network.save`.

    Raises:
        OptionError: a schema is asked for, and the library is not neat-onnx.
        DocumentError: a file cannot be written; or one that would stand beside `path` exists, with
            other content.
    """
    target = Path(path)
    given = {name: value for name, value in facts.items() if value is not None}
    writer = _find[0](library, target)
    with advised(network, writer):
        named = writer.files(network, target.name, **given)
    if schema and writer.name != "neat-onnx":
        raise OptionError(
            "the JSON Schema is of neat-onnx network JSON alone",
            where="schema",
            hint="Save as .json, without another library",
        )
    if schema:
        named = {name: with_link(data.decode(), "network").encode() for name, data in named.items()}
    files = {target.with_name(name): data for name, data in named.items()}
    for beside in files.keys() - {target}:
        _check_beside(beside, files[beside])
    for file, data in files.items():
        write_bytes(file, data)
    return list(files)


def _check_beside(path: Path, data: bytes) -> None:
    """Refuse to replace a file that nobody named: a configuration, for example, made by hand."""
    if os.path.isfile(path) and read_bytes(path) != data:
        raise DocumentError(
            "the file exists, and holds something else than would be written there beside the "
            "network",
            where=os.fspath(path),
            hint="Rename it, or write the network under another name",
        )


Form = Literal["svg", "html"]
Drawer = TypeVar("Drawer", bound=Callable[["Network", Form], str])

_draw: list[Callable[["Network", Form], str]] = []


def draw_networks_with(draw: Drawer) -> Drawer:
    """Make `draw` the function that draws a network in a form. A decorator."""
    _draw[:] = [draw]
    return draw


def drawn(network: "Network", form: Form) -> str:
    """See `Network.to_svg`; HTML has a table of a few numbers below the drawing."""
    return _draw[0](network, form)
