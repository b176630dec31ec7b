"""The context of an export: the network, its order and signals, and the graph under construction.

The context knows nothing about any operator. Who lowers a block asks which tensor holds a signal,
emits nodes and initializers, and binds the neurons of the block to columns of a tensor it produced.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.lowering.placement import Columns, Placement
from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.model import DataType
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.options import ExportOptions


@dataclass(frozen=True)
class Block:
    """Neurons of one level that are lowered together.

    Attributes:
        level: their topological level, from 1.
        neurons: positions, in the order in which they become columns.
        suffix: makes the block's names differ from the names of its level's other blocks.
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

    def names(self, tensor: str, node: str) -> tuple[str, str]:
        """The names of a tensor and of the node that produces it, of these stems."""
        return self.tensor(tensor), self.name(node)

    def weights(self, stem: str) -> str:
        """An initializer's name: `W2`; they count from 0."""
        return f"{stem}{self.level - 1}{self.suffix}"


class LoweringContext(GraphBuilder):
    """One export.

    Attributes:
        net, options: the network, and how it is exported.
        schedule: topological levels of the neurons that matter.
        one_level: claimed neurons, all of each entry on one level.
        signals: numbers of all values that connections read.
        places: which tensor holds which signal.
        fan_in: number of live connections into each neuron.
        unread_inputs: a neuron of each input port that nothing reads so far.
    """

    def __init__(self, net: Network, options: ExportOptions, schedule: Schedule) -> None:
        data_type = DataType.FLOAT if options.dtype == "float32" else DataType.DOUBLE
        names = [port.name for port in net.inputs + net.outputs]
        names += [name for port in net.memory for name in (port.input, port.output)]
        super().__init__(data_type, options.opset, names)
        self.net, self.options, self.schedule = net, options, schedule
        self.one_level: list[SpatialBlock] = []
        self.signals = GraphSignals.of(net)
        self.far_from_zero = bool(np.any(self.signals.overflows))
        self.places = Placement(self.signals.count, len(net))
        self.fan_in: Ints = net.fan_in
        read = contributing(net)
        unread = [port.neurons[0] for port in net.inputs if not np.any(read[port.neurons])]
        self.unread_inputs = np.array(unread, np.int64)

    def inputs_of(self, neurons: Ints) -> tuple[Ints, Ints, Floats]:
        """Return what `neurons` read: (row, signal, weight) of each live connection into them."""
        row, edge = self.net.edges_into(neurons)
        return row, self.signals.read[edge], self.signals.weight[edge]

    def levels_of(self, which: Bools) -> Iterator[tuple[int, Ints]]:
        """Yield (level, neurons) for each level from 1 that has some of the neurons `which`."""
        for level, members in enumerate(self.schedule.levels[1:], 1):
            neurons = members[which[members]]
            if neurons.size:
                yield level, neurons

    def reads_state(self, neurons: Ints) -> bool:
        """Whether some connection reads the pre-activation of one of `neurons`."""
        return bool(np.any(self.signals.pre_activation_is_read[neurons]))

    def bind(self, signals: Ints, tensor: str, level: int) -> None:
        """Say that `signals` are the columns of `tensor` [N, width], in that order."""
        self.places.bind(Columns(tensor, signals, level))

    def take_unread_inputs(self) -> Ints:
        """Return one neuron of every input port that nothing reads, the first time this is asked.

        ONNX wants each graph input to be used: whoever asks has a node read them, to no effect.
        """
        unread, self.unread_inputs = self.unread_inputs, np.empty(0, np.int64)
        return unread
