"""The operators: one file a family, with everything known about it in both directions.

Importing this package registers them: node classes, lifting (`lifting.context.lifts`), lowering
(`lowering.registry.lowers`), and the frames of graphs. Families that few models have are in
`neat_onnx.operators.on_demand`, and the rarest in `neat_onnx.operators.rare`, which are imported
when a model has an operator of theirs.
"""

# ruff: noqa: F401 (what registers itself; planners of one stage are asked in this order)
from neat_onnx.operators import constants, norms, quantization
from neat_onnx.operators.formulas import elementwise, functions, logic, several
from neat_onnx.operators.frames import scan, state, steps
from neat_onnx.operators.layout import arranging, axes, indexed, reshaping, shaping
from neat_onnx.operators.products import tensors
from neat_onnx.operators.reductions import reduce
from neat_onnx.operators.rnn import fused, lift, plain, unrolled
from neat_onnx.operators.rows import normalization, ranking, softmax
from neat_onnx.operators.spatial import convolution, find, lp_pool, pools
from neat_onnx.operators.sums import dense, per_neuron, sparse
