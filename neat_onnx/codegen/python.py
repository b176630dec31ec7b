"""Python: a module of the standard library alone."""

import json
from types import MappingProxyType

from neat_onnx.codegen.language import INDENT, Language
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines

_PLAIN = ("tanh", "atan", "asinh", "erf", "log1p", "expm1")
_GUARDED = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "sqrt", "acosh"), ""),
    "exp": ", math.inf",
    "cosh": ", math.inf",
}
"""Functions that raise errors, with what they are then."""
_OWN = """
def guarded(function, x, otherwise=math.nan):
    try:
        return function(x)
    except (OverflowError, ValueError):
        return otherwise

def sinh(x):
    return guarded(math.sinh, x, math.copysign(math.inf, x))

def log(x):
    return guarded(math.log, x, -math.inf if x == 0 else math.nan)

def atanh(x):
    return guarded(math.atanh, x, math.copysign(math.inf, x) if abs(x) == 1 else math.nan)

def divide(x, y):
    if y != 0:
        return x / y
    if x != x or x == 0:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)

def pow(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf

def mod(x, y):
    try:
        return math.fmod(x, y)
    except ValueError:
        return math.nan

def floor(x):
    return math.copysign(math.floor(x), x) if abs(x) < 2**52 else x

def ceil(x):
    return math.copysign(math.ceil(x), x) if abs(x) < 2**52 else x
"""


class Python(Language):
    """Python, whose functions raise where arithmetic of floating point has infinities and NaN."""

    native = MappingProxyType(
        {op: f"math.{op}" for op in _PLAIN}
        | {op: f"guarded(math.{op}, {{}}{otherwise})" for op, otherwise in _GUARDED.items()}
        | {op: op for op in ("abs", "sinh", "log", "atanh", "pow", "mod", "floor", "ceil")}
        | {"is_nan": "math.isnan", "is_infinite": "math.isinf"}
    )
    own = _OWN
    infinity = "math.inf"
    given_form = "float({value})"
    length_form = (
        'if len({name}) != {count}: raise ValueError({message} + ", not " + str(len({name})))'
    )
    choice_form = "({yes} if {truth} else {no})"
    comment_form = "# {text}"
    loop_form = "for {variable} in range({start}, {stop}):"
    while_form = "while {truth}:"
    if_form = "if {truth}:"
    array_form = "{name} = [0.0] * {size}"
    local_form = "{name} = {value}"
    function_form = "def {name}({parameters}):\n{lines}"
    end = ""
    block_end = ""
    logic = MappingProxyType({"both": "and", "either": "or", "negated": "not"})

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        plain = json.dumps(value, ensure_ascii=False)
        return plain.encode("ascii", "backslashreplace").decode()

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation; division by zero is a call, as Python would raise."""
        return f"divide({left}, {right})" if op == "div" else super().infix(op, left, right)


def print_python(plan: Plan) -> str:
    """Print a plan as one Python module."""
    program = Program(plan, Python())
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _memory(program) if plan.has_memory else _activate(program)
    head = [_header(program), "import math", "\n".join(tables)]
    functions = [*map(str.rstrip, program.definitions(body)), body]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(functions) + "\n"


def _header(program: Program) -> str:
    lines = [*program.description, ""]
    one = len(program.input_names) == 1
    argument = program.input_names[0] if one else "{name: numbers}"
    if program.plan.has_memory:
        lines += [
            "network = Network()",
            f"result = network.step({argument})  # one step; reset() starts again",
        ]
    else:
        lines.append(f"result = activate({argument})")
    return comment_lines(lines, "# ").rstrip("\n")


def _activate(program: Program) -> str:
    lines = [
        '"""Compute the outputs of one sample."""',
        program.language.array("v", program.plan.rows),
        *program.step_lines(),
    ]
    return "def activate(inputs):\n" + "\n".join(INDENT + line for line in lines)


def _memory(program: Program) -> str:
    rows = program.plan.rows
    reset = ['"""Forget everything: the next step is the first."""', f"self.v = v = [0.0] * {rows}"]
    if not program.reset_lines():
        reset[1] = f"self.v = [0.0] * {rows}"
    reset += program.reset_lines()
    step = ['"""Compute one step."""', "v = self.v", *program.step_lines()]
    methods = {"__init__(self)": ["self.reset()"], "reset(self)": reset, "step(self, inputs)": step}
    return 'class Network:\n    """The network with its memory."""\n' + "".join(
        f"\n{INDENT}def {head}:\n" + "".join(f"{INDENT * 2}{line}\n" for line in lines)
        for head, lines in methods.items()
    ).rstrip("\n")


def _table(label: str, values: Table, program: Program) -> str:
    return f"{label} = (\n{program.rows_of(values)})"
