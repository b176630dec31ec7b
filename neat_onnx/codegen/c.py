"""C99: tables and functions, no heap, no library but libm."""

from types import MappingProxyType

import numpy as np

from neat_onnx.codegen.language import MATH, Language
from neat_onnx.errors import OptionError

_BODY = """
#include <math.h>
#include <string.h>

typedef $kind real;

$members
"""
_FILE = f"$head\n{_BODY}"
_HEADER = f"$head\n\n#ifndef $guard\n#define $guard\n{_BODY}\n#endif /* $guard */"
_SIGNED = ((127, "signed char"), (32767, "short"))
_UNSIGNED = ((255, "unsigned char"), (65535, "unsigned short"))
_LIBM = {
    op: op for op in (*MATH, "asinh", "acosh", "atanh", "erf", "ceil", "pow", "log1p", "expm1")
} | {"abs": "fabs", "round": "rint", "mod": "fmod"}


class C(Language):
    """C99 in double or float, which C++ compiles as well.

    Args:
        single: numbers are float, and so are the functions.
        header: the file may be included in several others.
    """

    types = MappingProxyType(
        {"real": "real ", "int": "int ", "Values": "const real *", "Written": "real *",
         "None": "void "}
    )  # fmt: skip
    array_form = "real {name}[{size}];"
    table_form = "static const {kind} {name}[{count}] = {{\n{rows}}};"
    stateless = """
${linkage}void ${name}_activate($ports)
{
    real v[$rows];
    $step
}
"""
    stateful = """
typedef struct {
    real v[$rows];
} ${name}_state;

${linkage}void ${name}_reset(${name}_state *state)
{
    real *v = state->v;
    memset(v, 0, sizeof state->v);
    $reset
}

${linkage}void ${name}_step(${name}_state *state, $ports)
{
    real *v = state->v;
    $step
}
"""
    usage = """
Call it like this, with an array for each port:

    $call

C99, libm, no heap.
"""
    calls = (
        "${name}_activate($arguments);",
        """${name}_state state;
    ${name}_reset(&state);            // before the first step of a sequence
    ${name}_step(&state, $arguments);""",
    )
    port_form = "{const}real {name}[{count}]"

    def __init__(self, single: bool, header: bool = False) -> None:
        self._suffix = suffix = "f" if single else ""
        self.native = {op: name + suffix for op, name in _LIBM.items()}
        self.native |= {"is_nan": "isnan", "is_infinite": "isinf"}
        self.real = "float" if single else "double"
        self.linkage = "static inline " if header else ""
        self.file = _HEADER if header else _FILE

    def number(self, value: float) -> str:
        """Return a literal of the type of the code that reads back to `value`.

        Raises:
            OptionError: numbers are float, and the value is beyond their range.
        """
        if np.isinf(value):
            return "INFINITY" if value > 0 else "-INFINITY"
        text = repr(float(value))
        if self._suffix:
            with np.errstate(over="ignore"):
                text = str(np.float32(value))
        if text.endswith("inf"):
            wrong = f"a constant of {value:.6g} is beyond the range of float32"
            raise OptionError(wrong, where="dtype", hint="Generate float64")
        return (text if any(char in text for char in ".e") else text + ".0") + self._suffix

    def kind(self, label: str, whole: bool, most: int) -> str:
        """Return real, or the smallest type that holds the integers of a table."""
        if not whole:
            return "real"
        sizes = _SIGNED if label == "GAIN" else _UNSIGNED  # a gain of -1 is none
        return next((name for limit, name in sizes if most <= limit), "int")
