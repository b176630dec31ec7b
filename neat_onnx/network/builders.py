"""Networks of random weights, in layers and in cells, and networks from arrays of genes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import listed
from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE, Connections, Floats, Ints, Neurons, owned, read_only
from neat_onnx.network.structure import Structure

if TYPE_CHECKING:
    from neat_onnx.network.cells import Cell


def mlp(sizes: Sequence[int], hidden: str, output: str, seed: int) -> Structure:
    """See `Network.mlp`."""
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        hint = "Give at least an input and an output layer, each of one neuron or more"
        raise NetworkError(f"layer sizes {list(sizes)} make no network", hint=hint)
    random, count = np.random.default_rng(seed), sum(sizes)
    layers = np.split(np.arange(count), np.cumsum(sizes)[:-1])
    genes = [
        (
            np.tile(below, len(here)),
            np.repeat(here, len(below)),
            random.normal(0.0, len(below) ** -0.5, len(below) * len(here)),
        )
        for below, here in pairwise(layers)
    ]
    bias = random.normal(0.0, 0.5, count)
    bias[layers[0]] = 0.0
    names = ["identity"] * sizes[0] + [hidden] * (count - sizes[0] - sizes[-1])
    names += [output] * sizes[-1]
    neurons = Neurons.of(np.arange(count), names, bias=bias)
    edges = Connections.of(*(owned(np.concatenate(each)) for each in zip(*genes, strict=True)))
    return Structure.of_genes(layers[0], layers[-1], neurons, edges)


def build_cell(cell: "Cell", inputs: int, units: int, outputs: int | None, seed: int) -> Structure:
    """Build a cell with random weights and biases, and a linear readout if outputs are asked for.

    See `Network.rnn`.
    """
    if inputs < 1 or units < 1 or (outputs is not None and outputs < 1):
        raise NetworkError(
            "a cell needs one input or more, one unit or more, and one output or more"
        )
    random, count = np.random.default_rng(seed), inputs + units * len(cell.parts)
    x, readout = np.arange(inputs), count + np.arange(outputs or 0)
    layers = {part.name: inputs + units * k + np.arange(units) for k, part in enumerate(cell.parts)}
    names = ["identity"] * inputs + [part.activation for part in cell.parts for _ in range(units)]
    names += ["identity"] * len(readout)
    bias = np.zeros(len(names))
    genes: list[tuple[Ints, Ints, Floats, Ints, Ints]] = []

    def link(target: Ints, source: Ints, weight: Floats, delay: int, gate: Ints | None) -> None:
        gater = np.full(len(target), NONE) if gate is None else gate
        genes.append((target, source, weight, np.full(len(target), delay), gater))

    def connect(layer: Ints, sources: Ints, delay: int = 0, gate: Ints | None = None) -> None:
        """Let every neuron read all of `sources`, each gated by its own element of `gate`."""
        target, source = np.repeat(layer, len(sources)), np.tile(sources, len(layer))
        weight = random.normal(0.0, (inputs + len(layer)) ** -0.5, len(target))
        link(target, source, weight, delay, None if gate is None else np.tile(gate, len(layer)))

    for part in cell.parts:
        layer = layers[part.name]
        if "W" in part.matrices:
            connect(layer, x)
        if "R" in part.matrices:
            connect(layer, layers["hidden"], 1, layers.get(part.gate))
        if part.matrices:
            bias[layer] = random.normal(0.0, 0.5, units)
        for each in part.links:
            link(layer, layers[each.source], np.ones(units), each.delay, layers.get(each.gate))
    if len(readout):
        connect(readout, layers["hidden"])
        bias[readout] = random.normal(0.0, 0.5, len(readout))
    target, source, weight, delay, gater = map(np.concatenate, zip(*genes, strict=True))
    edges = Connections.of(source, target, weight, delay=delay, gater=gater)
    neurons = Neurons.of(np.arange(len(names)), names, bias=bias)
    y = readout if len(readout) else layers["hidden"]
    return Structure.of_genes(x, y, neurons, edges.take(np.lexsort((delay, source, target))))


Net = TypeVar("Net", bound=Structure)
Column = npt.ArrayLike | None


def from_arrays(
    ends: Mapping[str, npt.ArrayLike],
    functions: Mapping[str, str | Sequence[str]],
    neurons: Mapping[str, Column],
    connections: Mapping[str, Column],
) -> Structure:
    """See `Network.from_arrays`; its arguments are grouped here."""
    place = {name: _array(name, values, np.int64, None) for name, values in ends.items()}
    named = np.unique(np.concatenate([*place.values()]))
    if neurons["id"] is None and not np.array_equal(named, np.arange(len(named))):
        raise NetworkError(
            f"{len(named)} neurons are named, and they are not 0 to {len(named) - 1}",
            where="source, target, inputs, outputs",
            hint="Give the arguments positions, and the numbers of the genes as id",
        )
    ids = np.arange(len(named)) if neurons["id"] is None else neurons["id"]
    ids = _array("id", ids, np.int64, None)
    columns: dict[str, Any] = {
        name: _array(name, neurons[name], np.float64, len(ids)) for name in ("bias", "response")
    }
    for name, each in functions.items():
        names = [each] * len(ids) if isinstance(each, str) else listed(name, each)
        if len(names) != len(ids) or not all(isinstance(text, str) for text in names):
            raise NetworkError(f"{name} is no list of {len(ids)} names", where=name)
        columns[name] = names
    edges: dict[str, Any] = {
        name: _array(name, values, _DTYPES[name], len(place["source"]))
        for name, values in connections.items()
        if values is not None or name == "weight"
    }
    genes = Neurons.of(ids, **columns), Connections.of(place["source"], place["target"], **edges)
    return Structure.of_genes(place["inputs"], place["outputs"], *genes)


def with_parameters(net: Net, weight: Column, bias: Column, response: Column) -> Net:
    """See `Network.with_parameters`."""
    edges, genes = net.connections, net.neurons
    given = {"bias": bias, "response": response}
    columns: dict[str, Any] = {
        name: _array(name, values, np.float64, len(genes))
        for name, values in given.items()
        if values is not None
    }
    if weight is not None:
        edges = replace(edges, weight=_array("weight", weight, np.float64, len(edges)))
    return replace(net, connections=edges, neurons=replace(genes, **columns))


_DTYPES: dict[str, type[np.generic]] = {
    "weight": np.float64, "enabled": np.bool_, "delay": np.int64,
}  # fmt: skip


def _array(name: str, values: Any, dtype: npt.DTypeLike, count: int | None) -> npt.NDArray[Any]:
    """Values as an array of one axis: a number for each gene, or one for all of `count`."""
    try:
        found = read_only(values, dtype)
    except (NetworkError, ValueError, TypeError) as error:
        raise NetworkError(
            f"{name} is no array of {np.dtype(dtype)}: {error}", where=name
        ) from error
    if count is None:
        return found if found.ndim == 1 else owned(found.flatten())
    if found.shape not in ((), (count,)):
        raise NetworkError(
            f"{name} has shape {list(found.shape)}, expected [{count}] or one number", where=name
        )
    return found if found.ndim else np.full(count, found)
