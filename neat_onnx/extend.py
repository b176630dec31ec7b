"""Everything that users subclass or register, in one place.

Activations, aggregations, operators and libraries of one's own; and for operators that are no
function of one number, the classes and decorators that the operators of the package use themselves.
"""

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.libraries.registry import register_library, unregister_library
from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Attributes, Node
from neat_onnx.network import expression
from neat_onnx.network.activations import register_activation, unregister_activation
from neat_onnx.network.aggregations import register_aggregation, unregister_aggregation
from neat_onnx.network.expression import Expression
from neat_onnx.registering import operator

__all__ = [
    "Attributes",
    "Block",
    "Claim",
    "Expression",
    "Library",
    "LiftingContext",
    "LoweringContext",
    "Node",
    "Plan",
    "ReadOptions",
    "Stage",
    "Value",
    "expression",
    "lifts",
    "lowers",
    "operator",
    "register_activation",
    "register_aggregation",
    "register_library",
    "unregister_activation",
    "unregister_aggregation",
    "unregister_library",
]
