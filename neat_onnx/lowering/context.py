"""What a handler sees when it lowers neurons: where values stand, and a place to put nodes.

The context knows nothing about any operator. A handler asks which tensor holds a neuron, emits
nodes and initializers, and binds the neurons it lowered to the columns of a tensor it produced.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing
from neat_onnx.network.signals import signals_of
from neat_onnx.options import ExportOptions

UNBOUND = -1


@dataclass(frozen=True)
class Columns:
    """A tensor, the signal in each of its columns, and the level that produced it.

    Attributes:
        shape: of one sample; None for a tensor [N, width]. Its columns are its elements in C order.
        flat: what the tensor and the node are called that make one of [N, width] of it.
    """

    tensor: str
    signals: Ints
    level: int
    shape: tuple[int, ...] | None = None
    flat: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Block:
    """Neurons of one level that one handler lowers together.

    Attributes:
        level: their topological level, from 1.
        neurons: positions, in the order in which they become columns.
        suffix: makes the block's names differ from those of its level's other blocks.
        whole_state: if any of its values is carried to the next step, all of them are.
    """

    level: int
    neurons: Ints
    suffix: str = ""
    whole_state: bool = False

    def name(self, stem: str) -> str:
        """A node's name: `gemm_l3`."""
        return f"{stem}_l{self.level}{self.suffix}"

    def tensor(self, stem: str) -> str:
        """A tensor's name: `Layer_3`."""
        return f"{stem}_{self.level}{self.suffix}"

    def weights(self, stem: str) -> str:
        """An initializer's name: `W2`; they count from 0."""
        return f"{stem}{self.level - 1}{self.suffix}"


@dataclass
class Steps:
    """All steps of a sequence at once: the rows of tensors are the T·N samples of all steps.

    Attributes:
        sequences: for tensors [T·N, width], the tensor [T, N, width] of the same elements, where
            there is one.
        sizes: the tensor that holds [T, N]; "" while there is none.
    """

    sequences: dict[str, str] = field(default_factory=dict)
    sizes: str = ""


@dataclass
class LoweringContext:
    """The state of one export.

    Attributes:
        net, options, plan: what is exported, how, and in which order.
        nodes, initializers: the graph so far.
        columns: every tensor whose columns are signals, in order of creation. A signal is what a
            connection reads (`network.signals`): neuron j's activation is signal j.
        joined: the tensor that joins several of `columns`, by their positions.
        shaped: the tensor [N, *shape] that has the elements of another, by its name and the shape;
            the shape None for [N, width].
        steps: where all steps are computed at once; None for one step.
    """

    net: Network
    options: ExportOptions
    plan: Schedule
    nodes: list[Node] = field(default_factory=list)
    initializers: dict[str, Tensor] = field(default_factory=dict)
    columns: list[Columns] = field(default_factory=list)
    joined: dict[tuple[int, ...], str] = field(default_factory=dict)
    shaped: dict[tuple[str, tuple[int, ...] | None], str] = field(default_factory=dict)
    steps: Steps | None = None

    def __post_init__(self) -> None:
        self._names: set[str] = set()
        read = contributing(self.net)
        self._unread_inputs = np.array(
            [
                port.neurons[0]
                for port in self.net.inputs
                if port.neurons.size and not np.any(read[port.neurons])
            ],
            np.int64,
        )
        self.signals = signals_of(self.net)
        self._number_products()
        first_spare = self.first_product + len(self.products)
        self.spare: Ints = first_spare + np.arange(len(self.net))
        self.bound_in = np.full(first_spare + len(self.net), UNBOUND, np.int64)
        self.overflowing: Bools = self._overflowing()
        self.fan_in: Ints = np.bincount(self.net.live.target, minlength=len(self.net))
        self._first_edge = np.searchsorted(self.net.live.target, np.arange(len(self.net) + 1))

    @property
    def data_type(self) -> DataType:
        return DataType.FLOAT if self.options.dtype == "float32" else DataType.DOUBLE

    def edges_into(self, neurons: Ints) -> tuple[Ints, Ints]:
        """The live connections into `neurons`: (row, edge), in the order of the rows and of links.

        `row` is a position in `neurons`, `edge` one in `net.live`.
        """
        counts = self.fan_in[neurons]
        starts = np.cumsum(counts) - counts
        row = np.repeat(np.arange(len(neurons)), counts)
        edge = np.repeat(self._first_edge[neurons] - starts, counts) + np.arange(len(row))
        return row, edge

    def _number_products(self) -> None:
        """Number what gated connections read: the products of a value and a gain.

        Sets `reads`, the signal that each live connection multiplies with its weight; `state`, the
        signal of each neuron's state (one for every neuron, read or not); and `products`, the
        (value, gain) of the signals from `first_product` on. `spare` has a number for each neuron
        for a column that nothing reads.
        """
        signals, gated = self.signals, self.signals.gain != NONE
        first_state = signals.count
        unread = first_state + np.arange(len(self.net))
        self.state: Ints = np.where(signals.state == NONE, unread, signals.state)
        self.first_product = first_state + len(self.net)
        pairs = np.stack([signals.source[gated], signals.gain[gated]], axis=1)
        self.products, number = np.unique(pairs, axis=0, return_inverse=True)
        self.reads: Ints = signals.source.copy()
        self.reads[gated] = self.first_product + number.reshape(-1)

    def _overflowing(self) -> Bools:
        """Whether each signal may overflow on moderate inputs; a product of two may."""
        net = self.net
        wild = np.zeros(len(self.bound_in), np.bool_)
        wild[: len(net)] = overflowing(net, self.plan)
        wild[self.state[net.live.target[wild[net.live.source]]]] = True
        registers = self.signals.registers
        for signal, origin in zip(
            registers.signal.tolist(), registers.origin.tolist(), strict=True
        ):
            wild[signal] = wild[origin]
        if len(self.products):
            bounded = np.array([activation_named(name).bounded for name in net.activations])
            calm = np.zeros(len(wild), np.bool_)
            calm[: len(net)] = bounded[net.neurons.activation] & ~net.is_input
            for signal, origin in zip(
                registers.signal.tolist(), registers.origin.tolist(), strict=True
            ):
                calm[signal] = calm[origin]
            value, gain = self.products.T
            either = calm[value] | calm[gain]
            wild[self.first_product : self.spare[0]] = wild[value] | wild[gain] | ~either
        return wild

    def origin_of(self, signals: Ints) -> Ints:
        """What registers hold the previous value of; NONE for signals that are no registers."""
        registers = self.signals.registers
        if not len(registers):
            return np.full(signals.shape, NONE, np.int64)
        place = signals - registers.signal[0]
        inside = (place >= 0) & (place < len(registers))
        return np.where(inside, registers.origin[np.where(inside, place, 0)], NONE)

    def reads_state(self, neurons: Ints) -> bool:
        """Whether some connection reads the state of one of `neurons`."""
        return bool(np.any(self.signals.state[neurons] != NONE))

    @property
    def has_unread_inputs(self) -> bool:
        """Whether some input port is read by nothing yet."""
        return bool(self._unread_inputs.size)

    def take_unread_inputs(self) -> Ints:
        """One neuron of every input port that nothing reads, the first time this is asked.

        ONNX wants each graph input to be used: whoever asks has a node read them, to no effect.
        """
        unread, self._unread_inputs = self._unread_inputs, np.empty(0, np.int64)
        return unread

    # --- putting things into the graph -----------------------------------------------------------

    def fresh(self, name: str) -> str:
        """`name`, or `name_2`, …: the one place where names are made unique."""
        unique, number = name, 1
        while unique in self._names:
            number += 1
            unique = f"{name}_{number}"
        self._names.add(unique)
        return unique

    def emit(
        self,
        operator: type[Node],
        inputs: Sequence[str],
        output: str | Sequence[str],
        name: str,
        **attributes: Any,
    ) -> str:
        """Add a node; its outputs' names are made unique. Returns the first output's name."""
        wanted = [output] if isinstance(output, str) else list(output)
        outputs = [self.fresh(each) for each in wanted]
        kind = operator.model_fields["attributes"].annotation
        assert kind is not None
        self.nodes.append(
            operator(
                name=self.fresh_node(name),
                input=list(inputs),
                output=outputs,
                attributes=kind(**attributes),
            )
        )
        return outputs[0]

    def fresh_node(self, name: str) -> str:
        return self.fresh(f"node:{name}").removeprefix("node:")

    def initializer(
        self, name: str, values: npt.ArrayLike, data_type: DataType | None = None
    ) -> str:
        """Add an initializer, of the model's float type unless told otherwise; returns its name."""
        unique = self.fresh(name)
        self.initializers[unique] = Tensor.of(unique, values, data_type or self.data_type)
        return unique

    def integers(self, name: str, values: Sequence[int]) -> str:
        """Add a list of int64, such as a shape; returns its name."""
        return self.initializer(name, np.array(values, np.int64), DataType.INT64)

    def shared_integers(self, stem: str, values: Sequence[int]) -> str:
        """The same, shared by all who ask for these values under this stem."""
        name = "_".join([stem, *map(str, values)])
        return name if name in self.initializers else self.integers(name, values)

    def scalar(self, value: float) -> str:
        """The initializer of rank 0 that holds `value`, shared by all who ask for it."""
        name = f"const_{value!r}"
        return name if name in self.initializers else self.initializer(name, np.float64(value))

    # --- where values stand ----------------------------------------------------------------------

    def bind(self, signals: Ints, tensor: str, level: int) -> None:
        """Say that `signals` are the columns of `tensor` [N, width], in that order."""
        self.bind_columns(Columns(tensor, signals, level))

    def bind_columns(self, columns: Columns) -> None:
        """The same, for a tensor of any shape."""
        self.bound_in[columns.signals] = len(self.columns)
        self.columns.append(columns)
