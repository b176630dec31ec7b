"""The operators: one file a family, with everything known about it in both directions.

Importing this package registers them. `HANDLERS` are asked in this order which neurons of a level
they lower; the last one takes whatever is left.
"""

from typing import Protocol

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.network.genes import Ints
from neat_onnx.operators import (
    dense,
    elementwise,
    logic,
    normalization,
    per_neuron,
    recurrent,
    reduce,
    rnn,
    scan,
    several,
    shaping,
    spatial,
)


class Lowering(Protocol):
    """Lowers blocks."""

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Emit the nodes of a block, and bind its neurons."""
        ...


class Handler(Lowering, Protocol):
    """Lowers neurons of one kind, and knows them when it sees them."""

    def claim(self, ctx: LoweringContext, level: int, neurons: Ints) -> list[Block]:
        """The blocks it makes of `neurons`, those of a level that nobody has claimed yet."""
        ...


HANDLERS: tuple[Handler, ...] = (
    recurrent.Recurrent(),
    reduce.Reduction(),
    per_neuron.PerNeuron(),
    dense.Dense(),
)

__all__ = [
    "HANDLERS",
    "Handler",
    "Lowering",
    "dense",
    "elementwise",
    "logic",
    "normalization",
    "per_neuron",
    "recurrent",
    "reduce",
    "rnn",
    "scan",
    "several",
    "shaping",
    "spatial",
]
