"""The tensors inside a graph, beside the values of the neurons that import made of them."""

from collections.abc import Iterator
from typing import NamedTuple

from neat_onnx.errors import ModelError
from neat_onnx.genome import Imported
from neat_onnx.model.wiring import producers
from neat_onnx.network.genes import Floats
from neat_onnx.network.program import Program
from neat_onnx.verification.judge import measure
from neat_onnx.verification.player import Player, showing

_MAX_TENSORS = 1_000  # more take too long to be shown
_MIN_DIFFERENCE = 1e-6  # the normalised MSE from which on a tensor is not the same any more


class InnerTensor(NamedTuple):
    """A tensor inside the graph that neurons give, as both compute it: (T, N, elements).

    Attributes:
        name: of the tensor.
        want: the neurons' values.
        got: the model's.
    """

    name: str
    want: Floats
    got: Floats


def inner_tensors(found: Imported, x: Floats, runtime: str) -> Iterator[InnerTensor]:
    """Play the inputs (T, N, I), and give the tensors that have a row for each sample.

    They come in the graph's order, if there are not too many.
    """
    model, lifted = found.model, found.lifted
    outputs = {entry.name for entry in model.graph.outputs}
    produced = [name for node in model.graph.node for name in node.output if name not in outputs]
    places = {name: lifted.tensors[name] for name in produced if name in lifted.tensors}
    if len(produced) > _MAX_TENSORS:
        return
    try:
        player = Player(showing(model, list(places)), lifted.network, runtime, as_written=True)
    except ModelError:  # tensors of another type than that of the numbers are among them
        return
    values = Program(lifted.network, dense=False).neuron_values(x)
    for name, neurons in places.items():
        want = values[:, neurons].swapaxes(1, 2)
        try:
            got = player.play(x, [name])[name]
        except ModelError:
            continue
        if got.shape == want.shape:
            yield InnerTensor(name, want, got)


def first_difference(found: Imported, x: Floats, runtime: str) -> str:
    """The place of the first node, in the graph's order, whose output is not the neurons' values.

    Args:
        found: the import.
        x: inputs (T, N, I) on which the outputs differ.
        runtime: runs the model.
    """
    nodes = producers(found.model.graph)
    for name, want, got in inner_tensors(found, x, runtime):
        error = measure(want, got).normalised_mse
        if error is None or error > _MIN_DIFFERENCE:
            return f"from tensor '{name}' of node {nodes[name].label} on"
    return "graph.outputs"
