"""States before the first step of an open sequence.

They stand in registers: constants, or an input of the graph that its last state feeds. One that is
computed from static inputs is added to registers of zeros in the first step alone.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import Hint
from neat_onnx.lifting.context import REGISTER, LiftingContext, Value
from neat_onnx.model import Node
from neat_onnx.network.genes import Ints
from neat_onnx.operators.rnn.ends import unrolling


def feeding(ctx: LiftingContext) -> tuple[Hint, ...]:
    """How an initial state that is computed can be the network's memory, or every step unrolled."""
    return (
        "Where it is an input of the graph, and the last state an output, as 'h_0' and 'h_n', it "
        "is the network's memory",
        unrolling(ctx),
    )


@dataclass(frozen=True)
class Start:
    """A state before the first step of an open sequence.

    Attributes:
        signals: the state that a step reads.
        registers: those that hold it from step to step.
    """

    signals: Ints
    registers: Ints


def check_all_fed(ctx: LiftingContext, node: Node) -> None:
    """Refuse a node with a constant initial state beside inputs that are states.

    Raises:
        ModelError: there are such inputs; the state would begin anew in each part of a sequence.
    """
    if ctx.states:
        ctx.fail(
            node,
            "one of its states is constant at the start of each part of a sequence, while inputs "
            "are the states of others",
            "Let every state be an input and an output of the graph, or none",
        )


def computed_start(ctx: LiftingContext, initial: Ints) -> Start:
    """Registers that begin with zeros, and a state to which a computed one is added in the first
    step: times a gate that is 1 there alone.

    Args:
        ctx: the import.
        initial: signals of the state of the first step, the same at every step.
    """
    registers = ctx.add_signals(initial.size, REGISTER)
    first = ctx.add_signals(1, REGISTER)
    never = ctx.add_neurons(1)
    ctx.hold(first, ctx.materialize(Value(never.signals)))
    ctx.initial[int(first[0])] = 1.0
    made, position = ctx.add_neurons(initial.size), np.arange(initial.size)
    ones = np.ones(initial.size)
    ctx.connect(made, registers, position, ones)
    ctx.connect(made, initial.ravel(), position, ones, np.full(initial.size, first[0]))
    signals = ctx.materialize(Value(made.signals.reshape(initial.shape)))
    return Start(signals, registers.reshape(initial.shape))
