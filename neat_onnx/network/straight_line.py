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
from neat_onnx.network.expression import PRIMITIVES, Expression
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

Step = Callable[[Any, Sequence[float]], tuple[list[float], list[float]]]
"""One step of one sample: (inputs, registers) to (outputs, registers for the next step)."""

UNUSUAL = (ArithmeticError, ValueError, TypeError)
"""What a step raises where its sample is not one of plain numbers, or Python's functions refuse."""

_TERMS_A_STATEMENT = 100  # the parser of Python nests them
_MAX_NESTED = 50  # parentheses
_TERMS_A_LEVEL, _MAX_TERMS = 300, 50_000

_OF_NUMPY = ("sign", "floor", "ceil", "round")
_MATH = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "log1p", "expm1", "isnan", "isinf", "fmod", "pow", "inf",
)  # fmt: skip
_NAMES = {name: getattr(math, name) for name in _MATH}
_NAMES |= {f"numpy_{op}": PRIMITIVES[op] for op in _OF_NUMPY}
_TEMPLATES = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "div": "({0} / {1})",
    "neg": "(-{0})",
    "abs": "abs({0})",
    "reciprocal": "(1.0 / {0})",
    "sigmoid": "(1.0 / (1.0 + exp(-{0})))",
    "relu": "(0.0 if {0} <= 0.0 else {0})",  # NaN stays NaN
    "softplus": "((0.0 if {0} <= 0.0 else {0}) + log1p(exp(-abs({0}))))",
    "softsign": "({0} / (1.0 + abs({0})))",
    "elu": "({0} if {0} > 0.0 else {1} * expm1({0}))",
    "selu": "({2} * ({0} if {0} > 0.0 else {1} * expm1({0})))",
    "leaky_relu": "({1} * {0} if {0} < 0.0 else {0})",
    "clip": "({1} if {0} < {1} else {2} if {0} > {2} else {0})",
    "maximum": "({0} if {0} > {1} or {0} != {0} else {1})",
    "minimum": "({0} if {0} < {1} or {0} != {0} else {1})",
    "where": "({1} if {0} else {2})",
    "number": "(1.0 if {0} else 0.0)",
    "greater": "({0} > {1})",
    "greater_or_equal": "({0} >= {1})",
    "less": "({0} < {1})",
    "less_or_equal": "({0} <= {1})",
    "equal": "({0} == {1})",
    "both": "({0} and {1})",
    "either": "({0} or {1})",
    "one_of": "({0} != {1})",
    "negated": "(not {0})",
    "is_nan": "isnan({0})",
    "is_infinite": "isinf({0})",
    "mod": "fmod({0}, {1})",
    **{op: f"{op}({{0}})" for op in _MATH[:16]},
    "pow": "pow({0}, {1})",
    **{op: f"float(numpy_{op}({{0}}))" for op in _OF_NUMPY},
}  # fmt: skip
"""Each elementwise primitive as an expression of Python."""

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
    names = _NAMES | writer.functions
    exec(compile(text, "<network>", "exec"), names)
    step: Step = names["step"]
    return step


class _Writer:
    """Writes the statements. Names: v… for signals, z for a pre-activation, t… for its parts."""

    def __init__(self, net: Structure) -> None:
        self._net = net
        self._signals = signals_of(net)
        self.functions: dict[str, Callable[..., float]] = {}
        self._formulas = [_formula(activation_named(name).expression) for name in net.activations]
        self._aggregations = [aggregation_named(name) for name in net.aggregations]

    def lines(self, levels: Iterable[Ints]) -> Iterator[str]:
        """Yield the statements of a step."""
        net, registers = self._net, self._signals.registers
        yield "def step(x, state):"
        yield f"[{_names(net.input_neurons)}] = map(float, x)"
        yield f"[{_names(registers.signal)}] = state"
        terms, first = self._terms(), net.first_edge.tolist()
        genes, read = net.neurons, self._signals.pre_activation.tolist()
        activation, aggregation = genes.activation.tolist(), genes.aggregation.tolist()
        bias, response = genes.bias.tolist(), genes.response.tolist()
        for j in (j for level in levels for j in level.tolist() if not net.is_input[j]):
            yield from self._pre_activation(
                aggregation[j], terms[first[j] : first[j + 1]], bias[j], response[j]
            )
            if read[j] != NONE:
                yield f"v{read[j]} = z"
            before, value = self._formulas[activation[j]]
            yield from before
            yield f"v{j} = {value}"
        yield f"return [{_names(net.output_neurons)}], [{_names(registers.origin)}]"

    def _terms(self) -> list[str]:
        """Return the text of w · gain · v for each live connection."""
        columns = (self._net.live.weight, self._signals.gain, self._signals.source)
        return [
            f"{weight!r} * v{source}" if gain == NONE else f"{weight!r} * v{gain} * v{source}"
            for weight, gain, source in zip(*(each.tolist() for each in columns), strict=True)
        ]

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


def _formula(expression: Expression) -> tuple[list[str], str]:
    """Return statements, and an expression of z after them."""
    lines: list[str] = []

    def named(text: str) -> str:
        lines.append(f"t{len(lines)} = {text}")
        return f"t{len(lines) - 1}"

    def text_of(part: Expression) -> str:
        if part.op == "variable":
            return "z"
        if part.is_constant:
            return f"({part.value!r})"
        texts = [text_of(arg) for arg in part.args]
        template = _TEMPLATES[part.op]
        for k, text in enumerate(texts):
            if template.count(f"{{{k}}}") > 1 and part.args[k].args:
                texts[k] = named(text)
        text = template.format(*texts)
        return named(text) if part.depth % _MAX_NESTED == 0 else text

    return lines, text_of(expression)
