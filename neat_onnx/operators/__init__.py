"""The operators: one file a family, with everything known about it in both directions.

Importing this package registers them: node classes, lifting (`lifting.context.lifts`), lowering
    (`lowering.registry.lowers`), and the frames of graphs.
"""

from neat_onnx.operators import (
    arranging,
    dense,
    elementwise,
    functions,
    indexed,
    logic,
    ml,
    normalization,
    per_neuron,
    products,
    quantization,
    recurrent,
    reduce,
    resize,
    rnn,
    scan,
    several,
    shaping,
    softmax,
    spatial,
    state,
    steps,
)

__all__ = [
    "arranging",
    "dense",
    "elementwise",
    "functions",
    "indexed",
    "logic",
    "ml",
    "normalization",
    "per_neuron",
    "products",
    "quantization",
    "recurrent",
    "reduce",
    "resize",
    "rnn",
    "scan",
    "several",
    "shaping",
    "softmax",
    "spatial",
    "state",
    "steps",
]
