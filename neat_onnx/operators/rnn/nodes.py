"""The node classes of RNN, LSTM and GRU."""

from typing import Literal

from neat_onnx.model import Attributes, Node
from neat_onnx.operators.rnn.curves import Function


class RecurrenceAttributes(Attributes):
    activation_alpha: tuple[float, ...] = ()
    activation_beta: tuple[float, ...] = ()
    activations: tuple[Function, ...] | None = None
    clip: float | None = None
    direction: Literal["forward", "reverse", "bidirectional"] = "forward"
    hidden_size: int | None = None
    layout: Literal[0, 1] = 0


class Recurrence(Node, abstract=True):
    """A node that goes through a sequence: X, W, R, B, sequence_lens, initial states, P."""

    inputs = (3, 6)
    outputs = (0, 2)
    since = 7
    attributes: RecurrenceAttributes = RecurrenceAttributes.defaults()


class RNN(Recurrence): ...


class GRUAttributes(RecurrenceAttributes):
    linear_before_reset: Literal[0, 1] = 0


class GRU(Recurrence):
    attributes: GRUAttributes = GRUAttributes.defaults()


class LSTMAttributes(RecurrenceAttributes):
    input_forget: Literal[0, 1] = 0


class LSTM(Recurrence):
    inputs = (3, 8)
    outputs = (0, 3)
    attributes: LSTMAttributes = LSTMAttributes.defaults()
