"""The node classes of the operators that export writes and documents spell most.

What a class declares is how many inputs and outputs its operator has, the first opset that has it
in this form, and its attributes. Every other operator is an `OpenNode`.
"""

from functools import partial
from typing import Any, Literal, Self, get_args

from pydantic import create_model, field_validator, model_validator

from neat_onnx.model import Attributes, Graph, Node, Tensor
from neat_onnx.model.node import declare_operator

Bounds = tuple[int, int | None]
"""The least and the most; None for no limit."""


def declare(
    op_type: str,
    inputs: Bounds = (1, 1),
    since: int = 13,
    outputs: Bounds = (1, 1),
    domain: str = "",
    module: str = __name__,
    base: type[Node] = Node,
    /,
    **attributes: tuple[Any, Any],
) -> type[Node]:
    """Make the class of an operator, which registers it.

    Args:
        op_type, inputs, since, outputs, domain: as `Node` has them.
        module: that it is declared in.
        base: a class of operators that share attributes.
        attributes: the type of each attribute beside those of the base, and its default, `...` for
            one that must be given.
    """
    fields: dict[str, Any] = {"domain": (str, domain)} if domain else {}
    if attributes:
        given: dict[str, Any] = dict(attributes)
        shared: Any = base.model_fields["attributes"].annotation
        kind = create_model(f"{op_type}Attributes", __base__=shared, __module__=module, **given)
        needed = any(default is ... for _, default in attributes.values())
        fields["attributes"] = (kind, ... if needed else kind.model_construct())
    made = create_model(op_type, __base__=base, __module__=module, **fields)
    made.inputs, made.outputs, made.since = inputs, outputs, since
    return made


def _later(op_type: str, *bounds: Any, **attributes: tuple[Any, Any]) -> None:
    """Declare an operator whose class is made when it is looked up."""
    declare_operator(op_type, partial(declare, op_type, *bounds, **attributes))


def _of(base: type[Node], op_type: str, *bounds: Any, **attributes: tuple[Any, Any]) -> None:
    """Declare an operator that has the attributes of a base."""
    _later(op_type, *bounds, "", __name__, base, **attributes)


# --- element by element --------------------------------------------------------------------------

_ONE = (1, 1)
_SINCE = {  # one input, no attributes
    13: ("Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Abs", "Neg", "Reciprocal", "Relu", "Erf",
         "Sign", "Floor", "Ceil", "IsNaN", "Identity"),
    1: ("Softplus", "Softsign", "Not", "GlobalMaxPool", "GlobalAveragePool"),
    7: ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    9: ("Sinh", "Cosh", "Asinh", "Acosh", "Atanh"),
    11: ("Round",),
    18: ("Mish",),
}  # fmt: skip
for _since, _names in _SINCE.items():
    for _name in _names:
        _later(_name, _ONE, _since)
for _name in ("Add", "Sub", "Mul", "Div", "Pow", "Greater", "Less", "Equal", "MatMul"):
    _later(_name, (2, 2))
for _name in ("Max", "Min", "Sum", "Mean"):
    _later(_name, (1, None))
for _name in ("And", "Or", "Xor"):
    _later(_name, (2, 2), 7)
for _name in ("GreaterOrEqual", "LessOrEqual"):
    _later(_name, (2, 2), 12)

_FLAG = Literal[0, 1]
_ALPHA, _GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
_NUMBERS = Literal[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16]
_ROUNDING = Literal["up", "down", "nearest"]  # of a float8 that is not among the types

_later("Elu", _ONE, 6, alpha=(float, 1.0))
_later("Selu", _ONE, 6, alpha=(float, _ALPHA), gamma=(float, _GAMMA))
_later("LeakyRelu", _ONE, 6, alpha=(float, 0.01))
_later("HardSigmoid", _ONE, 6, alpha=(float, 0.2), beta=(float, 0.5))
_later("Gelu", _ONE, 20, approximate=(Literal["none", "tanh"], "none"))
_later("Clip", (1, 3))
_later("Mod", (2, 2), fmod=(_FLAG, 0))
_later("Where", (3, 3), 9)
_later("IsInf", _ONE, 10, detect_negative=(_FLAG, 1), detect_positive=(_FLAG, 1))
_later("Cast", to=(_NUMBERS, ...), saturate=(_FLAG, 1), round_mode=(_ROUNDING, "up"))

# --- along axes, and between them ----------------------------------------------------------------

for _name in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceMean"):
    _later(
        _name,
        (1, 2),
        axes=(tuple[int, ...] | None, None),  # an input in later opsets
        keepdims=(_FLAG, 1),
        noop_with_empty_axes=(_FLAG, 0),
    )
_later("Softmax", _ONE, 1, axis=(int | None, None))
_later("ArgMax", axis=(int, 0), keepdims=(_FLAG, 1), select_last_index=(_FLAG, 0))
_SORTED: dict[str, tuple[Any, Any]] = {"largest": (_FLAG, 1), "sorted": (Literal[1], 1)}
_later("TopK", (2, 2), 11, (2, 2), axis=(int, -1), **_SORTED)
_NORM = {"epsilon": (float, 1e-5), "momentum": (float, 0.9), "training_mode": (Literal[0], 0)}
_later("BatchNormalization", (5, 5), 9, **_NORM)
_later("GatherElements", (2, 2), axis=(int, 0))
_later("Gather", (2, 2), axis=(int, 0))
_later("Split", (1, 2), 13, (1, None), axis=(int, 0), num_outputs=(int | None, None))
_later("Reshape", (2, 2), allowzero=(int, 0))
_later("Transpose", perm=(tuple[int, ...] | None, None))
_later("Squeeze", (1, 2))
_later("Unsqueeze", (2, 2))
_later("Slice", (3, 5))
_later("Expand", (2, 2))
_later("Shape", start=(int, 0), end=(int | None, None))
_later("Constant", (0, 0), value=(Tensor, ...))
_later("Concat", (1, None), axis=(int, ...))
_later("Flatten", axis=(int, 1))


class _GemmAttributes(Attributes):
    alpha: float = 1.0
    beta: float = 1.0
    transA: _FLAG = 0
    transB: _FLAG = 0


class Gemm(Node):
    """alpha · A·B + beta · C, with A and B transposed where attributes say so."""

    inputs = (2, 3)
    since = 13
    whole = True
    attributes: _GemmAttributes = _GemmAttributes.defaults()


# --- windows -------------------------------------------------------------------------------------

_Ints = tuple[int, ...]


class WindowAttributes(Attributes):
    """Attributes of windows: kernel, pads, strides and dilations, by spatial axis."""

    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET"
    kernel_shape: _Ints | None = None
    pads: _Ints | None = None
    strides: _Ints | None = None
    dilations: _Ints | None = None


class Windowed(Node, abstract=True):
    """A node that slides a window over X [N, C, …]."""

    attributes: WindowAttributes = WindowAttributes.defaults()

    def defaults_in_words(self) -> dict[str, Any]:
        """A window without padding, in steps of 1."""
        axes = len(self.attributes.kernel_shape or ())
        ones, zeros = (1,) * axes, (0,) * axes
        known = type(self.attributes).types()
        values = {"strides": ones, "dilations": ones, "pads": zeros * 2, "output_padding": zeros}
        return {name: each for name, each in values.items() if axes and name in known}


_of(Windowed, "Conv", (2, 3), 11, _ONE, group=(int, 1))
_of(
    Windowed,
    "ConvTranspose",
    (2, 3),
    11,
    _ONE,
    group=(int, 1),
    output_padding=(_Ints | None, None),
    output_shape=(_Ints | None, None),
)
_POOL: dict[str, tuple[Any, Any]] = {"kernel_shape": (_Ints, ...), "ceil_mode": (_FLAG, 0)}
_of(Windowed, "MaxPool", _ONE, 12, (1, 2), **_POOL, storage_order=(Literal[0], 0))
_of(Windowed, "AveragePool", _ONE, 11, _ONE, **_POOL, count_include_pad=(_FLAG, 0))

# --- sequences -----------------------------------------------------------------------------------


class _ScanAttributes(Attributes):
    body: Graph
    num_scan_inputs: int
    scan_input_axes: _Ints | None = None
    scan_input_directions: tuple[_FLAG, ...] | None = None
    scan_output_axes: _Ints | None = None
    scan_output_directions: tuple[_FLAG, ...] | None = None


class Scan(Node):
    """A body applied to each step of sequences, with states carried from step to step."""

    inputs = (1, None)
    outputs = (1, None)
    since = 11
    attributes: _ScanAttributes

    @model_validator(mode="after")
    def _sequences(self) -> Self:
        """Refuse more sequences than inputs: onnx's evaluator takes memory for each."""
        count, most = self.attributes.num_scan_inputs, len(self.input)
        if not 0 < count <= most:
            raise ValueError(f"num_scan_inputs is {count}, expected 1 to {most}")
        return self

    def states(self) -> tuple[list[str], list[str]]:
        """The first inputs, and as many outputs."""
        count = len(self.input) - self.attributes.num_scan_inputs
        return self.input[:count], self.output[:count]

    def defaults_in_words(self) -> dict[str, Any]:
        """Sequences forward along the first axis."""
        read = (0,) * self.attributes.num_scan_inputs
        made = (0,) * (len(self.output) - len(self.input) + len(read))
        names = ("scan_input_axes", "scan_input_directions")
        outputs = ("scan_output_axes", "scan_output_directions")
        return dict.fromkeys(names, read) | dict.fromkeys(outputs, made)


Function = Literal["Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid",
                   "Softplus", "Softsign", "Tanh", "ThresholdedRelu"]  # fmt: skip
_FUNCTIONS = {name.lower(): name for name in get_args(Function)}


class _RecurrenceAttributes(Attributes):
    activation_alpha: tuple[float, ...] = ()
    activation_beta: tuple[float, ...] = ()
    activations: tuple[Function, ...] | None = None
    clip: float | None = None
    direction: Literal["forward", "reverse", "bidirectional"] = "forward"
    hidden_size: int | None = None
    layout: _FLAG = 0

    @field_validator("activations", mode="before")
    @classmethod
    def _in_any_case(cls, names: Any) -> Any:
        """Activations as ONNX spells them: in LSTM and GRU runtimes take them in any case."""
        if not isinstance(names, list | tuple):
            return names
        return [_FUNCTIONS.get(str(name).lower(), name) for name in names]


class Recurrence(Node, abstract=True):
    """A node that goes through a sequence: X, W, R, B, sequence_lens, initial states, P."""

    attributes: _RecurrenceAttributes = _RecurrenceAttributes.defaults()

    def states(self) -> tuple[list[str], list[str]]:
        """The inputs initial_h and initial_c, and the outputs Y_h and Y_c."""
        return self.input[5:7], self.output[1:]

    def defaults_in_words(self) -> dict[str, Any]:
        """The activations of each direction, where none are given."""
        from neat_onnx.network.cells import RECOGNISED  # noqa: PLC0415 - few graphs are recurrent

        both = self.attributes.direction == "bidirectional"
        functions = next(each.functions for each in RECOGNISED if each.operator == self.op_type)
        return {"activations": functions * (2 if both else 1)}


_of(Recurrence, "RNN", (3, 6), 7, (0, 2))
_of(Recurrence, "GRU", (3, 6), 7, (0, 2), linear_before_reset=(_FLAG, 0))
_of(Recurrence, "LSTM", (3, 8), 7, (0, 3), input_forget=(_FLAG, 0))
