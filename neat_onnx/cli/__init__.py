"""The command line: arguments in, exit code out. The commands themselves are in `commands`."""

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from neat_onnx.cli.parser import parser, plugins_in
from neat_onnx.cli.paths import BAD_INPUT, CLOSED_OUTPUT, output_error, print_line
from neat_onnx.cli.plugins import load_plugins
from neat_onnx.cli.wording import error_line, warning_line
from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning

_INTERRUPTED, _BROKEN_PIPE = 130, 141  # what a shell says of the signals
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments after the program's name; None takes the arguments of the process.

    Returns:
        The exit code: 0 done, 1 the check said no, 2 bad input or usage, 130 interrupted.

    Raises:
        SystemExit: after --help and --version; at SIGTERM and SIGHUP, with the code 143 or 129.
    """
    with redirect_stdout(_whole(sys.stdout)), redirect_stderr(_whole(sys.stderr)):
        try:
            return _run(argv)
        except OSError:  # standard error cannot be written to either: the code alone says it
            _discard(sys.stderr)
            return BAD_INPUT


def _run(argv: Sequence[str] | None) -> int:
    """Run the command line; an OSError is one of standard error."""
    try:
        if sys.stdout is None:
            raise CLOSED_OUTPUT
        with _signals_as_exits(), _warnings_as_lines():
            try:
                load_plugins(plugins_in(argv))
                given = sys.argv[1:] if argv is None else argv
                arguments = parser(given).parse_args(given)
                code: int = arguments.run(arguments)
            finally:  # after --help as well, which ends by SystemExit
                sys.stdout.flush()
            return code
    except NeatOnnxError as error:
        _complain(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _discard(sys.stdout)
        return _BROKEN_PIPE
    except OSError as error:  # those of files are NeatOnnxErrors
        _discard(sys.stdout)
        _complain(output_error(error))
    except MemoryError:
        _complain(NeatOnnxError("it is too large for the memory of this machine"))
    except Exception as error:  # a mistake of ours: a line of its own, not a traceback
        if sys.flags.dev_mode:  # python -X dev -m neat_onnx shows where
            raise
        hint = "This is a mistake in neat_onnx: please report it, with the file if you can share it"
        _complain(NeatOnnxError(f"{type(error).__name__}: {error}", hint=hint))
    return BAD_INPUT


def _complain(error: NeatOnnxError) -> None:
    print_line(error_line(error), sys.stderr)


def _whole(stream: TextIO | None) -> TextIO | None:
    """Return a standard stream that writes everything or raises OSError.

    With PYTHONUNBUFFERED its buffer is the raw file, whose `write` may take a part of the bytes.
    Characters that its encoding lacks, as in names, are escaped.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if not isinstance(stream.buffer, io.RawIOBase):
        stream.reconfigure(errors="backslashreplace")
        return stream
    lines = 1 if stream is sys.stderr else -1
    number, encoding = stream.fileno(), stream.encoding
    return open(number, "w", lines, encoding=encoding, errors="backslashreplace", closefd=False)


def _discard(stream: TextIO | None) -> None:
    """Discard buffered output, whose flushing would fail again when the interpreter ends."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _signals_as_exits() -> Iterator[None]:
    """Turn signals that end a process into SystemExit, so that temporary files are removed.

    A signal that is ignored, as SIGHUP is under nohup, or that has a handler, stays as it is.
    """
    is_main = threading.current_thread() is threading.main_thread()  # no other may set handlers
    ours = [each for each in _ENDING if is_main and signal.getsignal(each) is signal.SIG_DFL]
    for each in ours:
        signal.signal(each, _exit)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def _exit(number: int, _: Any) -> None:
    sys.exit(128 + number)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Each NeatOnnxWarning is a line on standard error, once; other warnings are not the user's."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not isinstance(message, NeatOnnxWarning):
            return
        line = f"warning: {warning_line(message)}"
        if line not in shown:
            shown.add(line)
            print_line(line, sys.stderr)

    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("always", NeatOnnxWarning)
        warnings.showwarning = show  # catch_warnings puts the old one back
        yield
