"""C#: one class of C# 5, which Unity, Mono and .NET compile; no package."""

import textwrap
from types import MappingProxyType

from neat_onnx.codegen.language import INDENT, Language
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines

_MATH = ("abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
         "tanh", "floor")  # fmt: skip


class CSharp(Language):
    """C# in double."""

    native = MappingProxyType(
        {op: f"Math.{op.capitalize()}" for op in _MATH}
        | {"ceil": "Math.Ceiling", "plain_pow": "Math.Pow", "mod": "({} % {})"}
        | {"is_nan": "double.IsNaN", "is_infinite": "double.IsInfinity"}
    )
    infinity = "double.PositiveInfinity"
    types = MappingProxyType(
        {"real": "double ", "int": "int ", "Values": "double[] ", "Written": "double[] ",
         "None": "void "}
    )  # fmt: skip
    length_form = (
        "if ({name}.Length != {count}) "
        'throw new ArgumentException({message} + ", not " + {name}.Length);'
    )
    loop_form = "for (int {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    array_form = "double[] {name} = new double[{size}];"
    local_form = "{type}{name} = {value};"
    function_form = "static {type}{name}({parameters})\n{{\n{lines}}}"


def print_csharp(plan: Plan, name: str) -> str:
    """Print a plan as one class.

    Args:
        name: of the class.
    """
    program = Program(plan, CSharp(), [name])
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _body(plan, program, name)
    inside = [*tables, f"readonly double[] v = new double[{plan.rows}];"]
    inside += [*program.definitions(body), body]
    parts = [_header(plan, program, name), "using System;"]
    members = textwrap.indent("\n\n".join(inside), INDENT)
    return "\n\n".join([*parts, f"public sealed class {name}\n{{\n{members}\n}}"]) + "\n"


def _header(plan: Plan, program: Program, name: str) -> str:
    arguments = ", ".join([*program.input_names, *program.output_names])
    lines = [*program.description, "", "Call it like this, with an instance for each thread:", ""]
    lines.append(f"    {name} network = new {name}();")
    lines += [
        f"    double[] {port} = new double[{len(rows)}];" for port, (_, rows) in program.ports
    ]
    call = "Step" if plan.has_memory else "Activate"
    told = "  // one step; Reset() starts again" if plan.has_memory else ""
    lines += [f"    network.{call}({arguments});{told}", ""]
    lines.append(f"Tables {program.table_bytes(8)} bytes; no garbage but where a neuron sorts.")
    return "/*\n" + comment_lines(lines, " * ") + " */"


def _body(plan: Plan, program: Program, name: str) -> str:
    lines = [
        program.language.length_check(name, len(rows), port.name)
        for name, (port, rows) in program.ports
    ]
    lines += [*program.copy_inputs(), *program.group_lines(), *program.copy_outputs()]
    ports = ", ".join(f"double[] {port}" for port, _ in program.ports)
    if not plan.has_memory:
        return _method(f"void Activate({ports})", lines)
    reset = _method("void Reset()", ["Array.Clear(v, 0, v.Length);", *program.reset_lines()])
    step = _method(f"void Step({ports})", [*lines, *program.register_lines()])
    start = _method(f"{name}()", ["Reset();"])
    return "\n\n".join([start, reset, step])


def _method(head: str, lines: list[str]) -> str:
    return f"public {head}\n{{\n" + "".join(f"{INDENT}{line}\n" for line in lines) + "}"


def _table(label: str, values: Table, program: Program) -> str:
    kind = "double" if values.dtype.kind == "f" else "int"
    return f"static readonly {kind}[] {label} = {{\n{program.rows_of(values)}}};"
