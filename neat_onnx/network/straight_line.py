"""A Network as straight-line Python: one statement or two a neuron, over local names.

For one sample this is many times as fast as array operations, whose fixed cost a level is that of
hundreds of multiplications. The text of XOR's winner is

    def step(x, state):
        v0, v1, = map(float, x)
        z = 4.2 * v0 + -3.1 * v1 + 0.5
        v2 = 1.0 / (1.0 + exp(-(5.0 * z)))
        …
        return [v3], []

Python's functions raise where floating point has infinities and NaN (exp(1000), sin(inf), 1 / 0).
No statement here avoids that: whoever calls `step` computes such a sample with arrays instead.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.expression import INFIX, PRIMITIVES, Expression
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

Step = Callable[[Any, Sequence[float]], tuple[list[float], list[float]]]
"""One step of one sample: (inputs, registers) to (outputs, registers for the next step)."""

UNUSUAL = (ArithmeticError, ValueError, TypeError)
"""What a step raises where its sample is not one of plain numbers, or Python's functions refuse."""

_TERMS_A_STATEMENT = 100  # the parser of Python nests them
_MAX_DEPTH = 50  # of a formula that is written out
_TERMS_A_LEVEL, _MAX_TERMS = 300, 50_000

_MATH = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "pow",
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _MATH},
    "abs": abs,
    "mod": math.fmod,
    "is_nan": math.isnan,
    "is_infinite": math.isinf,
    "relu": lambda x: 0.0 if x <= 0.0 else x,  # NaN stays NaN
    "softplus": lambda x: (0.0 if x <= 0.0 else x) + math.log1p(math.exp(-abs(x))),
    "softsign": lambda x: x / (1.0 + abs(x)),
    "elu": lambda x, alpha: x if x > 0.0 else alpha * math.expm1(x),
    "selu": lambda x, alpha, gamma: gamma * (x if x > 0.0 else alpha * math.expm1(x)),
    "leaky_relu": lambda x, slope: slope * x if x < 0.0 else x,
    "clip": lambda x, low, high: low if x < low else high if x > high else x,
    "maximum": lambda x, y: x if x > y or math.isnan(x) else y,
    "minimum": lambda x, y: x if x < y or math.isnan(x) else y,
}
_FUNCTIONS |= {
    op: lambda x, function=PRIMITIVES[op]: float(function(x))
    for op in ("sign", "floor", "ceil", "round")
}
"""Primitives of numbers, by name; they raise where floating point has infinities and NaN."""
_WRITTEN = {op: f"({{}} {sign} {{}})" for op, sign in INFIX.items()} | {
    "neg": "(-{})",
    "reciprocal": "(1.0 / {})",
    "sigmoid": "(1.0 / (1.0 + exp(-{})))",
    "where": "({1} if {0} else {2})",
    "number": "(1.0 if {} else 0.0)",
    "greater": "({} > {})",
    "greater_or_equal": "({} >= {})",
    "less": "({} < {})",
    "less_or_equal": "({} <= {})",
    "equal": "({} == {})",
    "both": "({} and {})",
    "either": "({} or {})",
    "one_of": "({} != {})",
    "negated": "(not {})",
}
"""Primitives that are written out, without the cost of a call."""

_REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "maxabs": lambda values: max(values, key=abs),  # the first, on ties
}


def is_faster(net: Structure, depth: int) -> bool:
    """Return whether straight-line code computes one sample faster than arrays, level by level.

    A connection takes some 30 ns, a level of arrays some 10 µs. Larger texts take seconds to
    compile.
    """
    size = len(net.live) + 2 * len(net)
    return size < min(_TERMS_A_LEVEL * (depth + 2), _MAX_TERMS)


def straight_line(net: Structure, levels: Iterable[Ints]) -> Step:
    """Compile one step of a network.

    Args:
        levels: of its schedule.

    Returns:
        A function of the inputs of all ports, one after the other, and of the registers. It raises
        one of `UNUSUAL` for a sample that arrays have to compute.
    """
    writer = _Writer(net)
    text = "\n    ".join(writer.lines(levels))
    names: dict[str, Any] = {"inf": math.inf, **_FUNCTIONS, **writer.functions}
    exec(compile(text, "<network>", "exec"), names)
    step: Step = names["step"]
    return step


class _Writer:
    """Writes the statements. Names: v… for signals, z for a pre-activation."""

    def __init__(self, net: Structure) -> None:
        self._net = net
        self._signals = signals_of(net)
        self.functions: dict[str, Callable[..., float]] = {}
        formulas = [activation_named(name).expression for name in net.activations]
        self._formulas = [self._formula(k, each) for k, each in enumerate(formulas)]
        self._aggregations = [aggregation_named(name) for name in net.aggregations]

    def lines(self, levels: Iterable[Ints]) -> Iterator[str]:
        """Yield the statements of a step."""
        net, registers = self._net, self._signals.registers
        yield "def step(x, state):"
        yield f"[{_names(net.input_neurons)}] = map(float, x)"
        yield f"[{_names(registers.signal)}] = state"
        columns = (net.live.weight, self._signals.gain, self._signals.source)
        terms = [
            f"{weight!r} * v{source}" if gain == NONE else f"{weight!r} * v{gain} * v{source}"
            for weight, gain, source in zip(*(each.tolist() for each in columns), strict=True)
        ]
        first = net.first_edge.tolist()
        genes, read = net.neurons, self._signals.pre_activation.tolist()
        activation, aggregation = genes.activation.tolist(), genes.aggregation.tolist()
        bias, response = genes.bias.tolist(), genes.response.tolist()
        for j in (j for level in levels for j in level.tolist() if not net.is_input[j]):
            yield from self._pre_activation(
                aggregation[j], terms[first[j] : first[j + 1]], bias[j], response[j]
            )
            if read[j] != NONE:
                yield f"v{read[j]} = z"
            yield f"v{j} = {self._formulas[activation[j]]}"
        yield f"return [{_names(net.output_neurons)}], [{_names(registers.origin)}]"

    def _pre_activation(
        self, code: int, terms: Sequence[str], bias: float, response: float
    ) -> Iterator[str]:
        """Yield statements that set z to bias + response · aggregate."""
        aggregation = self._aggregations[code]
        if not terms:
            yield f"z = {bias + response * aggregation.empty!r}"
            return
        if aggregation.linear:
            for k in range(0, len(terms), _TERMS_A_STATEMENT):
                yield f"z {'+' if k else ''}= {' + '.join(terms[k : k + _TERMS_A_STATEMENT])}"
            total = f"z / {len(terms)}.0" if aggregation.name == "mean" else "z"
        else:
            name = f"aggregate{code}"
            self.functions[name] = _of_numbers(aggregation)
            total = f"{name}(({', '.join(terms)},))"
        scaled = total if response == 1.0 else f"{response!r} * {total}"
        if bias or scaled != "z":
            yield f"z = {scaled} + {bias!r}"

    def _formula(self, code: int, expression: Expression) -> str:
        """Return a formula of z; Python's parser takes a few nested parentheses only."""
        if expression.depth <= _MAX_DEPTH:
            return _text_of(expression)
        self.functions[f"formula{code}"] = lambda z: float(expression.evaluate(np.array(z)))
        return f"formula{code}(z)"


def _names(signals: Ints) -> str:
    return ", ".join(f"v{signal}" for signal in signals.tolist())


def _of_numbers(aggregation: Aggregation) -> Callable[[Sequence[float]], float]:
    """Return an aggregation as a function of Python's numbers."""

    def exact(values: Sequence[float]) -> float:
        return float(aggregation(np.array(values)))

    if aggregation.name not in _REDUCTIONS:
        return exact
    quick = _REDUCTIONS[aggregation.name]
    return lambda values: quick(values) if math.isfinite(sum(values)) else exact(values)


def _text_of(part: Expression) -> str:
    """Return a formula of z as an expression of Python."""
    if part.op == "variable":
        return "z"
    if part.is_constant:
        return f"({part.value!r})"
    texts = [_text_of(arg) for arg in part.args]
    if part.op in _WRITTEN:
        return _WRITTEN[part.op].format(*texts)
    return f"{part.op}({', '.join(texts)})"
