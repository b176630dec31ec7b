"""The command `neat-onnx`, which Ctrl-C ends without a traceback while its modules are imported.

It is no part of the package, whose import takes most of the time until `neat_onnx.cli` is there.
The version and the help are files of the package, and need none of it.
"""

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130
_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "neat_onnx")
_HELP = os.path.join(_PACKAGE, "cli", "help.txt")


def main() -> int:
    """Run the command line and return its exit code, as `neat_onnx.cli.main` does."""
    if _answered(sys.argv[1:]):
        return 0
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
    if ours:
        signal.signal(signal.SIGINT, _end)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to search for them takes 10 ms
    gc.disable()  # modules stay: to look for garbage among them takes 50 ms
    from neat_onnx.cli import main as run  # noqa: PLC0415 - slow to import

    gc.freeze()
    gc.enable()
    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _answered(arguments: list[str]) -> bool:
    """Print the version, or the help, if that is all that is asked for; say whether it was."""
    try:
        if arguments == ["--version"]:
            found: dict[str, str] = {}
            with open(os.path.join(_PACKAGE, "version.py"), encoding="utf-8") as file:
                exec(file.read(), found)
            text = f"neat-onnx {found['__version__']}\n"
        elif arguments in (["--help"], ["-h"]):
            with open(_HELP, encoding="utf-8") as file:
                text = file.read()
        else:
            return False
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # a closed or full output, which the command explains
        return False
    return True


def _end(_: int, __: FrameType | None) -> NoReturn:
    """End the process at once: an exception would pass through half-imported modules in C."""
    os._exit(_INTERRUPTED)
