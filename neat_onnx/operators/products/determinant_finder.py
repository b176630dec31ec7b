"""The finder of determinants of matrices that are an input: hundreds of products of their elements.

Import makes neurons of each minor, which larger ones read.
"""

from collections.abc import Iterator

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network
from neat_onnx.operators.products.determinant import MAX_ROWS
from neat_onnx.passes.draft import make_node

_MATRIX = 2  # axes


@proposes
def propose_determinants(net: Network) -> Iterator[Proposal]:
    """Propose a Det of each input of square matrices, if elements of it are multiplied."""
    live = net.live
    gated = live.gater != NONE
    for port in net.inputs:
        rows = port.shape[-_MATRIX:]
        if len(rows) < _MATRIX or rows[0] != rows[1] or not 1 < rows[0] <= MAX_ROWS:
            continue
        both = [np.isin(ends[gated], port.neurons) for ends in (live.source, live.gater)]
        if np.any(both[0] & both[1]):
            matrices = port.neurons.reshape(port.shape)
            yield Proposal([make_node("Det", ["x"], ["y"])], {"x": matrices}, ("y",))
