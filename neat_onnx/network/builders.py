"""Build networks with random weights: layers, and RNN, GRU and LSTM cells from their tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import listed
from neat_onnx.errors import NetworkError
from neat_onnx.network.cells import Cell, Part
from neat_onnx.network.genes import NONE, Connections, Floats, Ints, Neurons, owned, read_only
from neat_onnx.network.port import Port
from neat_onnx.network.structure import Structure


def mlp(sizes: Sequence[int], hidden: str, output: str, seed: int) -> Structure:
    """See `Network.mlp`."""
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        raise NetworkError(
            f"layer sizes {list(sizes)} make no network",
            hint="Give at least an input and an output layer, each of one neuron or more",
        )
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    sources, targets, weights = [], [], []
    for layer in range(1, len(sizes)):
        below, here = sizes[layer - 1], sizes[layer]
        sources.append(np.tile(np.arange(starts[layer - 1], starts[layer]), here))
        targets.append(np.repeat(np.arange(starts[layer], starts[layer + 1]), below))
        weights.append(random.normal(0.0, below**-0.5, below * here))
    count = int(starts[-1])
    bias = random.normal(0.0, 0.5, count)
    bias[: sizes[0]] = 0.0
    names = ["identity"] * sizes[0] + [hidden] * (count - sizes[0] - sizes[-1])
    names += [output] * sizes[-1]
    columns = [owned(np.concatenate(each)) for each in (sources, targets, weights)]
    neurons, activations, aggregations = Neurons.of(np.arange(count), names, bias=bias)
    return Structure(
        inputs=(Port("input", (sizes[0],), np.arange(sizes[0])),),
        outputs=(Port("output", (sizes[-1],), np.arange(count - sizes[-1], count)),),
        neurons=neurons,
        connections=Connections.of(*columns),
        activations=activations,
        aggregations=aggregations,
    )


def build_cell(cell: Cell, inputs: int, units: int, outputs: int | None, seed: int) -> Structure:
    """Build a cell with random weights and biases. See `Network.rnn`.

    Args:
        cell: the table of its parts.
        inputs, units: how many there are.
        outputs: neurons of a linear readout; None for none.
        seed: the same seed gives the same weights.

    Raises:
        NetworkError: there is no input, no unit, or a readout of nothing.
    """
    if inputs < 1 or units < 1 or (outputs is not None and outputs < 1):
        raise NetworkError(
            "a cell needs one input or more, one unit or more, and one output or more"
        )
    made = _CellBuilder(cell, inputs, units, outputs or 0, seed)
    for part in cell.parts:
        made.connect(part)
    return made.network()


class _CellBuilder:
    """A network in the making: inputs, the parts of a cell, perhaps a linear readout."""

    def __init__(self, cell: Cell, inputs: int, units: int, outputs: int, seed: int) -> None:
        count = inputs + units * len(cell.parts)
        self._inputs = np.arange(inputs)
        self._neurons = {
            part.name: np.arange(units) + inputs + units * k for k, part in enumerate(cell.parts)
        }
        self._readout = count + np.arange(outputs)
        self._activations = ["identity"] * inputs
        self._activations += [part.activation for part in cell.parts for _ in range(units)]
        self._activations += ["identity"] * outputs
        self._bias = np.zeros(count + outputs)
        self._random = np.random.default_rng(seed)
        self._genes: list[tuple[Ints, Ints, Floats, Ints, Ints]] = []

    def connect(self, part: Part) -> None:
        """Make the connections into a part, and its biases if it has weights."""
        layer = self._neurons[part.name]
        if "W" in part.matrices:
            self._fully_connect(layer, self._inputs, delay=0)
        if "R" in part.matrices:
            gate = self._neurons.get(part.gate)
            self._fully_connect(layer, self._neurons["hidden"], delay=1, gate=gate)
        if part.matrices:
            self._bias[layer] = self._random.normal(0.0, 0.5, len(layer))
        for link in part.links:
            gate = self._neurons.get(link.gate)
            self._add(layer, self._neurons[link.source], np.ones(len(layer)), link.delay, gate)

    def _fully_connect(
        self, layer: Ints, sources: Ints, *, delay: int, gate: Ints | None = None
    ) -> None:
        """Let every neuron read all of `sources`, each gated by its own element of `gate`."""
        target, source = np.repeat(layer, len(sources)), np.tile(sources, len(layer))
        gater = None if gate is None else np.tile(gate, len(layer))
        scale = (len(self._inputs) + len(layer)) ** -0.5
        self._add(target, source, self._random.normal(0.0, scale, len(target)), delay, gater)

    def _add(
        self, target: Ints, source: Ints, weight: Floats, delay: int, gater: Ints | None
    ) -> None:
        gates = np.full(len(target), NONE) if gater is None else gater
        self._genes.append((target, source, weight, np.full(len(target), delay), gates))

    def network(self) -> Structure:
        """Return the network that gives the hidden units, or the readout of them."""
        hidden = self._neurons["hidden"]
        if len(self._readout):
            self._fully_connect(self._readout, hidden, delay=0)
            self._bias[self._readout] = self._random.normal(0.0, 0.5, len(self._readout))
        target, source, weight, delay, gater = map(np.concatenate, zip(*self._genes, strict=True))
        genes = Connections.of(source, target, weight, delay=delay, gater=gater)
        ids = np.arange(len(self._activations))
        neurons, activations, aggregations = Neurons.of(ids, self._activations, bias=self._bias)
        results = self._readout if len(self._readout) else hidden
        return Structure(
            inputs=(Port("input", (len(self._inputs),), self._inputs),),
            outputs=(Port("output", (len(results),), results),),
            neurons=neurons,
            connections=genes.take(np.lexsort((delay, source, target))),
            activations=activations,
            aggregations=aggregations,
        )


Net = TypeVar("Net", bound=Structure)
Column = npt.ArrayLike | None


def from_arrays(
    ends: Mapping[str, npt.ArrayLike],
    functions: Mapping[str, str | Sequence[str]],
    neurons: Mapping[str, Column],
    connections: Mapping[str, Column],
) -> Structure:
    """See `Network.from_arrays`; its arguments are grouped here."""
    place = {name: _flat(name, values) for name, values in ends.items()}
    given = {name: values for name, values in neurons.items() if values is not None}
    ids = np.arange(_count(place)) if neurons["id"] is None else given.pop("id")
    ids = _flat("id", ids)
    columns: dict[str, Any] = {
        name: _column(name, values, len(ids)) for name, values in given.items()
    }
    names: dict[str, Any] = {
        name: [each] * len(ids) if isinstance(each, str) else listed(name, each)
        for name, each in functions.items()
    }
    for name, each in names.items():
        if len(each) != len(ids) or not all(isinstance(text, str) for text in each):
            raise NetworkError(f"{name} is no list of {len(ids)} names", where=name)
    genes, activations, aggregations = Neurons.of(ids, **columns, **names)
    edges: dict[str, Any] = {
        name: _column(name, values, len(place["source"]), _DTYPES.get(name, np.float64))
        for name, values in connections.items()
        if values is not None or name == "weight"
    }
    return Structure(
        inputs=(Port("input", place["inputs"].shape, place["inputs"]),),
        outputs=(Port("output", place["outputs"].shape, place["outputs"]),),
        neurons=genes,
        connections=Connections.of(place["source"], place["target"], **edges),
        activations=activations,
        aggregations=aggregations,
    )


def with_parameters(net: Net, weight: Column, bias: Column, response: Column) -> Net:
    """See `Network.with_parameters`."""
    edges, genes = net.connections, net.neurons
    if weight is not None:
        edges = replace(edges, weight=_column("weight", weight, len(edges)))
    if bias is not None:
        genes = replace(genes, bias=_column("bias", bias, len(genes)))
    if response is not None:
        genes = replace(genes, response=_column("response", response, len(genes)))
    return replace(net, connections=edges, neurons=genes)


_DTYPES: dict[str, type[np.generic]] = {"enabled": np.bool_, "delay": np.int64}


def _count(place: Mapping[str, Ints]) -> int:
    """The number of neurons, of which each one is named, from 0 on."""
    named = np.unique(np.concatenate([*place.values()]))
    if not np.array_equal(named, np.arange(len(named))):
        raise NetworkError(
            f"{len(named)} neurons are named, and they are not 0 to {len(named) - 1}",
            where="source, target, inputs, outputs",
            hint="Give the arguments positions, and the numbers of the genes as id",
        )
    return len(named)


def _flat(name: str, values: Any) -> Ints:
    found = _array(name, values, np.int64)
    return found if found.ndim == 1 else owned(found.flatten())


def _array(name: str, values: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        return read_only(values, dtype)
    except (NetworkError, ValueError, TypeError) as error:
        raise NetworkError(
            f"{name} is no array of {np.dtype(dtype)}: {error}", where=name
        ) from error


def _column(
    name: str, values: Any, count: int, dtype: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """One number for each gene, or one for all."""
    given = _array(name, values, dtype)
    if given.shape not in ((), (count,)):
        raise NetworkError(
            f"{name} has shape {list(given.shape)}, expected [{count}] or one number", where=name
        )
    return given if given.ndim else np.full(count, given)
