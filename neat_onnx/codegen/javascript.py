"""JavaScript: an ES module with types in JSDoc, no dependency."""

from types import MappingProxyType

from neat_onnx.codegen.language import INDENT, Language
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines

_MATH = (
    "abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "log1p", "expm1",
)  # fmt: skip


class JavaScript(Language):
    """JavaScript's numbers are doubles."""

    native = MappingProxyType(
        {op: f"Math.{op}" for op in _MATH}
        | {"is_nan": "Number.isNaN", "plain_pow": "Math.pow", "mod": "({} % {})"}
    )
    infinity = "Infinity"
    length_form = (
        'if ({name}.length !== {count}) throw new RangeError({message} + ", not " + {name}.length);'
    )
    loop_form = "for (let {variable} = {start}; {variable} < {stop}; ++{variable}) {{"
    array_form = "const {name} = new Float64Array({size});"
    local_form = "let {name} = {value};"
    function_form = "function {name}({parameters}) {{\n{lines}}}"

    def key(self, name: str) -> str:
        """Return a key as it stands before its value; computed, it is never the prototype."""
        return f"[{self.text(name)}]" if name == "__proto__" else self.text(name)


def print_javascript(plan: Plan) -> str:
    """Print a plan as one ES module."""
    program = Program(plan, JavaScript())
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _memory(program) if plan.has_memory else _activate(program)
    parts = [_header(program), *tables, *program.definitions(body), body]
    return "\n\n".join(parts) + "\n"


def _header(program: Program) -> str:
    lines = [*program.description, ""]
    one = len(program.input_names) == 1
    argument = program.input_names[0] if one else "{" + ", ".join(program.input_names) + "}"
    if program.plan.has_memory:
        lines += [
            "const network = new Network();",
            f"const result = network.step({argument});  // one step; reset() starts again",
        ]
    else:
        lines.append(f"const result = activate({argument});")
    lines += ["", f"Tables {program.table_bytes(8)} bytes."]
    return "/**\n" + comment_lines(lines, " * ") + " */"


def _activate(program: Program) -> str:
    lines = [f"const v = new Float64Array({program.plan.rows});", *program.step_lines()]
    return (
        f"{_types(program, '')}export function activate(inputs) {{\n"
        + "".join(f"{INDENT}{line}\n" for line in lines)
        + "}"
    )


def _memory(program: Program) -> str:
    plan = program.plan
    reset = ["this.v.fill(0);", *(["const v = this.v;"] if program.reset_lines() else [])]
    reset += program.reset_lines()
    step = ["const v = this.v;", *program.step_lines()]

    def method(head: str, lines: list[str]) -> str:
        inside = "".join(f"{INDENT * 2}{line}\n" for line in lines)
        return f"{INDENT}{head} {{\n{inside}{INDENT}}}\n"

    return (
        "/** The network with its memory. */\nexport class Network {\n"
        + method("constructor()", [f"this.v = new Float64Array({plan.rows});", "this.reset();"])
        + f"\n{INDENT}/** Forget everything: the next step is the first. */\n"
        + method("reset()", reset)
        + "\n"
        + _types(program, INDENT)
        + method("step(inputs)", step)
        + "}"
    )


def _types(program: Program, indent: str) -> str:
    given = "ArrayLike<number>"
    if len(program.input_names) > 1:
        given = "Record<string, ArrayLike<number>>"
    result = "Float64Array"
    if len(program.output_names) > 1:
        result = "Record<string, Float64Array>"
    return (
        f"{indent}/**\n{indent} * @param {{{given}}} inputs\n{indent} * @returns {{{result}}}\n"
        f"{indent} */\n"
    )


def _table(label: str, values: Table, program: Program) -> str:
    kind = "Float64" if values.dtype.kind == "f" else "Int32"
    return f"const {label} = new {kind}Array([\n{program.rows_of(values)}]);"
