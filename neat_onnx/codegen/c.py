"""C99: tables and functions, no heap, no library but libm."""

from types import MappingProxyType

import numpy as np

from neat_onnx.codegen.language import Language
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines, is_signed
from neat_onnx.errors import OptionError


class C(Language):
    """C99 in double or float.

    Args:
        single: numbers are float, and so are the functions.
    """

    types = MappingProxyType(
        {"real": "real ", "int": "int ", "Values": "const real *", "Written": "real *",
         "None": "void "}
    )  # fmt: skip
    loop_form = "for (int {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    array_form = "real {name}[{size}];"
    local_form = "{type}{name} = {value};"
    function_form = "static {type}{name}({parameters})\n{{\n{lines}}}"

    def __init__(self, single: bool) -> None:
        self._single = single
        self._suffix = suffix = "f" if single else ""
        self.native = {op: name + suffix for op, name in _LIBM.items()}
        self.native |= {"is_nan": "isnan", "is_infinite": "isinf"}

    def number(self, value: float) -> str:
        """Return a literal of the type of the code that reads back to `value`.

        Raises:
            OptionError: numbers are float, and the value is beyond their range.
        """
        if np.isinf(value):
            return "INFINITY" if value > 0 else "-INFINITY"
        text = _single_text(value) if self._single else repr(float(value))
        return (text if any(char in text for char in ".e") else text + ".0") + self._suffix


def print_c(plan: Plan, dtype: str, name: str, as_header: bool = False) -> str:
    """Print a plan as one C99 file, which C++ compiles as well.

    Args:
        dtype: "float64" for double, "float32" for float.
        name: prefix of the names of its functions and its struct.
        as_header: whether to print a header that may be included in several files.

    Raises:
        OptionError: numbers are float, and a constant is beyond their range.
    """
    single = dtype == "float32"
    own = [f"{name}_{end}" for end in ("activate", "reset", "step", "state")]
    program = Program(plan, C(single), own)
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _body(plan, program, name, "static inline " if as_header else "")
    declared = [f"typedef {'float' if single else 'double'} real;"]
    if plan.has_memory:
        declared.append(f"typedef struct {{\n    real v[{plan.rows}];\n}} {name}_state;")
    parts = [
        _header(plan, program, name, single),
        "#include <math.h>" + ("\n#include <string.h>" if plan.has_memory else ""),
        *declared,
        *tables,
        *program.definitions(body),
        body,
    ]
    if as_header:
        guard = f"{name.upper()}_H"
        parts[1:1] = [f"#ifndef {guard}\n#define {guard}"]
        parts.append(f"#endif /* {guard} */")
    return "\n\n".join(parts) + "\n"


def _header(plan: Plan, program: Program, name: str, single: bool) -> str:
    kind = "float" if single else "double"
    arguments = ", ".join([*program.input_names, *program.output_names])
    inside = [
        *program.description,
        "",
        "Call it like this:",
        "",
        *(
            f"    {kind} {port}[{len(rows)}]{' = {0}' if k < len(plan.inputs) else ''};"
            for k, (port, (_, rows)) in enumerate(program.ports)
        ),
    ]
    if plan.has_memory:
        inside += [
            f"    {name}_state state;",
            f"    {name}_reset(&state);            // before the first step of a sequence",
            f"    {name}_step(&state, {arguments});",
        ]
    else:
        inside.append(f"    {name}_activate({arguments});")
    size = 4 if single else 8
    held = f"{'state' if plan.has_memory else 'stack'} {plan.rows * size} bytes"
    inside += ["", f"Tables {program.table_bytes(size)} bytes, {held}; C99, libm, no heap."]
    return "/*\n" + comment_lines(inside, " * ") + " */"


def _body(plan: Plan, program: Program, name: str, linkage: str) -> str:
    ports = [f"const real {port}[{len(rows)}]" for port, (_, rows) in program.input_ports]
    ports += [f"real {port}[{len(rows)}]" for port, (_, rows) in program.output_ports]
    lines = [*program.copy_inputs(), *program.group_lines(), *program.copy_outputs()]
    if not plan.has_memory:
        inside = "".join(f"    {line}\n" for line in [f"real v[{plan.rows}];", *lines])
        return f"{linkage}void {name}_activate({', '.join(ports)})\n{{\n{inside}}}"
    reset = ["memset(state->v, 0, sizeof state->v);"]
    if program.reset_lines():
        reset += ["real *v = state->v;", *program.reset_lines()]
    step = ["real *v = state->v;", *lines, *program.register_lines()]
    return (
        f"{linkage}void {name}_reset({name}_state *state)\n{{\n"
        + "".join(f"    {line}\n" for line in reset)
        + f"}}\n\n{linkage}void {name}_step({name}_state *state, {', '.join(ports)})\n{{\n"
        + "".join(f"    {line}\n" for line in step)
        + "}"
    )


def _single_text(value: float) -> str:
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isinf(single):
        raise OptionError(
            f"a constant of {value:.6g} is beyond the range of float32",
            where="dtype",
            hint="Generate float64",
        )
    return str(single)


def _table(label: str, values: Table, program: Program) -> str:
    """Print a static array; integers in the smallest type that holds them."""
    if values.dtype.kind == "f":
        kind = "real"
    else:
        signed, top = is_signed(label, values), int(np.max(np.abs(values)))
        sizes = ((127, "signed char"), (32767, "short")) if signed else _UNSIGNED
        kind = next((name for most, name in sizes if top <= most), "int")
    return f"static const {kind} {label}[{len(values)}] = {{\n{program.rows_of(values)}}};"


_UNSIGNED = ((255, "unsigned char"), (65535, "unsigned short"))
_LIBM = {
    "abs": "fabs", "sqrt": "sqrt", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf",
    "floor": "floor", "ceil": "ceil", "round": "rint", "pow": "pow", "mod": "fmod",
    "log1p": "log1p", "expm1": "expm1",
}  # fmt: skip
