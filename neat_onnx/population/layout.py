"""The layout of a population: one matrix of columns for all members, filled stage by stage.

For P members and N samples the values are X [P, N, columns]: first the inputs, then the registers,
then, stage by stage, columns for the neurons computed there (`stages`). In a stage, neurons of one
aggregation and activation share a range of columns as wide as the member with most of them needs;
other members have columns there that nothing reads. A stage that some connection reads
pre-activations of has these in a second range.
"""

from dataclasses import dataclass

from neat_onnx.network.activations import Activation
from neat_onnx.network.aggregations import Aggregation
from neat_onnx.network.genes import Floats


@dataclass(frozen=True)
class Gains:
    """Gated connections: the product of a weighted value and a gain for each.

    Attributes:
        values: (P, columns, edges): picks and weights the values.
        gains: (P, columns, edges): picks the gains.
        ungated: (P, 1, edges): 1 where a connection has no gater, or is padding.
    """

    values: Floats
    gains: Floats
    ungated: Floats


@dataclass(frozen=True)
class Sums:
    """Neurons that sum their inputs.

    Attributes:
        weight: (P, columns, width), the connections without a gater.
        gains: the others; None if there are none.
        target: (P, edges, width): where each of the others is added.
    """

    width: int
    weight: Floats
    gains: Gains | None
    target: Floats


@dataclass(frozen=True)
class Reduction:
    """Neurons that reduce k weighted inputs otherwise than by a sum.

    Attributes:
        inputs: of neuron j those from j · k, as Gains with width · k edges.
    """

    width: int
    aggregation: Aggregation
    k: int
    inputs: Gains


@dataclass(frozen=True)
class Stage:
    """A stage of all members.

    Attributes:
        sums: comes first, if any; then the reductions.
        scale, bias: (P, 1, width): z is scale · aggregate + bias.
        activations: of consecutive ranges of columns, with their widths.
        keeps_pre_activation: whether the pre-activations follow the activations.
    """

    sums: Sums | None
    reductions: tuple[Reduction, ...]
    scale: Floats
    bias: Floats
    activations: tuple[tuple[Activation, int], ...]
    keeps_pre_activation: bool

    @property
    def width(self) -> int:
        """Columns of its neurons, without the columns of pre-activations."""
        return int(self.bias.shape[2])


@dataclass(frozen=True)
class Layout:
    """The columns of a population, and the stages that fill them.

    Attributes:
        members: how many networks.
        inputs, registers: how many columns of each.
        stages: in the order of computation.
        outputs: (P, columns, outputs), picks the outputs.
        following: (P, columns, registers), picks the next values of the registers.
    """

    members: int
    inputs: int
    registers: int
    stages: tuple[Stage, ...]
    outputs: Floats
    following: Floats
