"""Networks written for libraries, by rooms that stand above this one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from neat_onnx.errors import DocumentError, NetworkError, OptionError
from neat_onnx.files import read_bytes, write_bytes
from neat_onnx.network.hooks import done_by
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


def to_library(network: "Network", name: str) -> Any:
    """See `Network.to_library`."""
    writer = done_by("find writer")(name)
    with advised(network, writer):
        return writer.write(network)


@contextmanager
def advised(network: "Network", writer: Writer) -> Iterator[None]:
    """Add to the refusal of a network what its library can hold."""
    try:
        yield
    except NetworkError as error:
        done_by("advise")(error, network, writer)
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
    writer = done_by("find writer")(library, target)
    with advised(network, writer):
        named = writer.files(network, target.name, **given)
    if schema and writer.name != "neat-onnx":
        text = "the JSON Schema is of neat-onnx network JSON alone"
        raise OptionError(text, where="schema", hint="Save as .json, without another library")
    if schema:
        named = {name: with_link(data.decode(), "network").encode() for name, data in named.items()}
    files = {target.with_name(name): data for name, data in named.items()}
    for beside in files.keys() - {target}:  # as a configuration that was made by hand
        if os.path.isfile(beside) and read_bytes(beside) != files[beside]:
            raise DocumentError(
                "the file exists, and holds something else than would be written there beside the "
                "network",
                where=os.fspath(beside),
                hint="Rename it, or write the network under another name",
            )
    for file, data in files.items():
        write_bytes(file, data)
    return list(files)
