"""The functions that generated code calls, written once, in Python, and printed in each language.

Python's own parser reads them. A parameter is a number, or what its annotation says: `int`,
`Values` (an array that is read) or `Written` (one that is filled). A text alone is a comment.
Functions that are not defined here, as `exp`, are the language's own, and so are some of these.
"""

import ast
import math
import re
from functools import cache

from neat_onnx.codegen.language import Language

_OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Gt: "greater",
    ast.GtE: "greater_or_equal", ast.Lt: "less", ast.LtE: "less_or_equal", ast.Eq: "equal",
    ast.NotEq: "one_of", ast.And: "both", ast.Or: "either", ast.Not: "negated",
}  # fmt: skip
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def helpers_of(language: Language, text: str) -> list[str]:
    """Return the definitions that `text` needs, each after those that it calls itself."""
    needed: list[str] = []
    for definition in reversed(_definitions()):
        called = language.called(definition.name)
        if definition.name not in language.native and _is_called(called, [text, *needed]):
            needed.insert(0, _Printer(language).function(definition))
    for own in reversed(language.own.strip().split("\n\n")):
        name = re.search(r"(\w+)\(", own)
        if name and _is_called(name[1], [text, *needed]):
            needed.insert(0, own)
    return needed


def _is_called(name: str, texts: list[str]) -> bool:
    return any(re.search(rf"\b{name}\(", each) for each in texts)


@cache
def _definitions() -> tuple[ast.FunctionDef, ...]:
    return tuple(each for each in ast.parse(_HELPERS).body if isinstance(each, ast.FunctionDef))


class _Printer:
    """Prints a function in a language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._declared: set[str] = set()

    def function(self, definition: ast.FunctionDef) -> str:
        """Return the definition."""
        parameters = [(each.arg, _type(each.annotation)) for each in definition.args.args]
        self._declared = {name for name, _ in parameters}
        name = self._language.called(definition.name)
        lines = self._block(definition.body)
        return self._language.function(name, parameters, lines, _type(definition.returns))

    def _block(self, statements: list[ast.stmt]) -> list[str]:
        return [line for statement in statements for line in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[str]:
        language, end = self._language, self._language.end
        match statement:
            case ast.Expr(ast.Constant(str() as text)):
                return [language.comment_form.format(text=text)]
            case ast.Return(ast.expr() as value):
                return [f"return {self._bare(value)}{end}"]
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value) if (
                value is not None and name not in self._declared
            ):
                self._declared.add(name)
                kind = _type(getattr(statement, "annotation", None))
                return [language.local(name, self._bare(value), kind)]
            case ast.Assign([target], value):
                return [f"{self._text(target)} = {self._bare(value)}{end}"]
            case ast.AugAssign(target, op, value):
                sign = _SIGNS[type(op)]
                return [f"{self._text(target)} {sign}= {self._bare(value)}{end}"]
            case ast.For(ast.Name(name), ast.Call(_, [start, stop]), body):
                ends = {"start": self._bare(start), "stop": self._bare(stop)}
                head = language.loop_form.format(variable=name, **ends)
                return language.block(head, self._block(body))
            case ast.While(test, body):
                head = language.while_form.format(truth=self._bare(test))
                return language.block(head, self._block(body))
            case ast.If(test, body):
                head = language.if_form.format(truth=self._bare(test))
                return language.block(head, self._block(body))
        raise NotImplementedError(ast.unparse(statement))

    def _bare(self, node: ast.expr) -> str:
        """Return an expression without the parentheses around the whole of it."""
        text = self._text(node)
        operations = (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp)
        return text[1:-1] if isinstance(node, operations) and text[0] == "(" else text

    def _text(self, node: ast.expr) -> str:
        language = self._language
        match node:
            case ast.Name("inf"):
                return language.number(math.inf)
            case ast.Name(name):
                return name
            case ast.Constant(float() as value):
                return language.number(value)
            case ast.Constant(value):
                return str(value)
            case ast.UnaryOp(ast.USub(), operand):
                return f"-{self._text(operand)}"
            case ast.Subscript(array, index):
                return f"{self._text(array)}[{self._bare(index)}]"
            case ast.Call(ast.Name(name), arguments):
                return language.applied(name, [*map(self._bare, arguments)])
            case ast.IfExp(test, yes, no):
                return language.applied("where", [*map(self._text, (test, yes, no))])
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
                parts = [left, right]
            case ast.BoolOp(op, parts):
                pass
            case ast.UnaryOp(op, operand):
                parts = [operand]
            case _:
                raise NotImplementedError(ast.unparse(node))
        return language.applied(_OPERATORS[type(op)], [*map(self._text, parts)])


def _type(annotation: ast.expr | None) -> str:
    return "real" if annotation is None else ast.unparse(annotation)


_HELPERS = """
def reciprocal(x):
    return 1.0 / x

def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))

def maximum(x, y):
    return x if x > y or is_nan(x) else y

def minimum(x, y):
    return x if x < y or is_nan(x) else y

def relu(x):
    return maximum(x, 0.0)

def sign(x):
    "Of -0 it is 0."
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return x if is_nan(x) else 0.0

def is_infinite(x):
    return abs(x) == inf

def log1p(x):
    near = 1.0 + x
    return x if near == 1.0 or near == inf else log(near) * (x / (near - 1.0))

def expm1(x):
    near = exp(x)
    if near == 1.0:
        return x
    return -1.0 if near - 1.0 == -1.0 else (near - 1.0) * (x / log(near))

def asinh(x):
    a = abs(x)
    if a > 268435456.0:
        return sign(x) * (log(a) + 0.6931471805599453)
    return x if x == 0.0 else sign(x) * log1p(a + a * a / (1.0 + sqrt(a * a + 1.0)))

def acosh(x):
    if x < 1.0:
        return log(-1.0)
    if x > 268435456.0:
        return log(x) + 0.6931471805599453
    return log1p(x - 1.0 + sqrt((x - 1.0) * (x - 1.0) + 2.0 * (x - 1.0)))

def atanh(x):
    a = abs(x)
    return x if x == 0.0 else sign(x) * (0.5 * log1p(2.0 * a / (1.0 - a)))

def softplus(x):
    return maximum(x, 0.0) + log1p(exp(-abs(x)))

def softsign(x):
    return x / (1.0 + abs(x))

def elu(x, alpha):
    return x if x > 0.0 else alpha * expm1(minimum(x, 0.0))

def selu(x, alpha, gamma):
    return gamma * elu(x, alpha)

def leaky_relu(x, slope):
    return slope * x if x < 0.0 else x

def clip(x, low, high):
    return minimum(maximum(x, low), high)

def pow(x, y):
    return 1.0 if x == 1.0 or (x == -1.0 and is_infinite(y)) else plain_pow(x, y)

def round(x):
    "Halves to even: numbers from 2^52 on have none."
    a = abs(x) + 4503599627370496.0 - 4503599627370496.0
    if x == 0.0 or not abs(x) < 4503599627370496.0:
        return x
    return -a if x < 0.0 else a

def erf(x):
    "A power series near 0, a continued fraction of 1 - erf elsewhere."
    a = abs(x)
    if not a <= 6.0:
        return x if is_nan(x) else sign(x)
    if a < 2.5:
        term = x
        series = x
        n = 1.0
        while abs(term) > 1e-17 * abs(series):
            term *= -x * x / n
            series += term / (2.0 * n + 1.0)
            n += 1.0
        return series * 1.1283791670955126
    tail = 0.0
    for k in range(0, 60):
        tail = (60.0 - k) / 2.0 / (a + tail)
    return sign(x) * (1.0 - exp(-a * a) / (a + tail) * 0.5641895835477563)

def total(x: Values, n: int):
    result = 0.0
    for i in range(0, n):
        result += x[i]
    return result

def product(x: Values, n: int):
    result = 1.0
    for i in range(0, n):
        result *= x[i]
    return result

def where_largest(x: Values, n: int) -> int:
    found: int = 0
    for i in range(1, n):
        if not is_nan(x[found]) and (x[i] > x[found] or is_nan(x[i])):
            found = i
    return found

def largest(x: Values, n: int):
    return x[where_largest(x, n)]

def smallest(x: Values, n: int):
    found = x[0]
    for i in range(1, n):
        found = minimum(found, x[i])
    return found

def lowest(to: Written, x: Values, n: int, count: int) -> None:
    "Set `to` to the smallest of x, ascending, those that are no numbers last."
    for i in range(0, n):
        k: int = i if i < count else count
        while k > 0 and not is_nan(x[i]) and not to[k - 1] <= x[i]:
            if k < count:
                to[k] = to[k - 1]
            k -= 1
        if k < count:
            to[k] = x[i]

def weighted_sum(v: Values, k: int):
    "The sum of the weighted inputs of neuron k."
    result = 0.0
    for e in range(START[k], START[k + 1]):
        result += WEIGHT[e] * v[SOURCE[e]]
    return result

def gated_sum(v: Values, k: int):
    "The same where gaters multiply some inputs."
    result = 0.0
    for e in range(START[k], START[k + 1]):
        result += WEIGHT[e] * v[SOURCE[e]] * (1.0 if GAIN[e] < 0 else v[GAIN[e]])
    return result

def weighted(v: Values, k: int, u: Written) -> None:
    "The weighted inputs of neuron k, one by one."
    for e in range(START[k], START[k + 1]):
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]]

def gated(v: Values, k: int, u: Written) -> None:
    "The same where gaters multiply some inputs."
    for e in range(START[k], START[k + 1]):
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]] * (1.0 if GAIN[e] < 0 else v[GAIN[e]])
"""
