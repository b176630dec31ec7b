"""The parts of a drawing as arrays: the layout, kinds, colours, strengths and named layers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neat_onnx.drawing.layout import Layout, layout
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing, schedule
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import times

_MAX_GRID_CELLS = 32  # in a row


class NamedLayer(NamedTuple):
    """Neurons that belong together, and a name for them: "Conv 3×3" or "LSTM 4".

    The neurons of a convolution or a pool have the shape of its output, (channels, *positions).
    """

    label: str
    neurons: Ints


@dataclass(frozen=True, eq=False)
class Scene:
    """A network, and how it is drawn.

    Attributes:
        net: the network.
        layout: where everything stands.
        layers: neurons that are shown as one thing.
        kind: "input", "hidden" or "output", of each neuron.
        family: the family of each neuron's activation; "input" for inputs.
        label: the name of each neuron; else "input 1" and the like, or its id.
        is_idle: whether no output depends on a neuron, at any step.
        strength: of each connection, from −1 to 1: its weight by the 95th percentile of all.
    """

    net: Network
    layout: Layout
    layers: tuple[NamedLayer, ...]
    kind: npt.NDArray[np.object_]
    family: npt.NDArray[np.object_]
    label: tuple[str, ...]
    is_idle: Bools
    strength: Floats


def scene(net: Network) -> Scene:
    """Prepare the drawing of a network.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    levels, weight = schedule(net), net.connections.weight
    layers = tuple(named_layers(net, levels))
    heavy = np.quantile(np.abs(weight), 0.95) if weight.size else 0.0
    return Scene(
        net=net,
        layout=layout(net, levels, (*(each.neurons for each in layers), *_grids(net, layers))),
        layers=layers,
        kind=kinds_of(net),
        family=families_of(net),
        label=labels_of(net),
        is_idle=~contributing(net),
        strength=np.clip(np.nan_to_num(weight / (heavy or 1.0)), -1, 1),
    )


def kinds_of(net: Network) -> npt.NDArray[np.object_]:
    """Return "input", "hidden" or "output" for each neuron."""
    kind = np.full(len(net), "hidden", object)
    kind[net.output_neurons] = "output"
    kind[net.input_neurons] = "input"
    return kind


def labels_of(net: Network) -> tuple[str, ...]:
    """Return the name of each neuron; else "input 1" and the like, or its id."""
    labels = [str(number) for number in net.neurons.id.tolist()]
    for noun, neurons in (("input", net.input_neurons), ("output", net.output_neurons)):
        for place, neuron in enumerate(neurons.tolist(), start=1):
            labels[neuron] = f"{noun} {place}"
    return tuple(name or label for name, label in zip(net.neuron_names, labels, strict=True))


def named_layers(net: Network, levels: Schedule) -> list[NamedLayer]:
    """Return the layers of `net` by name; no neuron is in two.

    Convolutions and pools are those that the network was read with (`net.blocks`).
    """
    from neat_onnx.operators.export.recogniser import layers_of  # noqa: PLC0415 - imports all operators

    def size(block: SpatialBlock) -> str:
        return "" if block.kind.startswith("Global") else f" {times(block.window.kernel)}"

    spatial = [(f"{block.kind}{size(block)}", block.neurons) for block in net.blocks]
    recurrent = [
        (f"{layer.cell.operator} {len(layer.hidden)}", layer.neurons)
        for layer in (layers_of(net, levels) if net.has_memory else ())
    ]
    layers: list[NamedLayer] = []
    taken = np.zeros(len(net), bool)
    for label, neurons in [*spatial, *recurrent, *_gated(net, levels)]:
        if not np.any(taken[neurons]):
            layers.append(NamedLayer(label, neurons))
            taken[neurons] = True
    return layers


def _gated(net: Network, levels: Schedule) -> Iterator[tuple[str, Ints]]:
    """Yield LSTM layers whose gates multiply connections, as NeatapticTS and neataptic build them.

    A cell keeps itself by a gate, and other gates multiply what it reads and what reads it: a unit
    is four neurons.
    """
    live = net.live.take(net.live.gater != NONE)
    cells = np.unique(live.source[(live.source == live.target) & (live.delay > 0)])
    for level in np.unique(levels.level[cells]):
        layer = cells[levels.level[cells] == level]
        touching = np.isin(live.source, layer) | np.isin(live.target, layer)
        neurons = np.unique(np.concatenate([layer, live.gater[touching]]))
        if len(neurons) == 4 * len(layer):
            yield f"LSTM {len(layer)}", neurons


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


def families_of(net: Network) -> npt.NDArray[np.object_]:
    """Return the family of each neuron's activation; "input" for inputs."""
    names = np.array([family(name) for name in net.activations] or [""], object)
    return np.where(net.is_input, "input", names[net.neurons.activation])


FAMILIES = ("sigmoid", "tanh", "rectifier", "wave", "step", "curve", "linear")
_Z = np.linspace(-6, 6, 481)
_FAR = np.array([-60.0, 60.0])


@lru_cache(maxsize=1024)
def family(activation: str) -> str:
    """Return the family of a Network's activation, by its curve from −6 to 6; one of FAMILIES.

    linear: a line. step: three values at most. tanh and sigmoid: never falls and levels off on
    both sides; a sigmoid is nowhere negative. rectifier: about level on one side, a line on the
    other. wave: turns more than once, or comes back to where it began. curve: anything else.

    Raises:
        NetworkError: there is no such activation.
    """
    f = activation_named(activation)
    with np.errstate(all="ignore"):
        y, far = f(_Z), f(_FAR)
    if not np.all(np.isfinite(y)):
        return "curve"
    size = float(np.ptp(y))
    if size == 0 or np.max(np.abs(np.diff(y, 2))) < 1e-9 * size:
        return "linear"
    if len(np.unique(y.round(9))) <= 3:
        return "step"
    slope = np.diff(y)
    if np.max(np.abs(slope)) > 0.3 * size:
        return "curve"  # it jumps
    signs = np.sign(slope[np.abs(slope) > 1e-4 * size])
    turns = int(np.count_nonzero(np.diff(signs)))
    with np.errstate(all="ignore"):
        level = np.abs(far - y[[0, -1]]) < 0.1 * size
    if turns == 0 and np.all(level):
        return "sigmoid" if y.min() >= -1e-9 * size else "tanh"
    if turns >= 2 or (turns == 1 and np.all(level) and abs(y[0] - y[-1]) < 0.1 * size):
        return "wave"
    first, middle, last = slope[:20].mean(), slope[350:370].mean(), slope[-20:].mean()
    flat, steep = sorted((abs(first), abs(last)))
    is_line = abs(middle - last) < 0.12 * steep
    return "rectifier" if flat < 0.15 * steep and is_line else "curve"
