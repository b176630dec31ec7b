"""The Network: what an evolved network computes, in arrays.

At step t every neuron j computes

    z_j(t) = bias_j + response_j · aggregate_j over incoming e of ( w_e · gain_e(t) · v_e(t) )
    a_j(t) = activation_j( z_j(t) )

where v_e(t) is the source's a(t − delay), or its z(t − delay) where the connection reads the state,
and gain_e is 1 or the activation of the neuron that gates e. Disabled connections are genes: they
are kept and do not compute.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    Floats,
    Ints,
    Neurons,
    Port,
    same_arrays,
)
from neat_onnx.network.spatial import SpatialBlock

if TYPE_CHECKING:
    from neat_onnx.network.document import NetworkDocument


@dataclass(frozen=True, eq=False)
class Network:
    """A synchronous dataflow graph of neurons (see the module's text). Immutable.

    Attributes:
        inputs, outputs: the ports, at least one output.
        neurons: all of them; those of an input port compute nothing.
        connections: sorted by target, and in link order within one.
        activations, aggregations: tables of names.
        library: what wrote it, for people; takes no part in equality.
        blocks: hints at layers that slide a window; they take no part in equality either.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    neurons: Neurons
    connections: Connections
    activations: tuple[str, ...]
    aggregations: tuple[str, ...]
    library: str = "neat-onnx"
    blocks: tuple[SpatialBlock, ...] = ()

    def __post_init__(self) -> None:
        from neat_onnx.network.check import check_network  # noqa: PLC0415 (it needs this module)

        order = np.argsort(self.connections.target, kind="stable")
        if np.any(order[1:] < order[:-1]):
            object.__setattr__(self, "connections", self.connections.take(order))
        check_network(self)
        for part in (self.neurons, self.connections):
            for field in fields(part):
                value = getattr(part, field.name)
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)

    def __len__(self) -> int:
        """How many neurons, inputs included."""
        return len(self.neurons)

    def __repr__(self) -> str:
        return (
            f"<Network of {len(self.neurons)} neurons and {len(self.connections)} connections, "
            f"{len(self.input_neurons)} inputs, {len(self.output_neurons)} outputs>"
        )

    def __eq__(self, other: object) -> bool:
        """The same genome: same ports, neurons and connections, in the same order."""
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and same_arrays(self.connections, other.connections, ())
            and same_arrays(self.neurons, other.neurons, ("activation", "aggregation", "name"))
            and self.neuron_names == other.neuron_names
            and np.array_equal(self.activation_names, other.activation_names)
            and np.array_equal(self.aggregation_names, other.aggregation_names)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def activation_names(self) -> npt.NDArray[np.object_]:
        """The name of each neuron's activation, shape (n,)."""
        return np.array(self.activations, dtype=object)[self.neurons.activation]

    @cached_property
    def aggregation_names(self) -> npt.NDArray[np.object_]:
        """The name of each neuron's aggregation, shape (n,)."""
        return np.array(self.aggregations, dtype=object)[self.neurons.aggregation]

    @cached_property
    def neuron_names(self) -> tuple[str, ...]:
        return self.neurons.name or ("",) * len(self.neurons)

    @cached_property
    def input_neurons(self) -> Ints:
        """The neurons of all input ports, in order."""
        return np.concatenate([np.empty(0, np.int64), *(port.neurons for port in self.inputs)])

    @cached_property
    def output_neurons(self) -> Ints:
        """The neurons of all output ports, in order."""
        return np.concatenate([port.neurons for port in self.outputs])

    @cached_property
    def is_input(self) -> Bools:
        """Whether each neuron is an input, shape (n,)."""
        mask = np.zeros(len(self.neurons), np.bool_)
        mask[self.input_neurons] = True
        return mask

    @cached_property
    def live(self) -> Connections:
        """The enabled connections."""
        if bool(np.all(self.connections.enabled)):
            return self.connections
        return self.connections.take(self.connections.enabled)

    @cached_property
    def has_memory(self) -> bool:
        """Whether what it computes at one step depends on steps before."""
        live = self.live
        gated = live.gater != NONE
        return bool(np.any(live.delay > 0) or np.any(live.gate_delay[gated] > 0))

    def label(self, neuron: int) -> str:
        """What messages call the neuron at this position."""
        name = self.neuron_names[neuron]
        return f"neuron {self.neurons.id[neuron]}" + (f" '{name}'" if name else "")

    # --- running ---------------------------------------------------------------------------------

    @overload
    def activate(self, x: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]: ...
    @overload
    def activate(self, x: npt.ArrayLike) -> Floats: ...
    def activate(self, x: Any) -> Any:
        """Compute independent samples, each from the reset state.

        Args:
            x: (I,) or (N, I); or one such array for each named input port.

        Returns:
            (O,) or (N, O), float64; a dictionary of the output ports if `x` is one of the inputs.

        Raises:
            NetworkError: the shape does not fit.
        """
        from neat_onnx.network.run import activate  # noqa: PLC0415

        return activate(self, x)

    @overload
    def run(self, x: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]: ...
    @overload
    def run(self, x: npt.ArrayLike) -> Floats: ...
    def run(self, x: Any) -> Any:
        """Compute a sequence of consecutive steps, from the reset state.

        Args:
            x: (T, I), or (T, N, I) for N sequences side by side; or one such array for each named
                input port.

        Returns:
            (T, O) or (T, N, O), float64; a dictionary if `x` is one.

        Raises:
            NetworkError: the shape does not fit.
        """
        from neat_onnx.network.run import run  # noqa: PLC0415

        return run(self, x)

    def initial_state(self, n: int = 1) -> Floats:
        """The memory of `n` control loops before their first step: (n, registers), float64."""
        from neat_onnx.network.run import initial_state  # noqa: PLC0415

        return initial_state(self, n)

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
        from neat_onnx.network.run import step  # noqa: PLC0415

        return step(self, x, state)

    # --- documents -------------------------------------------------------------------------------

    def to_document(self) -> NetworkDocument:
        """The network as a document of genes that a person can read."""
        from neat_onnx.network.document import to_document  # noqa: PLC0415

        return to_document(self)

    def to_json(self) -> str:
        """The network as neat-onnx network JSON; every number reads back to the same double."""
        from neat_onnx.network.document import to_json  # noqa: PLC0415

        return to_json(self)

    def save(self, path: str | os.PathLike[str], library: str = "neat-onnx") -> None:
        """Write the network to a file of a library, whole or not at all.

        Args:
            path: the file. For neat-python the ending picks the form: .json, or .pkl for a genome
                that can evolve on, with its configuration beside it.
            library: the name of the library; see `neat_onnx.libraries()`.

        Raises:
            NetworkError: the library cannot compute the network; names the neurons.
            OptionError: there is no such library, or networks are not written for it.
            DocumentError: the file cannot be written.
        """
        from neat_onnx.network.written import save  # noqa: PLC0415

        save(self, path, library)

    def to_library(self, name: str) -> Any:
        """The network as a library's own document: what `json.dumps` takes, text, or bytes.

        Args:
            name: the name of the library; see `neat_onnx.libraries()`.

        Returns:
            A JSON value, `str` for a text format, or `bytes` for a binary one.

        Raises:
            NetworkError: the library cannot compute the network; names the neurons.
            OptionError: there is no such library, or networks are not written for it.
        """
        from neat_onnx.network.written import to_library  # noqa: PLC0415

        return to_library(self, name)

    # --- builders --------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        *,
        inputs: int | Sequence[int],
        outputs: Sequence[int],
        neurons: Iterable[Mapping[str, Any] | int],
        connections: Iterable[Mapping[str, Any] | tuple[int, int, float]],
    ) -> Network:
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
            NetworkError: what they describe is not a network.
        """
        from neat_onnx.network.document import build  # noqa: PLC0415

        return build(inputs, outputs, neurons, connections)

    @classmethod
    def mlp(
        cls,
        sizes: Sequence[int],
        *,
        activation: str = "tanh",
        output_activation: str | None = None,
        seed: int = 0,
    ) -> Network:
        """A layered network, fully connected, with random weights and biases.

        Args:
            sizes: neurons in each layer, from the inputs to the outputs.
            activation: of every layer, or of the hidden ones if `output_activation` is given.
            seed: the same seed gives the same weights (normal, scaled by 1/√inputs).

        Raises:
            NetworkError: fewer than two layers, an empty one, or an unknown activation.
        """
        from neat_onnx.network.layered import mlp  # noqa: PLC0415

        return mlp(sizes, activation, output_activation or activation, seed)

    @classmethod
    def rnn(cls, inputs: int, units: int, outputs: int | None = None, *, seed: int = 0) -> Network:
        """An RNN cell of tanh units as ONNX defines it, with random weights and biases.

        Args:
            inputs: how many there are.
            units: hidden units; they are the outputs, unless a readout is asked for.
            outputs: neurons of a linear readout; None for none.
            seed: the same seed gives the same weights (normal, scaled by 1/√(inputs + units)).

        Raises:
            NetworkError: one of the numbers is less than 1.
        """
        from neat_onnx.network.cells import rnn  # noqa: PLC0415

        return rnn(inputs, units, outputs, seed)

    @classmethod
    def gru(
        cls,
        inputs: int,
        units: int,
        outputs: int | None = None,
        *,
        linear_before_reset: bool = False,
        seed: int = 0,
    ) -> Network:
        """A GRU cell, neuron by neuron: gates are neurons that gate. See `Network.rnn`.

        Args:
            linear_before_reset: the reset gate multiplies what the recurrent weights make of the
                hidden units, rather than the hidden units.
        """
        from neat_onnx.network.cells import gru  # noqa: PLC0415

        return gru(inputs, units, outputs, linear_before_reset, seed)

    @classmethod
    def lstm(cls, inputs: int, units: int, outputs: int | None = None, *, seed: int = 0) -> Network:
        """An LSTM cell, neuron by neuron: gates are neurons that gate. See `Network.rnn`."""
        from neat_onnx.network.cells import lstm  # noqa: PLC0415

        return lstm(inputs, units, outputs, seed)
