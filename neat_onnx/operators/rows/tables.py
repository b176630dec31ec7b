"""The parts of a Softmax, a LogSoftmax and a LayerNormalization, neuron by neuron.

A row of width w has parts: a part is one neuron for the whole row, or one for each element. A link
is a connection from another part: from the neuron of the same element, or from all of a part.
"""

from dataclasses import dataclass
from typing import Literal

X = "x"
RESULT = "result"


@dataclass(frozen=True)
class Link:
    """Connections into a part.

    Attributes:
        source: the part that is read; "x" for the inputs of the row.
        weight: of each; None for any.
        gate: the part that gates them; "" for none.
    """

    source: str
    weight: float | None = 1.0
    gate: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a row.

    Attributes:
        name: its name.
        links: the connections into it.
        whole: it is one neuron, which reads all elements of its sources.
        activation: the text of its formula; "" for any.
        aggregation: of its inputs.
        any_bias: it may have a bias.
    """

    name: str
    links: tuple[Link, ...]
    whole: bool = False
    activation: str = "z"
    aggregation: str = "sum"
    any_bias: bool = False


@dataclass(frozen=True)
class Row:
    """The parts of an operator along a row.

    Attributes:
        operator: the operator.
        parts: in an order in which they can be computed; the last is the result.
        since: the first opset that has the operator.
    """

    operator: Literal["Softmax", "LogSoftmax", "LayerNormalization"]
    parts: tuple[Part, ...]
    since: int = 13

    @property
    def anchor(self) -> Part:
        """The part that few networks have elsewhere: the factor, or the shift, of all results."""
        return next(part for part in self.parts if part.name == "scale")

    @property
    def inner(self) -> tuple[Part, ...]:
        """All parts but the result."""
        return self.parts[:-1]


_LARGEST = Part("largest", (Link(X),), whole=True, aggregation="max")

SOFTMAX = Row(
    "Softmax",
    (
        _LARGEST,
        Part("spread", (Link(X), Link("largest", -1.0)), activation="exp(z)"),
        Part("total", (Link("spread"),), whole=True),
        Part("scale", (Link("total"),), whole=True, activation="reciprocal(z)"),
        Part(RESULT, (Link("spread", gate="scale"),), activation=""),
    ),
)

LOG_SOFTMAX = Row(
    "LogSoftmax",
    (
        _LARGEST,
        Part("less", (Link(X), Link("largest", -1.0))),
        Part("spread", (Link("less"),), activation="exp(z)"),
        Part("scale", (Link("spread"),), whole=True, activation="log(z)"),
        Part(RESULT, (Link("less"), Link("scale", -1.0)), activation=""),
    ),
)

_NORMAL = (
    Part("mean", (Link(X),), whole=True, aggregation="mean"),
    Part("centred", (Link(X), Link("mean", -1.0))),
    Part("square", (Link("centred"),), activation="z * z"),
    Part("power", (Link("square"),), whole=True, aggregation="mean"),
    Part(
        "scale",
        (Link("power"),),
        whole=True,
        activation="reciprocal(sqrt(z))",
        any_bias=True,
    ),
    Part("normal", (Link("centred", gate="scale"),)),
)

LAYER_NORMALIZATION = Row(
    "LayerNormalization",
    (
        *_NORMAL,
        Part("weighted", (Link("normal", None),)),
        Part(RESULT, (Link("weighted"),), activation="", any_bias=True),
    ),
    since=17,
)

UNSHIFTED = Row(
    "LayerNormalization", (*_NORMAL, Part(RESULT, (Link("normal", None),), activation="")), since=17
)
"""A LayerNormalization without its third input."""

ROWS = (SOFTMAX, LOG_SOFTMAX, LAYER_NORMALIZATION, UNSHIFTED)
