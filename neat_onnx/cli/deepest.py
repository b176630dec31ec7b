"""Remarks of an import: the part of a model that a library can hold, the library that it came from.

A policy often ends in operators that no library of evolution has: Softmax, Clip, ArgMax. The part
before them can evolve.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import neat_onnx
from neat_onnx.errors import ImportAdvice, NeatOnnxError, NetworkError, warn
from neat_onnx.libraries.library import Library
from neat_onnx.libraries.registry import libraries
from neat_onnx.model import Model
from neat_onnx.network.network import Network

_MAX_TRIES = 40


def with_deepest_tensor(
    error: NetworkError, model: Model, library: Library, facts: dict[str, Any]
) -> NetworkError:
    """Return the refusal of a library with the deepest tensor up to which it can hold the model.

    Args:
        error: the refusal.
        model: the model; nothing is added where it has several outputs.
        library: the library.
        facts: the other arguments of `import_model`.
    """
    wanted, behind = {value.name for value in model.graph.outputs}, list[str]()
    if facts["outputs"] is not None or len(wanted) != 1:
        return error
    for node in reversed(model.graph.node[-_MAX_TRIES:]):
        made = [name for name in node.output if name in wanted]
        if not made:
            continue
        wanted |= set(node.input)
        if behind and _holds(library, model, facts | {"outputs": made[:1]}):
            text = f"{library.title or library.name} can hold the part before {behind[-1]}: {{}}"
            error.hints = (*error.hints, ImportAdvice(text, {"outputs": made[:1]}))
            break
        behind.append(node.op_type)
    return error


def _holds(library: Library, model: Model, facts: dict[str, Any]) -> bool:
    """Whether a library can hold a part of a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            library.write(neat_onnx.import_model(model, **facts | {"check": False}))
        except NeatOnnxError:
            return False
    return True


def tell_cut(model: Model, outputs: Sequence[str] | None) -> None:
    """Warn of the operators behind tensors inside the graph where an import ends at these."""
    if outputs is None or set(outputs) <= {value.name for value in model.graph.outputs}:
        return
    wanted, behind = set(outputs), list[str]()
    for node in reversed(model.graph.node):
        if wanted.isdisjoint(node.output):
            behind.insert(0, node.op_type)
        else:
            wanted |= set(node.input)
    if behind:
        warn(f"cut at {', '.join(outputs)}: left out are {', '.join(behind)}")


def suggest_library(net: Network, library: Library) -> None:
    """Say which library a network came from where it is written as JSON of this package."""
    own = next((one for one in libraries() if one.writes and one.wrote(net)), library)
    if library.name == "neat-onnx" and own is not library:
        title = own.title or own.name
        warn(f"written as JSON of neat-onnx; --to {own.name} writes that of {title}")
