"""The parts of a drawing as arrays: the layout, kinds, colours, strengths and named layers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neat_onnx.drawing.families import family
from neat_onnx.drawing.layers import NamedLayer, named_layers
from neat_onnx.drawing.layout import Layout, layout
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing, schedule

_MAX_GRID_CELLS = 32  # in a row


@dataclass(frozen=True, eq=False)
class Scene:
    """A network, and how it is drawn.

    Attributes:
        net: the network.
        levels: its schedule.
        layout: where everything stands.
        layers: neurons that are shown as one thing.
        kind: "input", "hidden" or "output", of each neuron.
        family: the family of each neuron's activation; "input" for inputs.
        label: the name of each neuron; else "input 1" and the like, or its id.
        is_idle: whether no output depends on a neuron, at any step.
        strength: of each connection, from −1 to 1: its weight by the 95th percentile of all.
    """

    net: Network
    levels: Schedule
    layout: Layout
    layers: tuple[NamedLayer, ...]
    kind: npt.NDArray[np.object_]
    family: npt.NDArray[np.object_]
    label: tuple[str, ...]
    is_idle: Bools
    strength: Floats


def scene(net: Network, levels: Schedule | None = None) -> Scene:
    """Prepare the drawing of a network.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    levels = levels or schedule(net)
    layers = tuple(named_layers(net, levels))
    kind = np.full(len(net), "hidden", object)
    kind[net.output_neurons] = "output"
    kind[net.input_neurons] = "input"
    names = np.array([family(name) for name in net.activations] or [""], object)
    families = np.where(net.is_input, "input", names[net.neurons.activation])
    return Scene(
        net=net,
        levels=levels,
        layout=layout(net, levels, (*(each.neurons for each in layers), *_grids(net, layers))),
        layers=layers,
        kind=kind,
        family=families,
        label=_labels(net),
        is_idle=~contributing(net),
        strength=_strengths(net.connections.weight),
    )


def _labels(net: Network) -> tuple[str, ...]:
    labels = [str(number) for number in net.neurons.id.tolist()]
    for noun, neurons in (("input", net.input_neurons), ("output", net.output_neurons)):
        for place, neuron in enumerate(neurons.tolist(), start=1):
            labels[neuron] = f"{noun} {place}"
    return tuple(name or label for name, label in zip(net.neuron_names, labels, strict=True))


def _strengths(weight: Floats) -> Floats:
    sizes = np.abs(weight[np.isfinite(weight)])
    heavy = float(np.quantile(sizes, 0.95)) if sizes.size else 0.0
    return np.clip(np.nan_to_num(weight / (heavy or 1.0)), -1, 1)


def _grids(net: Network, layers: tuple[NamedLayer, ...]) -> list[Ints]:
    """Return the neurons that a window of a named layer slides over, if they are inputs."""
    known = {tuple(each.neurons.ravel().tolist()) for each in layers}
    grids: dict[tuple[int, ...], Ints] = {}
    for block in net.blocks:
        sources = block.sources
        key = tuple(sources.ravel().tolist())
        is_grid = sources.ndim > 1 and 1 < sources.shape[-1] <= _MAX_GRID_CELLS
        if is_grid and key not in known and np.all(net.is_input[sources]):
            grids[key] = sources
    return list(grids.values())
