"""The Network: an evolved network as arrays, with the verbs that run, save and build it.

At step t every neuron j computes

    z_j(t) = bias_j + response_j · aggregate_j over incoming e of ( w_e · gain_e(t) · v_e(t) )
    a_j(t) = activation_j( z_j(t) )

where v_e(t) is the source's a(t − delay), or its z(t − delay) where the connection reads the state,
and gain_e is 1 or the activation of the neuron that gates e. Disabled connections are genes: they
are kept and do not compute.

The arrays stand in `structure`, and everything that computes with them takes a Structure; this is
the top of the room. Its verbs import their modules when they are called, so that whoever only reads
a network, or waits for the page to start, need not wait for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, overload

import numpy.typing as npt

from neat_onnx.arguments import (
    FLAG,
    INTEGER,
    INTEGERS,
    PATH,
    TEXT,
    WHOLE,
    Kind,
    is_number,
    is_whole,
    optional,
    takes,
)
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.hooks import done_by
from neat_onnx.network.structure import Structure

if TYPE_CHECKING:
    from neat_onnx.network.document import NetworkDocument
    from neat_onnx.network.run import Runner

# ruff: noqa: PLC0415 (see above)


_INPUTS = Kind(
    "a number of inputs, or a list of ids", lambda value: not is_whole(value) or 0 <= value < 2**31
)
_BOUND = Kind("a number of 0 or more", lambda value: is_number(value) and value >= 0)
_CELL = {"inputs": INTEGER, "units": INTEGER, "outputs": optional(INTEGER), "seed": WHOLE}


class Network(Structure):
    """An evolved network: neurons, and connections with explicit delays. Immutable.

    The module's text has the equations by which it computes; `Structure` has its attributes.
    """

    @classmethod
    def of(cls, structure: Structure) -> Self:
        """Return a network of a structure: its arrays are shared, and not checked again."""
        net = object.__new__(cls)
        net.__dict__.update(structure.__dict__)
        return net

    @cached_property
    def _runner(self) -> Runner:
        from neat_onnx.network.run import Runner

        return Runner()

    # --- running ---------------------------------------------------------------------------------

    @overload
    def activate(self, x: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]: ...
    @overload
    def activate(self, x: npt.ArrayLike) -> Floats: ...
    def activate(self, x: Any) -> Any:
        """Compute independent samples, each from the reset state.

        Args:
            x: (I,) or (N, I); or one such array for each named input port, and a single value
                where all samples share it.

        Returns:
            (O,) or (N, O), float64; a dictionary of the output ports if `x` is one of the inputs.

        Raises:
            NetworkError: the shape does not fit.
        """
        return self._runner.activate(self, x)

    @overload
    def run(self, x: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]: ...
    @overload
    def run(self, x: npt.ArrayLike) -> Floats: ...
    def run(self, x: Any) -> Any:
        """Compute a sequence of consecutive steps, from the reset state.

        Args:
            x: (T, I), or (T, N, I) for N sequences side by side; or one such array for each named
                input port. That of a port without time, beside others that have one, may lack the
                axis of time.

        Returns:
            (T, O) or (T, N, O), float64; a dictionary if `x` is one.

        Raises:
            NetworkError: the shape does not fit.
        """
        return self._runner.run(self, x)

    def compile(self) -> Callable[[Sequence[float]], list[float]]:
        """Return `activate` for one sample as a function of Python's numbers, for inner loops.

        It is straight-line Python, compiled once, that takes the inputs (I,) of all ports one after
        the other and returns the outputs (O,) as a list; of a large dense network, whose levels
        arrays compute faster, it is `activate`. It has no memory between calls: see `step`.

        Raises:
            NetworkError: connections without delay form a cycle; or, when it is called, the inputs
                do not fit.
        """
        return self._runner.compile(self)

    @takes(n=WHOLE)
    def initial_state(self, n: int = 1) -> Floats:
        """The memory of `n` control loops before their first step: (n, registers), float64."""
        return self._runner.initial_state(self, n)

    def step(self, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
        """Compute one step of a control loop.

        Args:
            x: (I,), or (N, I) for N loops side by side.
            state: from `initial_state`, or from the step before.

        Returns:
            (O,) or (N, O), and the state for the next step.

        Raises:
            NetworkError: a shape does not fit.
        """
        return self._runner.step(self, x, state)

    # --- seen ------------------------------------------------------------------------------------

    def to_svg(self) -> str:
        """Draw the network; see docs/drawing.md. The same network gives the same text.

        Raises:
            NetworkError: connections without delay form a cycle.
        """
        drawn: str = done_by("draw")(self, "svg")
        return drawn

    def _repr_html_(self) -> str:
        """The drawing and a few numbers, for notebooks."""
        drawn: str = done_by("draw")(self, "html")
        return drawn

    # --- other networks of these genes -----------------------------------------------------------

    @property
    def levels(self) -> tuple[Ints, ...]:
        """The neurons of each topological level, as positions: the inputs, then level by level.

        Neurons of one level read only levels before it, or earlier steps.

        Raises:
            NetworkError: connections without delay form a cycle.
        """
        from neat_onnx.network.schedule import schedule

        return schedule(self).levels

    @takes(below=_BOUND)
    def pruned(self, *, below: float = 0.0) -> Self:
        """Return the network without genes that no output depends on: it computes the same.

        Disabled connections go, and hidden neurons that lead to no output, with their connections.
        Inputs and outputs stay, and so do all ids and names.

        Args:
            below: connections into sums whose weight is smaller go as well; `neat_onnx.diff(net,
                net.pruned(below=0.01))` measures by how much the outputs then differ.

        Raises:
            OptionError: `below` is not a number of 0 or more.
        """
        from neat_onnx.network.pruning import pruned

        return pruned(self, below)

    def with_parameters(
        self,
        *,
        weight: npt.ArrayLike | None = None,
        bias: npt.ArrayLike | None = None,
        response: npt.ArrayLike | None = None,
    ) -> Self:
        """Return the network with other numbers, the structure being the same.

        Args:
            weight: (connections,), in the order of `net.connections`, disabled ones included.
            bias, response: (neurons,), inputs included. None keeps the numbers that there are.

        Raises:
            NetworkError: an array has another length, or a number that is not finite.
        """
        from neat_onnx.network.builders import with_parameters

        return with_parameters(self, weight, bias, response)

    # --- documents -------------------------------------------------------------------------------

    def to_document(self) -> NetworkDocument:
        """The network as a document of genes that a person can read."""
        from neat_onnx.network.document import to_document

        return to_document(self)

    def to_json(self) -> str:
        """The network as neat-onnx network JSON; every number reads back to the same double."""
        from neat_onnx.network.document import to_json

        return to_json(self)

    @takes(path=PATH, library=optional(TEXT), source=FLAG, schema=FLAG)
    def save(
        self,
        path: str | os.PathLike[str],
        library: str | None = None,
        *,
        config: object = None,
        time_step: float | None = None,
        source: bool = True,
        schema: bool = False,
    ) -> None:
        """Write the network to a file of a library, whole or not at all.

        Args:
            path: the file, which is replaced if it exists. For neat-python the ending picks the
                form: .json, or .pkl for a genome that can evolve on, with its configuration beside
                it, in an .ini of the same name, which is not replaced by another one.
            library: the name of the library; see `neat_onnx.libraries()`. None: by the ending,
                neat-python for .pkl, SharpNEAT for .net, neat-onnx for .json.
            config: of a .pkl for neat-python, as for `to_neat_python`: your own settings are kept.
            time_step: of a .pkl of a ctrnn, as there.
            source: write the model that the network was imported from, if neat-onnx is the library.
            schema: name the JSON Schema under `$schema`, so that editors check the document;
                neat-onnx alone has one.

        Raises:
            NetworkError: the library cannot compute the network; names the neurons.
            OptionError: there is no such library, or networks are not written for it; or none has
                that ending.
            DocumentError: the file cannot be written; or the .ini beside it exists, and is another.
        """
        from neat_onnx.network.saving import save

        net = self if source else self.without_source()
        save(net, path, library, schema=schema, config=config, time_step=time_step)

    @takes(name=TEXT)
    def to_library(self, name: str) -> Any:
        """The network as a library's own document: a value for `json.dumps`, text, or bytes.

        Args:
            name: the name of the library; see `neat_onnx.libraries()`.

        Returns:
            A JSON value, `str` for a text format, or `bytes` for a binary one.

        Raises:
            NetworkError: the library cannot compute the network; names the neurons.
            OptionError: there is no such library, or networks are not written for it.
        """
        from neat_onnx.network.saving import to_library

        return to_library(self, name)

    @classmethod
    def from_document(cls, document: NetworkDocument | Mapping[str, Any]) -> Self:
        """Make the network that a document describes.

        Args:
            document: from `to_document`, or the value of parsed network JSON.

        Raises:
            NetworkError: it is no network document, or its genes do not fit together; says where.
        """
        from neat_onnx.network.document import structure_of

        return cls.of(structure_of(document))

    # --- builders --------------------------------------------------------------------------------

    @classmethod
    @takes(inputs=_INPUTS)
    def build(
        cls,
        *,
        inputs: int | Sequence[int],
        outputs: Sequence[int],
        neurons: Iterable[Mapping[str, Any] | int],
        connections: Iterable[Mapping[str, Any] | tuple[int, int, float]],
    ) -> Self:
        """A network from genes.

        Args:
            inputs: the ids of the input neurons, or how many: then 0, 1, ….
            outputs: the ids of the output neurons.
            neurons: for each neuron that computes, its id, or a mapping with `id` and any of
                `activation`, `aggregation`, `bias`, `response`, `initial`, `name`.
            connections: for each, (source id, target id, weight), or a mapping with `source`,
                `target`, `weight` and any of `enabled`, `delay`, `reads_state`, `gater`,
                `gate_delay`, `initial_gain`.

        Raises:
            NetworkError: they do not describe a network.
        """
        from neat_onnx.network.document import build

        return cls.of(build(inputs, outputs, neurons, connections))

    @classmethod
    def from_arrays(
        cls,
        *,
        inputs: npt.ArrayLike,
        outputs: npt.ArrayLike,
        source: npt.ArrayLike,
        target: npt.ArrayLike,
        weight: npt.ArrayLike,
        activation: str | Sequence[str] = "tanh",
        aggregation: str | Sequence[str] = "sum",
        bias: npt.ArrayLike = 0.0,
        response: npt.ArrayLike = 1.0,
        id: npt.ArrayLike | None = None,
        enabled: npt.ArrayLike | None = None,
        delay: npt.ArrayLike | None = None,
    ) -> Self:
        """A network from arrays of genes: neurons 0 to n - 1, and connections between them.

        Args:
            inputs, outputs: the neurons that are inputs, and outputs.
            source, target, weight: (connections,): from neuron `source` to neuron `target`.
            activation, aggregation: a name for each neuron, (n,), or one for all.
            bias, response: a number for each neuron, (n,), or one for all. Inputs compute nothing.
            id: (n,), the numbers of the genes; None for 0 to n - 1.
            enabled, delay: for each connection, or one for all; None: enabled, without delay.

        Raises:
            NetworkError: they do not fit together; says where.
        """
        from neat_onnx.network.builders import from_arrays

        ends = {"inputs": inputs, "outputs": outputs, "source": source, "target": target}
        functions = {"activation": activation, "aggregation": aggregation}
        neurons = {"id": id, "bias": bias, "response": response}
        connections = {"weight": weight, "enabled": enabled, "delay": delay}
        return cls.of(from_arrays(ends, functions, neurons, connections))

    @classmethod
    @takes(sizes=INTEGERS, activation=TEXT, output_activation=optional(TEXT), seed=WHOLE)
    def mlp(
        cls,
        sizes: Sequence[int],
        *,
        activation: str = "tanh",
        output_activation: str | None = None,
        seed: int = 0,
    ) -> Self:
        """A layered network, fully connected, with random weights and biases.

        Args:
            sizes: neurons in each layer, from the inputs to the outputs.
            activation: of every layer, or of the hidden ones if `output_activation` is given.
            seed: the same seed gives the same weights (normal, scaled by 1/√inputs).

        Raises:
            NetworkError: fewer than two layers, an empty one, or an unknown activation.
        """
        from neat_onnx.network.builders import mlp

        return cls.of(mlp(sizes, activation, output_activation or activation, seed))

    @classmethod
    @takes(**_CELL)
    def rnn(cls, inputs: int, units: int, outputs: int | None = None, *, seed: int = 0) -> Self:
        """An RNN cell of tanh units as ONNX defines it, with random weights and biases.

        Args:
            inputs: how many there are.
            units: hidden units; they are the outputs, unless a readout is asked for.
            outputs: neurons of a linear readout; None for none.
            seed: the same seed gives the same weights (normal, scaled by 1/√(inputs + units)).

        Raises:
            NetworkError: one of the numbers is less than 1.
        """
        from neat_onnx.network.builders import build_cell
        from neat_onnx.network.cells import RNN

        return cls.of(build_cell(RNN, inputs, units, outputs, seed))

    @classmethod
    @takes(**_CELL, linear_before_reset=FLAG)
    def gru(
        cls,
        inputs: int,
        units: int,
        outputs: int | None = None,
        *,
        linear_before_reset: bool = False,
        seed: int = 0,
    ) -> Self:
        """A GRU cell, neuron by neuron: gates are neurons that gate. See `Network.rnn`.

        Args:
            linear_before_reset: the reset gate multiplies the recurrent products rather than the
                hidden units.
        """
        from neat_onnx.network.builders import build_cell
        from neat_onnx.network.cells import GRU, LINEAR_GRU

        cell = LINEAR_GRU if linear_before_reset else GRU
        return cls.of(build_cell(cell, inputs, units, outputs, seed))

    @classmethod
    @takes(**_CELL)
    def lstm(cls, inputs: int, units: int, outputs: int | None = None, *, seed: int = 0) -> Self:
        """An LSTM cell, neuron by neuron: gates are neurons that gate. See `Network.rnn`."""
        from neat_onnx.network.builders import build_cell
        from neat_onnx.network.cells import LSTM

        return cls.of(build_cell(LSTM, inputs, units, outputs, seed))
