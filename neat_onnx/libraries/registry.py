"""The registry of libraries: an explicit list, to which users add their own."""

import os
from pathlib import Path

from neat_onnx.arguments import TEXT, takes
from neat_onnx.errors import OptionError
from neat_onnx.libraries.catalogue import OTHERS, SYNAPTIC, Own
from neat_onnx.libraries.library import Library
from neat_onnx.libraries.neat_python import NEAT_PYTHON
from neat_onnx.network.hooks import does

_BUILTIN: tuple[Library, ...] = (SYNAPTIC, Own(), NEAT_PYTHON, *OTHERS)
"""Asked in this order whether a source is theirs."""

_registered: list[Library] = []


def libraries() -> tuple[Library, ...]:
    """Return every known library, in the order in which they are asked whether a source is theirs.

    Returns:
        Objects with `name`, `title`, `reads`, `writes`, `suffixes` and `lost`: libraries that the
        user registered first, the latest of them before the others.

    Raises:
        Nothing.
    """
    return (*reversed(_registered), *_BUILTIN)


def register_library(library: Library) -> None:
    """Make a library known to `load_network` and `Network.save`.

    The command line knows it too, if its module is given as `--plugin`.

    Args:
        library: an instance of a subclass of `Library`; it is asked before the known ones whether
            a source is its own.

    Raises:
        OptionError: it is not a Library, has no name, or its name is taken.
    """
    if not isinstance(library, Library):
        hint = "Subclass neat_onnx.Library and register an instance"
        raise OptionError(f"not a library but a {type(library).__name__}", hint=hint)
    if not isinstance(library.name, str) or not library.name.strip():
        raise OptionError("a library needs a name", hint="Set the attribute `name`")
    if any(library.name == other.name for other in libraries()):
        raise OptionError(f"a library named '{library.name}' is registered already")
    _registered.append(library)


@takes(name=TEXT)
def unregister_library(name: str) -> None:
    """Forget a library that `register_library` made known.

    Args:
        name: its name.

    Raises:
        OptionError: no library of that name was registered.
    """
    for library in _registered:
        if library.name == name:
            _registered.remove(library)
            return
    raise OptionError(f"no library named '{name}' was registered")


def _unknown(name: str) -> OptionError:
    known = ", ".join(library.name for library in libraries())
    return OptionError(f"there is no library named '{name}'", hint=f"Known: {known}")


@does("check library")
def check_named(name: str) -> None:
    """Refuse all but the names of libraries: functions are registered for these, not for titles."""
    if all(name != library.name for library in libraries()):
        raise _unknown(name)


@does("find writer")
def writer_for(name: str | None, path: str | os.PathLike[str] = "") -> Library:
    """Return the library that a file is written for, by its name or title.

    Without a name the ending of the file decides: of a .json, or of none, it is neat-onnx, of any
    other the library that has such files.
    """
    if name is not None:
        return writer_named(name)
    ending, own = Path(path).suffix.lower(), writer_named("neat-onnx")
    if not ending or ending in own.suffixes:
        return own
    for library in libraries():
        if library.writes and ending in library.suffixes:
            return library
    way = "Use .json, or say which library it is for"
    if ending == ".onnx":
        way = "Write ONNX with neat_onnx.export(net).save(path), or neat-onnx export"
    raise OptionError(f"no library has networks in {ending} files", where=os.fspath(path), hint=way)


def writer_named(name: str) -> Library:
    """Return the library that is called `name`, which has to be one that networks are written for.

    Args:
        name: the library's name, or its title.

    Raises:
        OptionError: nobody knows it, or it is only read; the hint lists those that are written.
    """
    library = next((each for each in libraries() if name in (each.name, each.title)), None)
    if library is None:
        raise _unknown(name)
    if not library.writes:
        known = ", ".join(other.name for other in libraries() if other.writes)
        raise OptionError(f"networks cannot be written for {name}", hint=f"Written: {known}")
    return library
