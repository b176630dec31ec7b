"""Differences between the languages of generated code: operators, functions, loops, names.

With these the expression of an activation, and of an aggregation over its inputs, is printed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from neat_onnx.network.expression import Expression

INDENT = "    "
_RENAMED = {
    "sign": "sign_of", "round": "nearest", "pow": "power", "asinh": "arsinh", "acosh": "arcosh",
    "atanh": "artanh",
}  # fmt: skip
"""Functions of `helpers` that some language has by their own name, not as they are meant here."""


class Language:
    """A language that a network can be printed in: its syntax, as templates, and its functions.

    Attributes:
        native: for each function that the language has, its name there, or a template of its call.
        own: definitions in the language's own text, with a blank line between two of them.
        infinity: the literal.
        end: the end of a statement.
        block_end: the end of a loop; empty where indentation ends it.
        logic: the operators on truth values.
        types: what stands before a name to declare a number ("real"), an "int", "Values" (an array
            that is read), "Written" (one that is filled), and before a function without a result
            ("None").
        prefix: what the names of ports begin with.
        given_form: a number of an input as one of the language's own.
        length_form: a statement that raises an error, `message` and the length, where an array has
            not `count` numbers; empty where arrays do not know their length.
        choice_form: an expression that is `yes` where `truth` holds, else `no`.
        comment_form: a line that holds nothing but a comment.
        loop_form: the line that begins a loop over start ≤ variable < stop.
        while_form, if_form: the line that begins what is done while, or if, a truth holds.
        array_form: a statement that declares an array of numbers.
        local_form: a statement that declares a number.
        function_form: the definition of a function.
    """

    native: Mapping[str, str]
    own = ""
    infinity: str
    end = ";"
    block_end = "}"
    logic: Mapping[str, str] = MappingProxyType({"both": "&&", "either": "||", "negated": "!"})
    types: Mapping[str, str] = MappingProxyType({})
    prefix = ""
    given_form = "{value}"
    length_form = ""
    choice_form = "({truth} ? {yes} : {no})"
    comment_form = "/* {text} */"
    loop_form: str
    while_form = "while ({truth}) {{"
    if_form = "if ({truth}) {{"
    array_form: str
    local_form: str
    function_form: str

    def number(self, value: float) -> str:
        """Return a literal that reads back to `value`."""
        return repr(float(value)).replace("inf", self.infinity)

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        return json.dumps(value)

    def key(self, name: str) -> str:
        """Return a key as it stands before its value."""
        return self.text(name)

    def length_check(self, name: str, count: int, port: str) -> str:
        """Return a statement that raises an error where a port is not given `count` numbers."""
        message = self.text(f"port '{port}' takes {count} numbers")
        return self.length_form.format(name=name, count=count, message=message)

    def choice(self, truth: str, yes: str, no: str) -> str:
        """Return an expression that is `yes` where `truth` holds, else `no`."""
        return self.choice_form.format(truth=truth, yes=yes, no=no)

    def loop(self, variable: str, start: str, stop: str) -> str:
        """Return the line that begins a loop over start ≤ variable < stop."""
        return self.loop_form.format(variable=variable, start=start, stop=stop)

    def array(self, name: str, size: int) -> str:
        """Return a statement that declares an array of numbers."""
        return self.array_form.format(name=name, size=size)

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
        )

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation or comparison."""
        return f"({left} {INFIX[op]} {right})"

    def negated(self, truth: str) -> str:
        """Return the opposite of a truth."""
        word = self.logic["negated"]
        return f"({word}{' ' if word.isalpha() else ''}{truth})"

    def called(self, op: str) -> str:
        """Return the name of a primitive that is a function, or of one of `helpers`; or a call."""
        return self.native.get(op, _RENAMED.get(op, op))

    def call(self, op: str, arguments: Iterable[str]) -> str:
        """Return the call of a primitive that is a function, or of one of `helpers`."""
        name = self.called(op)
        return name.format(*arguments) if "{" in name else f"{name}({', '.join(arguments)})"


INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "greater": ">",
    "greater_or_equal": ">=",
    "less": "<",
    "less_or_equal": "<=",
    "equal": "==",
    "one_of": "!=",
}


_KEYWORDS = """
    v u z i k e x y self this state real double float int char void const static struct return
    for if else while do switch case break continue default typedef enum union unsigned signed
    short long auto register volatile extern goto sizeof inline restrict main memset
    function class new var let import export null true false in of with yield await async def
    from as is not and or None True False lambda pass global nonlocal try except finally raise
    del assert eval arguments package private protected public interface implements super
    typeof instanceof delete throw catch debugger math inputs network result
    BIAS RESPONSE START SOURCE WEIGHT GAIN MATRIX ORIGIN INITIAL
    Network Number Math JSON Infinity NaN Object Array Float64Array Int32Array activate range
    sorted max min abs round len str RangeError ValueError
    asm bool nullptr constexpr static_assert thread_local alignas alignof typeof_unqual
    linux unix i386 NULL NAN INFINITY MAXFLOAT HUGE OVERFLOW UNDERFLOW DOMAIN SING PLOSS TLOSS
    MATH_ERRNO MATH_ERREXCEPT math_errhandling signgam fpclassify signbit isfinite isinf isnan
    isnormal issubnormal issignaling iszero iscanonical iseqsig isgreater isgreaterequal isless
    islessequal islessgreater isunordered strdupa strndupa
    FP_NAN FP_INFINITE FP_NORMAL FP_SUBNORMAL FP_ZERO FP_ILOGB0 FP_ILOGBNAN FP_LLOGB0 FP_LLOGBNAN
    FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO
    FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO
    abstract base byte checked decimal delegate event explicit fixed foreach implicit internal lock
    namespace object operator out override params readonly ref sbyte sealed stackalloc string uint
    ulong unchecked unsafe ushort using virtual System ArgumentException Reset Step Activate
"""
_CONSTANTS = "E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2 SQRT1_2"
_TYPES = ("", "f", "l", *(f"f{bits}" for bits in ("16", "32", "64", "128", "32x", "64x", "128x")))
RESERVED = frozenset(
    [
        *_KEYWORDS.split(),
        *(f"M_{name}{kind}" for name in _CONSTANTS.split() for kind in _TYPES),
        *(f"SNAN{kind.upper()}" for kind in _TYPES),
        *(f"HUGE_VAL{'_' * (len(kind) > 1)}{kind.upper()}" for kind in _TYPES),
    ]
)
"""Names that no language takes for an identifier, or that generated code uses; of C also the macros
of its headers and compilers.
"""


def identifier(name: str, used: set[str]) -> str:
    """Return a name that every language takes for an identifier, and add it to `used`."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]
    plain = plain if re.match(r"[A-Za-z]", plain) else f"n{plain}"
    unique, number = plain, 1
    while unique in used or f"{unique.upper()}_ROWS" in used:
        number += 1
        unique = f"{plain}_{number}"
    used.add(unique)
    used.add(f"{unique.upper()}_ROWS")
    return unique


def quoted(name: str) -> str:
    """Return a name as it may stand in a comment of any language."""
    return json.dumps(name[:200]).replace("*/", "* /").replace("/*", "/ *")


_REDUCTIONS = ("total", "product", "largest", "smallest", "where_largest")


def scalar_text(language: Language, formula: Expression, variable: str) -> str:
    """Return an elementwise formula as an expression of the number called `variable`."""
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
    if op == "negated":
        return language.negated(arguments[0])
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
            call = self._language.call("lowest", [name, texts[0], str(lengths[0]), str(count)])
            self.lines.append(call + self._language.end)
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
