"""Export of operators: one file a family, with its node classes and planners.

Importing this package registers them: node classes, planners (`lowering.registry.lowers`), and the
frames of graphs.
"""

# ruff: noqa: F401 (what registers itself; planners of one stage are asked in this order)
from neat_onnx.operators.export import constants, quantization
from neat_onnx.operators.export.formulas import elementwise, functions, logic, several
from neat_onnx.operators.export.frames import scan, state, steps
from neat_onnx.operators.export.layout import arranging, shaping
from neat_onnx.operators.export.reductions import reduce
from neat_onnx.operators.export.rnn import fused, plain
from neat_onnx.operators.export.rows import normalization, ranking, softmax
from neat_onnx.operators.export.spatial import convolution, find, pools
from neat_onnx.operators.export.sums import dense, per_neuron, sparse
