"""Paths of the command line: `-` is standard input or output, and OUT is checked first."""

import errno
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import neat_onnx
from neat_onnx.errors import (
    DocumentError,
    ModelError,
    NeatOnnxError,
    NetworkError,
    OptionError,
    printable,
)
from neat_onnx.files import limited, write_bytes
from neat_onnx.libraries.library import Library
from neat_onnx.libraries.registry import writer_for
from neat_onnx.model import Model

DONE, CHECK_SAID_NO, BAD_INPUT = 0, 1, 2
"""Exit codes."""
STANDARD = "-"
"""Standard input or output in place of a path."""
_INPUTS = ("file", "network", "model", "config", "options")
"""The arguments that name a file to read, of commands that write one."""
CLOSED_OUTPUT = DocumentError(
    "standard output is closed", where=STANDARD, hint="Send it to a file, or to the null device"
)


def source_of(path: str) -> str | bytes:
    """Return the source to read: the path itself, or the bytes of standard input.

    Raises:
        DocumentError: standard input is closed, is read a second time, or holds too much.
    """
    if path != STANDARD:
        return path
    if sys.stdin is None:
        hint = "Send it a file, or name one"
        raise DocumentError("standard input is closed", where=STANDARD, hint=hint)
    if sys.stdin.closed:
        raise DocumentError("standard input can be read once only", where=STANDARD)
    with sys.stdin.buffer as stream:
        return limited(stream, STANDARD)


@contextmanager
def of_file(
    path: str,
    kinds: tuple[type[NeatOnnxError], ...] = (DocumentError, NetworkError, ModelError),
    config: str | None = None,
) -> Iterator[None]:
    """Put the name of a file into the errors about its content: a command may read several.

    Args:
        path: the file that is read.
        kinds: the errors that are about its content.
        config: the file that is read beside it, whose errors name it already.
    """
    try:
        yield
    except kinds as error:
        if error.where not in {printable(name) for name in (path, config, "config") if name}:
            error.where = printable(f"{path}, {error.where}" if error.where else path)
        raise


def read_model(path: str) -> Model:
    """Return the model in a file, or on standard input.

    Raises:
        DocumentError: it cannot be read.
        ModelError: it is not a model; both name the file.
    """
    with of_file(path):
        return neat_onnx.load_model(source_of(path))


def check_target(arguments: Namespace, endings: tuple[str, ...] | None) -> None:
    """Refuse an OUT that cannot be written, before anything is read.

    Args:
        arguments: of the command; OUT may overwrite none of the files that they say to read.
        endings: the file name endings that OUT may have; None for any.

    Raises:
        OptionError: it has another ending, or is a file that is read.
        DocumentError: it is a directory, or in none.
    """
    out, path = arguments.out, Path(arguments.out)
    if out == STANDARD:
        return
    if endings is not None and path.suffix.lower() not in endings:
        raise OptionError(
            f"cannot write a file that ends in '{path.suffix}'"
            if path.suffix
            else "cannot tell the format of a file without an ending",
            where=out,
            hint=f"Use {' or '.join(endings)}",
        )
    try:
        wrong = (
            f"there is no directory '{path.parent}'" if not path.parent.is_dir()
            else "it is a directory" if path.is_dir() else ""
        )  # fmt: skip
        given = filter(None, (getattr(arguments, name, None) for name in _INPUTS))
        lost = path.exists() and any(os.path.exists(each) and path.samefile(each) for each in given)
    except OSError as error:  # a name that is too long
        wrong, lost = str(error.strerror), False
    if wrong:
        raise DocumentError(f"cannot write the file: {wrong}", where=out)
    if lost:
        text = "the result would overwrite a file that is read"
        raise OptionError(text, where=out, hint="Name another")


def checked_library(arguments: Namespace) -> Library:
    """Return the library that a network is written for, by --to or OUT, after `check_target`.

    Raises:
        OptionError: there is no such library, or its files have another ending.
        DocumentError: as `check_target`.
    """
    out = "" if arguments.out == STANDARD else arguments.out
    library = writer_for(arguments.to, out)
    check_target(arguments, library.suffixes)
    return library


def print_line(text: str, stream: TextIO | None) -> None:
    """Print a line, unless its stream is closed: `print` would take standard output instead."""
    if stream is not None:
        print(text, file=stream)


def save(data: bytes, out: str) -> None:
    """Write bytes to a path, or to standard output.

    Raises:
        DocumentError: the file cannot be written.
        OSError: standard output is full, or its reader is gone.
    """
    if out != STANDARD:
        write_bytes(out, data)
        return
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # a text stream that stands in for it
        sys.stdout.write(data.decode(errors="backslashreplace"))
    else:
        stream.write(data)
    sys.stdout.flush()


def output_error(error: OSError) -> DocumentError:
    """Return the error of a standard output that cannot be written to."""
    hint = "There is no space left" if error.errno == errno.ENOSPC else None
    why = error.strerror or str(error)
    return DocumentError(f"cannot write to standard output: {why}", where=STANDARD, hint=hint)
