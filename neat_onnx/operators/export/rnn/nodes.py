"""The node classes of RNN, LSTM and GRU."""

from typing import Any, ClassVar, Literal, get_args

from pydantic import field_validator

from neat_onnx.model import Attributes, Node
from neat_onnx.network import cells
from neat_onnx.operators.export.rnn.cell_activations import Function

_FUNCTIONS = {name.lower(): name for name in get_args(Function)}


class RecurrenceAttributes(Attributes):
    """Attributes of RNN, GRU and LSTM: activations, clipping, direction, size, layout."""

    activation_alpha: tuple[float, ...] = ()
    activation_beta: tuple[float, ...] = ()
    activations: tuple[Function, ...] | None = None
    clip: float | None = None
    direction: Literal["forward", "reverse", "bidirectional"] = "forward"
    hidden_size: int | None = None
    layout: Literal[0, 1] = 0

    @field_validator("activations", mode="before")
    @classmethod
    def _in_any_case(cls, names: Any) -> Any:
        """Activations as ONNX spells them: in LSTM and GRU runtimes take them in any case."""
        if not isinstance(names, list | tuple):
            return names
        return [_FUNCTIONS.get(str(name).lower(), name) for name in names]


class Recurrence(Node, abstract=True):
    """A node that goes through a sequence: X, W, R, B, sequence_lens, initial states, P."""

    functions: ClassVar[tuple[Function, ...]]
    """The activations of one direction, if none are given."""

    inputs = (3, 6)
    outputs = (0, 2)
    since = 7
    attributes: RecurrenceAttributes = RecurrenceAttributes.defaults()

    def states(self) -> tuple[list[str], list[str]]:
        """The inputs initial_h and initial_c, and the outputs Y_h and Y_c."""
        return self.input[5:7], self.output[1:]

    def defaults_in_words(self) -> dict[str, Any]:
        """The activations of each direction."""
        both = self.attributes.direction == "bidirectional"
        return {"activations": self.functions * (2 if both else 1)}


class RNN(Recurrence):
    """h(t) = f(x(t)·Wᵀ + h(t-1)·Rᵀ + b), over a sequence."""

    functions = cells.RNN.functions


class GRUAttributes(RecurrenceAttributes):
    """Attributes of GRU: the common ones, and where the reset acts."""

    linear_before_reset: Literal[0, 1] = 0


class GRU(Recurrence):
    """The gated recurrent unit over a sequence: h = (1 - z)·ĥ + z·h(t-1), with gates z and r."""

    functions = cells.GRU.functions
    attributes: GRUAttributes = GRUAttributes.defaults()


class LSTMAttributes(RecurrenceAttributes):
    """Attributes of LSTM: the common ones, and whether input and forget gates are coupled."""

    input_forget: Literal[0, 1] = 0


class LSTM(Recurrence):
    """The long short-term memory over a sequence: c = f·c(t-1) + i·g, h = o·tanh(c)."""

    functions = cells.LSTM.functions
    inputs = (3, 8)
    outputs = (0, 3)
    attributes: LSTMAttributes = LSTMAttributes.defaults()


def without_last_empty(names: list[str]) -> list[str]:
    """The names of a node's tensors up to the last one that is not left out."""
    count = max(k for k, name in enumerate(names, 1) if name)
    return names[:count]
