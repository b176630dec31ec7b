"""The part of a model that a library can hold, and what an import of a part leaves out.

A policy often ends in operators that no library of evolution has: Softmax, Clip, ArgMax. The part
before them can evolve.
"""

import warnings
from collections.abc import Sequence

from neat_onnx.errors import ImportAdvice, NeatOnnxError, NetworkError, warn
from neat_onnx.genome.read import import_network
from neat_onnx.model import Model, load_model
from neat_onnx.network.network import Network
from neat_onnx.network.saving import Writer

_MAX_TRIES = 40


def add_deepest_tensor(error: NetworkError, net: Network, library: Writer) -> None:
    """Add to the refusal of a library the deepest tensor up to which it can hold the model that the
    network was imported from; nothing if that has several outputs.
    """
    if net.source is None or len(net.outputs) != 1:
        return
    model = load_model(net.source.model)
    wanted, behind = {net.outputs[0].name}, list[str]()
    for node in reversed(model.graph.node[-_MAX_TRIES:]):
        made = [name for name in node.output if name in wanted]
        if not made:
            continue
        wanted |= set(node.input)
        if behind and _holds(library, model, made[:1]):
            text = f"{library.title or library.name} can hold the part before {behind[-1]}: "
            advice = ImportAdvice(text + "import the model with {}", {"outputs": made[:1]})
            error.hints = (*error.hints, advice)
            return
        behind.append(node.op_type)


def _holds(library: Writer, model: Model, outputs: Sequence[str]) -> bool:
    """Whether a library can hold a part of a model."""
    with warnings.catch_warnings(action="ignore"):
        try:
            library.write(import_network(model, outputs=outputs))
        except NeatOnnxError:
            return False
    return True


def warn_of_cut(model: Model, outputs: Sequence[str] | None) -> None:
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
