"""Everything that users subclass or register, in one place.

Activations, aggregations, operators and libraries of one's own; and for operators that are no
function of one number, the classes, decorators and sums that the operators of the package use
themselves, with `node_classes` for the operators that exist.
"""

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.libraries.registry import register_library, unregister_library
from neat_onnx.lifting.neurons import Tensor, formula
from neat_onnx.lifting.operator import operator, refuse
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Attributes, Node, node_classes
from neat_onnx.network import expression
from neat_onnx.network.activations import register_activation, unregister_activation
from neat_onnx.network.aggregations import register_aggregation, unregister_aggregation
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import Bools
from neat_onnx.operators.export.dense import by_overflowing_source, weighted_sums

__all__ = [
    "Attributes",
    "Block",
    "Bools",
    "Claim",
    "Expression",
    "Library",
    "LoweringContext",
    "Node",
    "Plan",
    "ReadOptions",
    "Stage",
    "Tensor",
    "by_overflowing_source",
    "expression",
    "formula",
    "lowers",
    "node_classes",
    "operator",
    "refuse",
    "register_activation",
    "register_aggregation",
    "register_library",
    "unregister_activation",
    "unregister_aggregation",
    "unregister_library",
    "weighted_sums",
]
