"""The parts of a softmax and of the normalizations, neuron by neuron.

A row of width w has parts: a part is one neuron for the whole row, one for each run of elements
(all runs of one length), or one for each element. A link is a connection from another part: from
the neuron of the same element, or from all of a part.
"""

from dataclasses import dataclass

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
        runs: it is one neuron for each run of elements.
        activation: the text of its formula; "" for any.
        aggregation: of its inputs.
        any_bias: it may have a bias.
        is_separate: import would take its function and that of its source for one: written in
            parts, an Add of zeros stands between, of which import makes neurons.
    """

    name: str
    links: tuple[Link, ...]
    whole: bool = False
    runs: bool = False
    activation: str = "z"
    aggregation: str = "sum"
    any_bias: bool = False
    is_separate: bool = False


@dataclass(frozen=True)
class Row:
    """The parts of an operator along a row.

    Attributes:
        operator: the operator; "" if none is written, because runtimes differ about its result.
        parts: in an order in which they can be computed; the last is the result.
        since: the first opset that has the operator.
        in_float64: runtimes compute the operator in float64, too.
    """

    operator: str
    parts: tuple[Part, ...]
    since: int = 13
    in_float64: bool = False

    @property
    def anchor(self) -> Part:
        """The part that few networks have elsewhere: the factor, or the shift, of all results."""
        return next(part for part in self.parts if part.name == "scale")

    @property
    def inner(self) -> tuple[Part, ...]:
        """All parts but the result."""
        return self.parts[:-1]

    @property
    def ends_in_product(self) -> bool:
        """Whether the result is a product to which nothing is added."""
        return not self.parts[-1].any_bias


_LARGEST = Part("largest", (Link(X),), whole=True, aggregation="max")

_SOFTMAX_PARTS = (
    _LARGEST,
    Part("spread", (Link(X), Link("largest", -1.0)), activation="exp(z)"),
    Part("total", (Link("spread"),), whole=True),
    Part("scale", (Link("total"),), whole=True, activation="reciprocal(z)"),
)

SOFTMAX = Row(
    "Softmax",
    (*_SOFTMAX_PARTS, Part(RESULT, (Link("spread", gate="scale"),), activation="")),
    in_float64=True,
)

WEIGHTED_SOFTMAX = Row(
    "Softmax",
    (*_SOFTMAX_PARTS, Part(RESULT, (Link("spread", None, gate="scale"),), activation="")),
    in_float64=True,
)
"""A Softmax whose elements are multiplied by constants."""

LOG_SOFTMAX = Row(
    "LogSoftmax",
    (
        _LARGEST,
        Part("less", (Link(X), Link("largest", -1.0))),
        Part("spread", (Link("less"),), activation="exp(z)"),
        Part("scale", (Link("spread"),), whole=True, activation="log(z)"),
        Part(RESULT, (Link("less"), Link("scale", -1.0)), activation=""),
    ),
    in_float64=True,
)

LOG_SUM_EXP = Row(
    "ReduceLogSumExp",
    (
        _LARGEST,
        Part("spread", (Link(X), Link("largest", -1.0)), activation="exp(z)"),
        Part("scale", (Link("spread"),), whole=True, activation="log(z)"),
        Part(RESULT, (Link("scale"), Link("largest")), whole=True, activation=""),
    ),
    in_float64=True,
)

_CENTRED = (
    Part("mean", (Link(X),), whole=True, aggregation="mean"),
    Part("centred", (Link(X), Link("mean", -1.0))),
    Part("square", (Link("centred"),), activation="z * z"),
)
_POWER = Part("power", (Link("square"),), whole=True, aggregation="mean")
_SCALE = Part(
    "scale", (Link("power"),), whole=True, activation="reciprocal(sqrt(z))", any_bias=True
)
_NORMAL = (*_CENTRED, _POWER, _SCALE, Part("normal", (Link("centred", gate="scale"),)))

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

GROUP_NORMALIZATION = Row(
    "GroupNormalization",
    (
        *_CENTRED,
        _POWER,
        _SCALE,
        Part("factor", (Link("scale", None),), runs=True),
        Part("weighted", (Link("centred", gate="factor"),)),
        Part(RESULT, (Link("weighted"),), activation="", any_bias=True),
    ),
    since=21,
)
"""A run is a channel. A row of one run is an InstanceNormalization, which older opsets have."""

RMS_NORMALIZATION = Row(
    "RMSNormalization",
    (
        Part("square", (Link(X),), activation="z * z"),
        _POWER,
        _SCALE,
        Part("normal", (Link(X, gate="scale"),)),
        Part(RESULT, (Link("normal", None),), activation=""),
    ),
    since=23,
    in_float64=True,
)

LP_NORMALIZATION = Row(
    "LpNormalization",
    (
        Part("square", (Link(X),), activation="z * z"),
        Part(
            "scale",
            (Link("square"),),
            whole=True,
            activation="where(equal(sqrt(z), 0), 0, reciprocal(sqrt(z)))",
        ),
        Part(RESULT, (Link(X, gate="scale"),), activation=""),
    ),
    in_float64=True,
)


def _divided(magnitude: str, scale: str) -> Row:
    """A row divided by a norm: the formulas of the magnitude of elements, and of the factor."""
    return Row(
        "",
        (
            Part("square", (Link(X),), activation=magnitude),
            Part("scale", (Link("square"),), whole=True, activation=scale),
            Part(RESULT, (Link(X, gate="scale"),), activation=""),
        ),
    )


ABSOLUTE = _divided("abs(z)", "where(equal(z, 0), 0, reciprocal(z))")
"""An LpNormalization of order 1; ONNX's reference evaluator takes it without absolute values."""

MEAN_VARIANCE = Row(
    "",
    (
        *_CENTRED,
        Part(
            "scale",
            (Link("square"),),
            whole=True,
            activation="reciprocal(9.999999717180685e-10 + sqrt(z))",
            aggregation="mean",
        ),
        Part(RESULT, (Link("centred", gate="scale"),), activation=""),
    ),
)
"""A MeanVarianceNormalization; ONNX Runtime gives NaN for a row of equal elements."""

_DIVIDED = (
    Part("mean", (Link(X),), whole=True, aggregation="mean"),
    Part("centred", (Link(X), Link("mean", -1.0))),
    Part("square", (Link("centred"),), activation=""),
    Part("power", (Link("square"),), whole=True, activation="", aggregation="mean"),
    Part("scale", (Link("power"),), whole=True, activation="reciprocal(z)", is_separate=True),
)

DIVIDED = Row(
    "",
    (
        *_DIVIDED,
        Part("normal", (Link("centred", gate="scale"),)),
        Part(RESULT, (Link("normal", None),), activation="", any_bias=True),
    ),
)
"""A LayerNormalization in parts, as exporters write it for opsets that have none: a division by the
deviation, which is a neuron.
"""

DIVIDED_ALONE = Row("", (*_DIVIDED, Part(RESULT, (Link("centred", gate="scale"),), activation="")))
"""The same, neither weighed nor shifted."""

ROWS = (
    SOFTMAX,
    WEIGHTED_SOFTMAX,
    LOG_SOFTMAX,
    LOG_SUM_EXP,
    LAYER_NORMALIZATION,
    UNSHIFTED,
    GROUP_NORMALIZATION,
    RMS_NORMALIZATION,
    LP_NORMALIZATION,
    ABSOLUTE,
    MEAN_VARIANCE,
    DIVIDED,
    DIVIDED_ALONE,
)
