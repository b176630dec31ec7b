"""Lift RNN, GRU and LSTM nodes: the walk over the steps of their cells."""

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.network import cells
from neat_onnx.operators.rnn.nodes import GRU, LSTM, RNN
from neat_onnx.operators.rnn.walk import lift_recurrence


@lifts(RNN)
def lift_rnn(ctx: LiftingContext, node: RNN) -> None:
    """Lift RNN by its cell, in both directions where asked."""
    lift_recurrence(ctx, node, cells.RNN)


@lifts(GRU)
def lift_gru(ctx: LiftingContext, node: GRU) -> None:
    """Lift GRU by its cell, with the reset before or after the recurrent product."""
    cell = cells.LINEAR_GRU if node.attributes.linear_before_reset else cells.GRU
    lift_recurrence(ctx, node, cell)


@lifts(LSTM)
def lift_lstm(ctx: LiftingContext, node: LSTM) -> None:
    """Lift LSTM by its cell, with peepholes and clipping."""
    cell = cells.COUPLED_LSTM if node.attributes.input_forget else cells.LSTM
    lift_recurrence(ctx, node, cell)
