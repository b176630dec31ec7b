"""Differences between the languages of generated code: spellings, and the text around them.

With these the expression of an activation, and of an aggregation over its inputs, is printed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from neat_onnx.network.expression import INFIX as ARITHMETIC
from neat_onnx.network.expression import Expression

INDENT = "    "
MATH = (
    "abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "floor",
)  # fmt: skip
"""Functions that all languages have, and all but Python as they are meant here."""
_RENAMED = {
    "sign": "sign_of", "round": "nearest", "pow": "power", "asinh": "arsinh", "acosh": "arcosh",
    "atanh": "artanh",
}  # fmt: skip
"""Functions of `helpers` that some language has by their own name, not as they are meant here."""


class Language:
    """A language that a network can be printed in, as a table of spellings.

    The `…_form`s are templates of a line or a definition, for `str.format`. The texts from `file`
    on are templates for `source.filled`, in which a line that is a name alone stands for a block.
    """

    native: Mapping[str, str]  # the name, or a template of the call, of functions that it has
    own = ""  # definitions in its own text, with a blank line between two of them
    infinity: str  # the literal
    end = ";"  # of a statement
    block_end = "}"  # empty where indentation ends a loop
    logic: Mapping[str, str] = MappingProxyType({"both": "&&", "either": "||", "negated": "!"})
    # before a name: of a number ("real"), an "int", an array that is read ("Values") or filled
    # ("Written"), and of a function without a result ("None")
    types: Mapping[str, str] = MappingProxyType({})
    real = "double"  # the type of numbers in C
    linkage = ""  # what stands before functions that others call
    given_form = "{value}"  # a number of an input as one of the language's own
    length_form = ""  # raises `message` and the length; empty where arrays do not know their length
    choice_form = "({truth} ? {yes} : {no})"
    comment_form = "/* {text} */"
    # begins a loop over start ≤ variable < stop
    loop_form = "for (int {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    while_form = "while ({truth}) {{"
    if_form = "if ({truth}) {{"
    array_form: str  # declares an array of numbers
    local_form = "{type}{name} = {value};"  # declares a number
    function_form = "static {type}{name}({parameters})\n{{\n{lines}}}"
    table_form: str  # defines a constant array, whose `kind` is one of `kinds`
    kinds: tuple[str, str] = ("", "")  # of numbers, and of integers
    # a port as a parameter; empty where inputs come by name and outputs are returned:
    port_form = ""
    head = ("/*\n", " * ", " */")  # begins the comment at the head, each of its lines, and ends it
    gap = "\n\n"  # between two definitions
    file: str
    stateless: str  # the functions of a network without memory
    stateful: str  # the same with memory
    usage = "$call"  # how to call these
    calls: tuple[str, str]

    def number(self, value: float) -> str:
        """Return a literal that reads back to `value`."""
        return repr(float(value)).replace("inf", self.infinity)

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        return json.dumps(value)

    def key(self, name: str) -> str:
        """Return a key as it stands before its value."""
        return self.text(name)

    def kind(self, label: str, whole: bool, most: int) -> str:
        """Return the type of a table; of integers up to `most` where it is of whole numbers."""
        return self.kinds[whole]

    def length_check(self, name: str, count: int, port: str) -> list[str]:
        """Return a statement that raises an error where a port is not given `count` numbers."""
        message = self.text(f"port '{port}' takes {count} numbers")
        form = [self.length_form] if self.length_form else []
        return [each.format(name=name, count=count, message=message) for each in form]

    def local(self, name: str, value: str, kind: str = "real") -> str:
        """Return a statement that declares a number, or what `kind` says."""
        return self.local_form.format(type=self.types.get(kind, ""), name=name, value=value)

    def function(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        lines: Iterable[str],
        result: str = "real",
    ) -> str:
        """Return the definition of a function of parameters with their types."""
        declared = [f"{self.types.get(kind, '')}{parameter}" for parameter, kind in parameters]
        return self.function_form.format(
            type=self.types.get(result, ""),
            name=name,
            parameters=", ".join(declared),
            lines="".join(f"{INDENT}{line}\n" for line in lines),
        ).rstrip("\n")

    def block(self, head: str, inside: Iterable[str]) -> list[str]:
        """Return the lines of a loop or of a branch."""
        end = [self.block_end] if self.block_end else []
        return [head, *(INDENT + line for line in inside), *end]

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation or comparison."""
        return f"({left} {INFIX[op]} {right})"

    def called(self, op: str) -> str:
        """Return the name of a primitive that is a function, or of one of `helpers`; or a call."""
        return self.native.get(op, _RENAMED.get(op, op))

    def applied(self, op: str, arguments: Sequence[str]) -> str:
        """Return a primitive of these arguments, or the call of one of `helpers`."""
        if op in INFIX:
            return self.infix(op, *arguments)
        if op in ("both", "either"):
            return f"({f' {self.logic[op]} '.join(arguments)})"
        if op == "negated":
            word = self.logic[op]
            return f"({word}{' ' if word.isalpha() else ''}{arguments[0]})"
        if op == "neg":
            return f"(-{arguments[0]})"
        if op == "number":
            return self.applied("where", [arguments[0], self.number(1.0), self.number(0.0)])
        if op == "where":
            truth, yes, no = arguments
            return self.choice_form.format(truth=truth, yes=yes, no=no)
        name = self.called(op)
        return name.format(*arguments) if "{" in name else f"{name}({', '.join(arguments)})"


class Indented(Language):
    """A language like Python: indentation ends a block, and division by zero needs a call."""

    end = ""
    block_end = ""
    logic = MappingProxyType({"both": "and", "either": "or", "negated": "not"})
    given_form = "float({value})"
    choice_form = "({yes} if {truth} else {no})"
    comment_form = "# {text}"
    loop_form = "for {variable} in range({start}, {stop}):"
    while_form = "while {truth}:"
    if_form = "if {truth}:"
    head = ("", "# ", "")
    gap = "\n\n\n"

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation; division by zero is a call, as the language stops."""
        return f"divide({left}, {right})" if op == "div" else super().infix(op, left, right)


INFIX = ARITHMETIC | {
    "greater": ">",
    "greater_or_equal": ">=",
    "less": "<",
    "less_or_equal": "<=",
    "equal": "==",
    "one_of": "!=",
}


def identifier(name: str, used: set[str]) -> str:
    """Return a name that every language takes for an identifier, and add it to `used`."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]
    plain = plain if re.match(r"[A-Za-z]", plain) else f"n{plain}"
    unique, number = plain, 1
    while unique in used or f"{unique.upper()}_ROWS" in used:
        number += 1
        unique = f"{plain}_{number}"
    used |= {unique, f"{unique.upper()}_ROWS"}
    return unique


def quoted(name: str) -> str:
    """Return a name as it may stand in a comment of any language."""
    return json.dumps(name[:200]).replace("*/", "* /").replace("/*", "/ *")


_REDUCTIONS = ("total", "product", "largest", "smallest", "where_largest")


def scalar_text(language: Language, formula: Expression, variable: str) -> str:
    """Return an elementwise formula as an expression of the number called `variable`."""
    if formula.op == "variable":
        return variable
    return _applied(language, formula, [scalar_text(language, x, variable) for x in formula.args])


def _applied(language: Language, formula: Expression, arguments: list[str]) -> str:
    if not formula.is_constant:
        return language.applied(formula.op, arguments)
    text = language.number(formula.value)
    return f"({text})" if text.startswith("-") else text


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
            return self._language.applied(formula.op, [texts[0], str(lengths[0])]), None
        if formula.op == "pick":
            name = self._array(1)
            self.lines.append(f"{name}[0] = {texts[0]}[{texts[1]}]{self._language.end}")
            return name, 1
        if formula.op == "lowest":
            count = int(formula.args[1].value)
            name = self._array(count)
            call = self._language.applied("lowest", [name, texts[0], str(lengths[0]), str(count)])
            self.lines.append(call + self._language.end)
            return name, count
        if not lengths:
            return _applied(self._language, formula, texts), None
        return self._mapped(formula, parts), max(lengths)

    def _mapped(self, formula: Expression, parts: list[tuple[str, int | None]]) -> str:
        """Apply an elementwise primitive to arrays, element by element."""
        size = max(length for _, length in parts if length is not None)
        name = self._array(size)
        elements = [text if length is None else f"{text}[i]" for text, length in parts]
        value = _applied(self._language, formula, elements)
        head = self._language.loop_form.format(variable="i", start="0", stop=str(size))
        self.lines += self._language.block(head, [f"{name}[i] = {value}{self._language.end}"])
        return name

    def _array(self, size: int) -> str:
        self._made += 1
        name = f"t{self._made}"
        self.lines.append(self._language.array_form.format(name=name, size=size))
        return name
