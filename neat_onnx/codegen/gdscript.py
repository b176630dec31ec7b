"""GDScript: one script, for Godot 3 and 4."""

import json
from types import MappingProxyType

from neat_onnx.codegen.language import INDENT, Language
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines

_NATIVE = ("abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
           "tanh", "floor", "ceil", "pow", "is_nan")  # fmt: skip
_LEAST = 2.3e-308
_OWN = """
func divide(x, y):
    # Godot refuses a division by 0; of -0 the angle is that of the negative numbers
    if y != 0.0 or y != y:
        return x / y
    if x == 0.0 or x != x:
        return NAN
    return INF if (x > 0.0) == (atan2(0.0, y) == 0.0) else -INF
"""


class GDScript(Language):
    """GDScript, whose numbers are doubles."""

    native = MappingProxyType({op: op for op in _NATIVE} | {"is_infinite": "is_inf", "mod": "fmod"})
    own = _OWN
    infinity = "INF"
    prefix = "port_"
    given_form = "float({value})"
    choice_form = "({yes} if {truth} else {no})"
    comment_form = "# {text}"
    loop_form = "for {variable} in range({start}, {stop}):"
    while_form = "while {truth}:"
    if_form = "if {truth}:"
    array_form = "var {name} = []; {name}.resize({size})"
    local_form = "var {name} = {value}"
    function_form = "func {name}({parameters}):\n{lines}"
    length_form = "assert({name}.size() == {count}, {message})"
    end = ""
    block_end = ""
    logic = MappingProxyType({"both": "and", "either": "or", "negated": "not"})

    def number(self, value: float) -> str:
        """Return a literal; Godot reads those below the normal numbers as 0: they are products."""
        if 0.0 < abs(value) < _LEAST:
            return f"({value * 2.0**1000!r} * {2.0**-1000!r})"
        return super().number(value)

    def text(self, value: str) -> str:
        """Return a literal of a text; Godot 3 has no escapes of characters beyond 16 bits."""
        return json.dumps(value, ensure_ascii=False)

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation; division by zero is a call, as Godot would stop."""
        return f"divide({left}, {right})" if op == "div" else super().infix(op, left, right)


def print_gdscript(plan: Plan) -> str:
    """Print a plan as one script."""
    program = Program(plan, GDScript())
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _memory(program) if plan.has_memory else _activate(program)
    parts = [_header(program), "\n".join(tables), *map(str.rstrip, program.definitions(body)), body]
    return "\n\n\n".join(parts) + "\n"


def _header(program: Program) -> str:
    lines = [*program.description, "", 'var network = load("res://network.gd").new()']
    one = len(program.input_names) == 1
    argument = "input" if one else "{name: numbers}"
    if program.plan.has_memory:
        lines.append(f"var result = network.step({argument})  # one step; reset() starts again")
    else:
        lines.append(f"var result = network.activate({argument})")
    return comment_lines(lines, "# ").rstrip("\n")


def _activate(program: Program) -> str:
    lines = [program.language.array("v", program.plan.rows), *program.step_lines()]
    return _function("activate(inputs)", lines)


def _memory(program: Program) -> str:
    rows = program.plan.rows
    reset = [f"v.resize({rows})", f"for i in range(0, {rows}):", f"{INDENT}v[i] = 0.0"]
    functions = [
        _function("_init()", ["reset()"]),
        _function("reset()", [*reset, *program.reset_lines()]),
        _function("step(inputs)", program.step_lines()),
    ]
    return "\n\n\n".join(["var v = []", *functions])


def _function(head: str, lines: list[str]) -> str:
    return f"func {head}:\n" + "\n".join(INDENT + line for line in lines)


def _table(label: str, values: Table, program: Program) -> str:
    return f"const {label} = [\n{program.rows_of(values)}]"
