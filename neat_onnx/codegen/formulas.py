"""Printing formulas: the expression of an activation, and of an aggregation over its inputs."""

from neat_onnx.codegen.language import INDENT, INFIX, Language
from neat_onnx.network.expression import Expression

_REDUCTIONS = ("total", "product", "largest", "smallest", "where_largest")


def scalar_text(language: Language, formula: Expression, variable: str) -> str:
    """Return an elementwise formula as an expression of the number called `variable`.

    Raises:
        OptionError: the language has no form of one of its primitives.
    """
    arguments = [scalar_text(language, arg, variable) for arg in formula.args]
    return _applied(language, formula, arguments, variable)


def _applied(language: Language, formula: Expression, arguments: list[str], variable: str) -> str:
    op = formula.op
    if op == "variable":
        return variable
    if op == "constant":
        text = language.number(formula.value)
        return f"({text})" if text.startswith("-") else text
    if op in INFIX:
        return language.infix(op, arguments[0], arguments[1])
    if op in ("both", "either"):
        return f"({arguments[0]} {language.logic[op]} {arguments[1]})"
    if op == "one_of":
        return f"({arguments[0]} != {arguments[1]})"
    if op == "negated":
        return f"({language.logic[op]} {arguments[0]})"
    if op == "neg":
        return f"(-{arguments[0]})"
    if op == "where":
        return language.choice(*arguments)
    if op == "number":
        return language.choice(arguments[0], language.number(1.0), language.number(0.0))
    return language.call(op, arguments)


class Reduction:
    """The body of a function of `size` numbers called `v`: statements, and the result.

    Attributes:
        lines: the statements.
        result: the expression that the function returns.
    """

    def __init__(self, language: Language, formula: Expression, size: int) -> None:
        self._language = language
        self._made = 0
        self.lines: list[str] = []
        self.result = self._print(formula, size)[0]

    def _print(self, formula: Expression, size: int) -> tuple[str, int | None]:
        """Return the text of a sub-expression, and its length if it is an array."""
        if formula.op == "variable":
            return "v", size
        parts = [self._print(arg, size) for arg in formula.args]
        texts = [text for text, _ in parts]
        lengths = [length for _, length in parts if length is not None]
        if formula.op in _REDUCTIONS:
            return self._language.call(formula.op, [texts[0], str(lengths[0])]), None
        if formula.op == "pick":
            name = self._array(1)
            self._assign(f"{name}[0]", f"{texts[0]}[{texts[1]}]")
            return name, 1
        if formula.op == "lowest":
            count = int(formula.args[1].value)
            name = self._array(count)
            self.lines.append(self._language.lowest(name, texts[0], lengths[0], count))
            return name, count
        if not lengths:
            return _applied(self._language, formula, texts, "v"), None
        return self._mapped(formula, parts), max(lengths)

    def _mapped(self, formula: Expression, parts: list[tuple[str, int | None]]) -> str:
        """Apply an elementwise primitive to arrays, element by element."""
        size = max(length for _, length in parts if length is not None)
        name = self._array(size)
        elements = [text if length is None else f"{text}[i]" for text, length in parts]
        self.lines.append(self._language.loop("i", "0", str(size)))
        self._assign(f"{name}[i]", _applied(self._language, formula, elements, "v[i]"), INDENT)
        if self._language.block_end:
            self.lines.append(self._language.block_end)
        return name

    def _array(self, size: int) -> str:
        self._made += 1
        name = f"t{self._made}"
        self.lines.append(self._language.array(name, size))
        return name

    def _assign(self, target: str, value: str, indent: str = "") -> None:
        self.lines.append(f"{indent}{target} = {value}{self._language.end}")
