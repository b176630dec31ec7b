"""Differences between the languages of generated code: operators, functions, loops."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from neat_onnx.errors import OptionError

INDENT = "    "
_HEAD = re.compile(r"^(?:static |function |def )(?:\w+ )??(\w+)\(", re.MULTILINE)


def helpers_in(source: str, suffix: str = "") -> dict[str, str]:
    """Return the definitions of a source text by the names that they define.

    Args:
        source: definitions, a blank line between two of them; each begins with its head, or with a
            comment and its head, and calls none that stands after it.
        suffix: stands for every `@`, the ending of a function for the type of the numbers.
    """
    definitions = source.replace("@", suffix).strip().split("\n\n")
    return {_HEAD.search(each).group(1): each for each in definitions}  # type: ignore[union-attr]


class Language(ABC):
    """A language that a network can be printed in: its syntax, as templates, and its functions.

    Attributes:
        functions: for each primitive that is a function, the name that the language calls it by.
        helpers: definitions of the names that the language does not have itself.
        end: the end of a statement.
        block_end: the end of a loop; empty where indentation ends it.
        logic: the operators on truth values.
        parameters: how functions declare z, a number, and v, an array of numbers.
        given_form: a number of an input as one of the language's own.
        length_form: a statement that raises an error, `message` and the length, where an array has
            not `count` numbers; empty where arrays do not know their length.
        choice_form: an expression that is `yes` where `truth` holds, else `no`.
        comment_form: a line that holds nothing but a comment.
        loop_form: the line that begins a loop over start ≤ variable < stop.
        array_form: a statement that declares an array of numbers.
        local_form: a statement that declares a number.
        lowest_form: a statement that sets `target` to the `count` smallest of `values`, ascending.
        function_form: the definition of a function.
    """

    functions: dict[str, str]
    helpers: dict[str, str]
    end = ";"
    block_end = "}"
    logic: Mapping[str, str] = MappingProxyType({"both": "&&", "either": "||", "negated": "!"})
    parameters: Mapping[str, str] = MappingProxyType({"z": "z", "v": "v"})
    given_form = "{value}"
    length_form = ""
    choice_form = "({truth} ? {yes} : {no})"
    comment_form = "/* {text} */"
    loop_form: str
    array_form: str
    local_form: str
    lowest_form: str
    function_form: str

    @abstractmethod
    def number(self, value: float) -> str:
        """Return a literal that reads back to `value`."""

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        return json.dumps(value)

    def key(self, name: str) -> str:
        """Return a key as it stands before its value."""
        return self.text(name)

    def given(self, value: str) -> str:
        """Return a number of an input as one of the language's own."""
        return self.given_form.format(value=value)

    def length_check(self, name: str, count: int, port: str) -> str:
        """Return a statement that raises an error where a port is not given `count` numbers."""
        message = self.text(f"port '{port}' takes {count} numbers, not ")
        return self.length_form.format(name=name, count=count, message=message)

    def choice(self, truth: str, yes: str, no: str) -> str:
        """Return an expression that is `yes` where `truth` holds, else `no`."""
        return self.choice_form.format(truth=truth, yes=yes, no=no)

    def comment(self, text: str) -> str:
        """Return a line that holds nothing but a comment."""
        return self.comment_form.format(text=text)

    def loop(self, variable: str, start: str, stop: str) -> str:
        """Return the line that begins a loop over start ≤ variable < stop."""
        return self.loop_form.format(variable=variable, start=start, stop=stop)

    def array(self, name: str, size: int) -> str:
        """Return a statement that declares an array of numbers."""
        return self.array_form.format(name=name, size=size)

    def local(self, name: str, value: str) -> str:
        """Return a statement that declares a number."""
        return self.local_form.format(name=name, value=value)

    def lowest(self, target: str, values: str, size: int, count: int) -> str:
        """Return a statement that sets `target` to the `count` smallest of `values`, ascending."""
        return self.lowest_form.format(target=target, values=values, size=size, count=count)

    def function(self, name: str, parameter: str, lines: Iterable[str], result: str) -> str:
        """Return the definition of a function of z or v: statements, then its result."""
        return self.function_form.format(
            name=name,
            parameter=self.parameters[parameter],
            lines="".join(f"{INDENT}{line}\n" for line in lines),
            result=result,
        )

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation or comparison."""
        return f"({left} {_INFIX[op]} {right})"

    def call(self, op: str, arguments: Iterable[str]) -> str:
        """Return the call of a primitive that is a function.

        Raises:
            OptionError: the language has no such function.
        """
        if op not in self.functions:
            raise OptionError(
                f"'{op}' has no form in this language", where="language", hint="Try another one"
            )
        return f"{self.functions[op]}({', '.join(arguments)})"

    def helpers_of(self, text: str) -> list[str]:
        """Return the definitions that `text` needs, each after those that it calls itself."""
        needed: list[str] = []
        for name, source in reversed(self.helpers.items()):
            if any(re.search(rf"\b{name}\(", each) for each in (text, *needed)):
                needed.insert(0, source)
        return needed


_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "greater": ">",
    "greater_or_equal": ">=",
    "less": "<",
    "less_or_equal": "<=",
    "equal": "==",
}
INFIX = frozenset(_INFIX)
