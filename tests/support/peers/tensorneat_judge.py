"""Networks in TensorNEAT's own code; run by a Python that has JAX, with JAX_ENABLE_X64=1.

    python tensorneat_judge.py < tasks > answers

A line of the input is {document, inputs, outputs}: samples, and the number of outputs. A line of
the output is {outputs}; numbers that are not finite are texts.
"""

import json
import sys
from functools import cache
from typing import Any

import jax
import numpy as np
from tensorneat.common import ACT, AGG, get_func_name
from tensorneat.genome import DefaultGenome, DefaultNode

ACTIVATIONS, AGGREGATIONS = ACT.get_all_funcs(), AGG.get_all_funcs()
ACTS = {get_func_name(one): at for at, one in enumerate(ACTIVATIONS)}
AGGS = {get_func_name(one): at for at, one in enumerate(AGGREGATIONS)}


@cache
def forward_of(inputs: int, outputs: int, nodes: int, conns: int) -> Any:
    """The compiled `forward` of genomes of these sizes; every activation is an option."""
    gene = DefaultNode(activation_options=ACTIVATIONS, aggregation_options=AGGREGATIONS)
    genome = DefaultGenome(inputs, outputs, nodes, conns, node_gene=gene)
    state = genome.setup()

    def forward(rows: Any, nodes: Any, conns: Any) -> Any:
        transformed = genome.transform(state, nodes, conns)
        return jax.vmap(genome.forward, in_axes=(None, None, 0))(state, transformed, rows)

    return jax.jit(forward)


def padded(rows: list[list[float]], width: int, least: int) -> Any:
    """Rows of an array, and rows of NaN up to a power of two: few sizes are compiled."""
    count = 1 << max(63, least, len(rows)).bit_length()
    found = np.full((count, width), np.nan)
    found[: len(rows)] = np.reshape(np.array(rows, np.float64), (-1, width))
    return found


def played(document: Any, inputs: list[list[float]], outputs: int) -> list[list[Any]]:
    """The outputs of each row; numbers that are not finite are texts."""
    count = len(inputs[0])
    nodes = padded(
        [
            [node["idx"], node["bias"], node["res"], AGGS[node["agg"]], ACTS[node["act"]]]
            for node in document["nodes"]
        ],
        5,
        count + outputs,
    )
    conns = padded(
        [[conn["in"], conn["out"], conn["weight"]] for conn in document["conns"]],
        3,
        count * outputs,
    )
    forward = forward_of(count, outputs, len(nodes), len(conns))
    found = np.asarray(forward(padded(inputs, count, 0), nodes, conns))[: len(inputs)].tolist()
    return [[value if np.isfinite(value) else str(value) for value in row] for row in found]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps({"outputs": played(**json.loads(line))}), flush=True)
