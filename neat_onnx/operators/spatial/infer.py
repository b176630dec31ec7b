"""Convolutions found in the weights of layers, without anybody saying where they are."""

from collections.abc import Iterator

from neat_onnx.lowering import LoweringContext
from neat_onnx.network.genes import Bools
from neat_onnx.network.spatial import SpatialBlock


def inferred_blocks(ctx: LoweringContext, taken: Bools) -> Iterator[SpatialBlock]:
    """Blocks that hold, of levels none of whose neurons is taken."""
    yield from ()
