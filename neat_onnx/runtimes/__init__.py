"""The runtimes that can run a model, each a function named like it, with `_` for `-`:

    def tract(model: Model) -> Session

It raises OptionError where a requirement is not installed, ModelError where it refuses the model.
One that rewrites models may have `…_as_written` besides, which runs each node as it stands. "c" and
"javascript" are code that `neat_onnx.generate_code` prints, compiled and run; they take the
`batch_axis` to import the model with.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.arguments import shown
from neat_onnx.errors import ModelError, NeatOnnxError, OptionError
from neat_onnx.model import Model

_CODE = ("c", "javascript")
RUNTIMES = ("reference", "onnxruntime", "tract", "opencv", "openvino", *_CODE)
_INSTALL = {
    "reference": "It comes with neat_onnx",
    "c": "Have a C compiler: cc, gcc or clang",
    "javascript": "Have node",
    "opencv": "pip install opencv-python-headless",
}

Feed = dict[str, np.ndarray[Any, Any]]
Run = Callable[[Feed], dict[str, Any]]


class Session(NamedTuple):
    """A model in a runtime.

    Attributes:
        run: computes the graph's outputs, by name, for its inputs, by name.
        name: the runtime and its version.
        sequences: the runtime keeps the memory itself: `run` takes every input but the states, and
            gives every output but these, for whole sequences (T, N, …) from the initial state.
    """

    run: Run
    name: str
    sequences: bool = False


def load(
    runtime: str, model: Model, *, as_written: bool = False, features_only: bool = False
) -> Session:
    """Load a model, as it is, into a runtime.

    Args:
        runtime: its name.
        model: the model.
        as_written: a runtime that rewrites models runs each node as it stands, where it can.
        features_only: every axis of the network's inputs is features.

    Raises:
        ModelError: the runtime refuses the model; so does the session's `run`.
        OptionError: the runtime is unknown, or is not installed.
    """
    if not isinstance(runtime, str) or runtime not in RUNTIMES:
        known = ", ".join(RUNTIMES)
        raise OptionError(
            f"unknown runtime {shown(runtime)}", where="runtime", hint=f"Known: {known}"
        )
    room = import_module(f"{__name__}.{'generated' if runtime in _CODE else 'packages'}")
    load_into = getattr(room, runtime)
    if as_written:
        load_into = getattr(room, f"{runtime}_as_written", load_into)
    how = {"batch_axis": None} if features_only and runtime in _CODE else {}
    try:
        session: Session = load_into(model, **how)
    except NeatOnnxError:
        raise
    except Exception as error:  # each runtime has exceptions of its own; it is the cause of ours
        raise _refused(runtime, "load", error) from error

    def run(feed: Feed) -> dict[str, Any]:
        try:
            return session.run(feed)
        except Exception as error:  # the same
            raise _refused(session.name, "run", error) from error

    return session._replace(run=run)


def not_installed(runtime: str) -> OptionError:
    """Return the error of a runtime that is not installed, with the way to get it."""
    return OptionError(f"{runtime} is not installed", where="runtime", hint=way_to(runtime))


def way_to(runtime: str) -> str:
    """Return how to install a runtime, a sentence without its full stop: the package of its name,
    unless it is none of Python's.
    """
    return _INSTALL.get(runtime, f"pip install {runtime}")


def _refused(runtime: str, verb: str, error: Exception) -> ModelError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ModelError(
        f"{runtime} does not {verb} the model: {lines[0]}",
        hint="`neat-onnx validate` says whether it is valid, `neat-onnx convert` repairs some that "
        "are not; another runtime may run it as it is, reference above all",
    )
