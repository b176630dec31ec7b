"""A node that neurons compute, of constants alone: it is computed while it is imported.

So it is with the first state of a recurrent convolution, which is zeros in the size of the batch.
The node is lifted as if its inputs were computed, and the neurons are run on them.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.lifting.context import INPUT, REGISTER, LiftingContext, Value
from neat_onnx.lifting.neurons import Resolution
from neat_onnx.lifting.registry import Lift
from neat_onnx.lifting.values import Array
from neat_onnx.model import Node
from neat_onnx.network.port import Port


def bind_constants(ctx: LiftingContext, node: Node, lift: Lift) -> bool:
    """Bind the outputs of a node of constants alone.

    Returns:
        Whether it is done: False where an input is computed, or where neurons need several steps.

    Raises:
        ModelError: the node cannot be lifted.
    """
    operands = {name: ctx.operands[name] for name in node.input if name}
    if any(isinstance(operand, Value) for operand in operands.values()) or not node.input:
        return False
    name = node.input[0]
    given = np.asarray(operands[name])
    inner = LiftingContext(ctx.model, features_only=True, integer=set(ctx.integer))
    signals = inner.add_signals(given.size, INPUT)
    inner.operands.update(operands)
    inner.operands[name] = Value(signals.reshape(given.shape))
    lift(inner, node)
    if np.any(inner.kind == REGISTER):
        return False
    ctx.integer.update(inner.integer)
    ctx.bind(node, *_outputs(inner, node, Port(name, given.shape, signals), given))
    return True


def _outputs(inner: LiftingContext, node: Node, port: Port, given: Array) -> list[Array]:
    """The outputs of a node that has been lifted, for the values of its first input."""
    computed = {
        name: inner.materialize(operand)
        for name in node.output
        if isinstance(operand := inner.operands.get(name), Value)
    }
    resolved = Resolution(inner)
    outputs = [
        Port(name, signals.shape, resolved.neuron_of[signals].ravel())
        for name, signals in computed.items()
    ]
    port = replace(port, neurons=resolved.neuron_of[port.neurons])
    found = resolved.network((port,), tuple(outputs)).activate({port.name: given[None]})
    return [
        np.asarray(found[name][0] if name in found else inner.operands[name])
        for name in node.output
        if name in inner.operands
    ]
