"""The command `neat-onnx`, which Ctrl-C ends without a traceback while its modules are imported.

It is no part of the package, whose import takes most of the time until `neat_onnx.cli` is there.
"""

import os
import signal
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code, as `neat_onnx.cli.main` does."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
    if ours:
        signal.signal(signal.SIGINT, _end)
    from neat_onnx.cli import main as run  # noqa: PLC0415 - slow to import

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _end(_: int, __: FrameType | None) -> NoReturn:
    """End the process at once: an exception would pass through half-imported modules in C."""
    os._exit(_INTERRUPTED)
