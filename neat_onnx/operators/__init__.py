"""The operators: one file a family, with everything known about it in both directions.

Importing this package registers them: node classes, lifting (`lifting.context.lifts`), lowering
    (`lowering.registry.lowers`), and the frames of graphs. Families that exports never write are
    in `neat_onnx.operators.foreign`, and the rarest in `neat_onnx.operators.seldom`, which are
    imported when a model has an operator of theirs.
"""

from neat_onnx.operators import (
    arranging,
    axes,
    computed_products,
    constants,
    dense,
    elementwise,
    functions,
    indexed,
    logic,
    normalization,
    per_neuron,
    pointwise,
    products,
    quantization,
    ranking,
    recurrent,
    reduce,
    reshaping,
    rnn,
    rows,
    scan,
    several,
    shaping,
    softmax,
    sparse_sums,
    spatial,
    state,
    steps,
)

__all__ = [
    "arranging",
    "axes",
    "computed_products",
    "constants",
    "dense",
    "elementwise",
    "functions",
    "indexed",
    "logic",
    "normalization",
    "per_neuron",
    "pointwise",
    "products",
    "quantization",
    "ranking",
    "recurrent",
    "reduce",
    "reshaping",
    "rnn",
    "rows",
    "scan",
    "several",
    "shaping",
    "softmax",
    "sparse_sums",
    "spatial",
    "state",
    "steps",
]
