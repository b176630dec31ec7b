"""The registry of lowerings: planners, which claim neurons.

A planner is asked once an export, over the whole network, which of the neurons that nobody has
claimed yet it lowers; planners are asked by stage, and within a stage in the order in which they
were registered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter

from neat_onnx.errors import ModelError
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.network.genes import Bools
from neat_onnx.network.spatial import SpatialBlock

Lower = Callable[[LoweringContext, Block], None]


class Stage(IntEnum):
    """When a planner is asked."""

    CUSTOM = 0
    """A user's own planners, unless they say otherwise."""
    WINDOWS = 1
    """Neurons that share the weights of a window: mapped, declared, or found in the weights."""
    SEQUENCES = 2
    """Layers whose memory one node carries through a whole sequence."""
    LEVELS = 3
    """Whole levels with a form of their own."""
    AGGREGATIONS = 4
    """Neurons whose aggregation is no weighted sum."""
    LAYOUTS = 5
    """Levels that the options want written in another form."""
    REST = 6
    """Everything that is left."""


@dataclass(frozen=True, eq=False)
class Claim:
    """Neurons, and how they are lowered.

    Attributes:
        block: the neurons.
        lower: emits the nodes of a block, and binds its neurons.
        one_level: for neurons that slide a window, which must stand on one level, above all that
            they slide over. The block's level is then set by the core.
        all_steps: the block computes all steps of a sequence in one node, and carries their memory;
            the rows of every tensor are then the samples of all steps.
    """

    block: Block
    lower: Lower
    one_level: SpatialBlock | None = None
    all_steps: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer of a planner.

    Attributes:
        claims: blocks that it lowers.
        metadata: entries for the model's metadata, asked once all neurons are lowered. It is given
            the planner's own claims, on their final levels.
    """

    claims: Sequence[Claim] = ()
    metadata: Callable[[LoweringContext, Sequence[Claim]], dict[str, str]] | None = None


Planner = Callable[[LoweringContext, Bools], Plan]
_PLANNERS: list[tuple[Stage, Planner]] = []


def lowers(stage: Stage = Stage.CUSTOM) -> Callable[[Planner], Planner]:
    """Register the decorated function as a planner.

    It takes the context and, for each neuron, whether it is free to be claimed, shape (n,), and
    returns a Plan.

    Args:
        stage: when it is asked.

    Raises:
        ModelError: it is registered already.
    """

    def register(planner: Planner) -> Planner:
        if planner in planners():
            raise ModelError(f"the planner {planner.__name__} is registered twice")
        _PLANNERS.append((stage, planner))
        return planner

    return register


def planners() -> list[Planner]:
    """Return the registered planners in the order in which they are asked."""
    return [planner for _, planner in sorted(_PLANNERS, key=itemgetter(0))]
