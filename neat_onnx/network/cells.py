"""Building RNN, GRU and LSTM cells neuron by neuron, as ONNX defines them.

A gate is a layer of sigmoid neurons, a product is a gated connection, memory is a delay of one
step. Each layer has as many neurons as there are hidden units.
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE, Connections, Floats, Ints, Neurons, Port
from neat_onnx.network.structure import Structure


def rnn(inputs: int, units: int, outputs: int | None, seed: int) -> Structure:
    """See `Network.rnn`."""
    cell = _Cell(inputs, units, outputs, ["tanh"], seed)
    (hidden,) = cell.layers
    cell.drive(hidden, hidden)
    return cell.network(hidden)


def gru(
    inputs: int, units: int, outputs: int | None, linear_before_reset: bool, seed: int
) -> Structure:
    """See `Network.gru`."""
    linear_layer = ["identity"] if linear_before_reset else []
    names = ["sigmoid", "sigmoid", *linear_layer, "tanh", "complement", "identity"]
    cell = _Cell(inputs, units, outputs, names, seed)
    update, reset, *linear, candidate, fresh, hidden = cell.layers
    cell.drive(update, hidden)
    cell.drive(reset, hidden)
    if linear:
        cell.drive(linear[0], hidden, from_inputs=False)
        cell.drive(candidate)
        cell.pass_on(candidate, linear[0], gate=reset)
    else:
        cell.drive(candidate, hidden, gate=reset)
    cell.pass_on(fresh, update)
    cell.pass_on(hidden, candidate, gate=fresh)
    cell.pass_on(hidden, hidden, gate=update, delay=1)
    return cell.network(hidden)


def lstm(inputs: int, units: int, outputs: int | None, seed: int) -> Structure:
    """See `Network.lstm`."""
    names = ["sigmoid", "sigmoid", "tanh", "identity", "sigmoid", "tanh", "identity"]
    cell = _Cell(inputs, units, outputs, names, seed)
    entry, forget, candidate, memory, out, shown, hidden = cell.layers
    for gate in (entry, forget, candidate, out):
        cell.drive(gate, hidden)
    cell.pass_on(memory, memory, gate=forget, delay=1)
    cell.pass_on(memory, candidate, gate=entry)
    cell.pass_on(shown, memory)
    cell.pass_on(hidden, shown, gate=out)
    return cell.network(hidden)


class _Cell:
    """A network in the making: inputs, layers of hidden units, perhaps a linear readout.

    Attributes:
        layers: the neurons of each layer, one for each of the activations given.

    Raises:
        NetworkError: there is no input, no unit, or a readout of nothing.
    """

    def __init__(
        self,
        inputs: int,
        units: int,
        outputs: int | None,
        activations: Sequence[str],
        seed: int,
    ) -> None:
        if inputs < 1 or units < 1 or (outputs is not None and outputs < 1):
            raise NetworkError(
                "a cell needs one input or more, one unit or more, and one output or more"
            )
        first = inputs + units * np.arange(len(activations))
        self.layers = [np.arange(start, start + units) for start in first.tolist()]
        self._inputs = np.arange(inputs)
        readout = inputs + units * len(activations)
        self._readout = np.arange(readout, readout + (outputs or 0))
        self._activations = ["identity"] * inputs
        self._activations += [name for name in activations for _ in range(units)]
        self._activations += ["identity"] * len(self._readout)
        self._bias = np.zeros(len(self._activations))
        self._random = np.random.default_rng(seed)
        self._genes: list[tuple[Ints, Ints, Floats, Ints, Ints]] = []

    def drive(
        self,
        layer: Ints,
        hidden: Ints | None = None,
        *,
        gate: Ints | None = None,
        from_inputs: bool = True,
    ) -> None:
        """Random weights and biases: from the inputs, and from the hidden units one step ago."""
        if from_inputs:
            self._connect(layer, self._inputs, delay=0)
        if hidden is not None:
            self._connect(layer, hidden, delay=1, gate=gate)
        self._bias[layer] = self._random.normal(0.0, 0.5, len(layer))

    def pass_on(
        self, layer: Ints, source: Ints, *, gate: Ints | None = None, delay: int = 0
    ) -> None:
        """Each neuron reads its own element of `source`, with the weight 1."""
        self._add(layer, source, np.ones(len(layer)), delay, gate)

    def _connect(self, layer: Ints, sources: Ints, *, delay: int, gate: Ints | None = None) -> None:
        """Every neuron reads all of `sources`, each gated by its own element of `gate`."""
        target, source = np.repeat(layer, len(sources)), np.tile(sources, len(layer))
        gater = None if gate is None else np.tile(gate, len(layer))
        scale = (len(self._inputs) + len(layer)) ** -0.5
        self._add(target, source, self._random.normal(0.0, scale, len(target)), delay, gater)

    def _add(
        self, target: Ints, source: Ints, weight: Floats, delay: int, gater: Ints | None
    ) -> None:
        gates = np.full(len(target), NONE) if gater is None else gater
        self._genes.append((target, source, weight, np.full(len(target), delay), gates))

    def network(self, hidden: Ints) -> Structure:
        """The network that gives the hidden units, or the readout of them."""
        if len(self._readout):
            self._connect(self._readout, hidden, delay=0)
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
