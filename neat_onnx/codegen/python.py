"""Python: a module of the standard library alone."""

import json
from types import MappingProxyType

from neat_onnx.codegen.language import INDENT, Language, helpers_in
from neat_onnx.codegen.plan import Plan
from neat_onnx.codegen.source import Program, Table, comment_lines


class Python(Language):
    """Python, whose functions raise where arithmetic of floating point has infinities and NaN."""

    given_form = "float({value})"
    length_form = "if len({name}) != {count}: raise ValueError({message} + str(len({name})))"
    choice_form = "({yes} if {truth} else {no})"
    comment_form = "# {text}"
    loop_form = "for {variable} in range({start}, {stop}):"
    array_form = "{name} = [0.0] * {size}"
    local_form = "{name} = {value}"
    lowest_form = "{target}[:] = sorted({values}, key=lambda x: (x != x, x))[:{count}]"
    function_form = "def {name}({parameter}):\n{lines}    return {result}"
    end = ""
    block_end = ""
    logic = MappingProxyType({"both": "and", "either": "or", "negated": "not"})

    def __init__(self) -> None:
        self.helpers = helpers_in(_HELPERS)
        self.functions = {op: f"math.{name}" for op, name in _MATH.items()}
        self.functions |= {op: op for op in self.helpers} | {"abs": "abs", "round": "nearest"}

    def number(self, value: float) -> str:
        """Return a literal that reads back to `value`."""
        return repr(float(value)).replace("inf", "math.inf")

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        plain = json.dumps(value, ensure_ascii=False)
        return plain.encode("ascii", "backslashreplace").decode()

    def infix(self, op: str, left: str, right: str) -> str:
        """Return an arithmetic operation; division by zero is a call, as Python would raise."""
        return f"divide({left}, {right})" if op == "div" else super().infix(op, left, right)


def print_python(plan: Plan) -> str:
    """Print a plan as one Python module.

    Raises:
        OptionError: a formula has no form in Python.
    """
    program = Program(plan, Python())
    tables = [_table(label, values, program) for label, values in program.tables.items()]
    body = _memory(program) if plan.has_memory else _activate(program)
    head = [_header(program), "import math", "\n".join(tables)]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join([*program.definitions(body), body]) + "\n"


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


_MATH = {
    "atan": "atan", "tanh": "tanh", "asinh": "asinh", "erf": "erf", "is_nan": "isnan",
    "is_infinite": "isinf",
}  # fmt: skip
_HELPERS = '''\
def sin(x):
    try:
        return math.sin(x)
    except (OverflowError, ValueError):
        return math.nan

def cos(x):
    try:
        return math.cos(x)
    except (OverflowError, ValueError):
        return math.nan

def tan(x):
    try:
        return math.tan(x)
    except (OverflowError, ValueError):
        return math.nan

def asin(x):
    try:
        return math.asin(x)
    except (OverflowError, ValueError):
        return math.nan

def acos(x):
    try:
        return math.acos(x)
    except (OverflowError, ValueError):
        return math.nan

def sqrt(x):
    try:
        return math.sqrt(x)
    except (OverflowError, ValueError):
        return math.nan

def acosh(x):
    try:
        return math.acosh(x)
    except (OverflowError, ValueError):
        return math.nan

def exp(x):
    try:
        return math.exp(x)
    except (OverflowError, ValueError):
        return math.inf

def cosh(x):
    try:
        return math.cosh(x)
    except (OverflowError, ValueError):
        return math.inf

def sinh(x):
    try:
        return math.sinh(x)
    except (OverflowError, ValueError):
        return math.copysign(math.inf, x)

def log(x):
    try:
        return math.log(x)
    except (OverflowError, ValueError):
        return -math.inf if x == 0 else math.nan

def atanh(x):
    try:
        return math.atanh(x)
    except (OverflowError, ValueError):
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan

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

def reciprocal(x):
    return divide(1.0, x)

def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))

def maximum(x, y):
    return x if x > y or x != x else y

def minimum(x, y):
    return x if x < y or x != x else y

def relu(x):
    return maximum(x, 0.0)

def softplus(x):
    return relu(x) + math.log1p(math.exp(-abs(x)))

def softsign(x):
    return x / (1.0 + abs(x))

def elu(x, alpha):
    return x if x > 0 else alpha * math.expm1(minimum(x, 0.0))

def selu(x, alpha, gamma):
    return gamma * elu(x, alpha)

def leaky_relu(x, slope):
    return slope * x if x < 0 else x

def clip(x, low, high):
    return minimum(maximum(x, low), high)

def sign(x):
    return 1.0 if x > 0 else -1.0 if x < 0 else x + 0.0  # of -0.0 it is 0.0

def floor(x):
    return math.copysign(math.floor(x), x) if abs(x) < 2**52 else x

def ceil(x):
    return math.copysign(math.ceil(x), x) if abs(x) < 2**52 else x

def nearest(x):
    return math.copysign(round(x), x) if abs(x) < 2**52 else x

def total(x, n):
    result = 0.0
    for each in x:
        result += each
    return result

def product(x, n):
    result = 1.0
    for each in x:
        result *= each
    return result

def where_largest(x, n):
    for i in range(n):
        if x[i] != x[i]:
            return i
    return max(range(n), key=x.__getitem__)

def largest(x, n):
    return x[where_largest(x, n)]

def smallest(x, n):
    for each in x:
        if each != each:
            return each
    return min(x)

def weighted_sum(v, k):
    """Sum the weighted inputs of neuron k."""
    result = 0.0
    for e in range(START[k], START[k + 1]):
        result += WEIGHT[e] * v[SOURCE[e]]
    return result

def gated_sum(v, k):
    """Sum weighted inputs, some of them multiplied by gaters."""
    result = 0.0
    for e in range(START[k], START[k + 1]):
        gain = 1.0 if GAIN[e] < 0 else v[GAIN[e]]
        result += WEIGHT[e] * v[SOURCE[e]] * gain
    return result

def dense_sum(v, at, source, width):
    """Sum consecutive values times a row of a matrix."""
    result = 0.0
    for e in range(width):
        result += MATRIX[at + e] * v[source + e]
    return result

def weighted(v, k, u):
    """Set u to the weighted inputs of neuron k."""
    for e in range(START[k], START[k + 1]):
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]]

def gated(v, k, u):
    """Set u to the weighted inputs of neuron k, some of them multiplied by gaters."""
    for e in range(START[k], START[k + 1]):
        gain = 1.0 if GAIN[e] < 0 else v[GAIN[e]]
        u[e - START[k]] = WEIGHT[e] * v[SOURCE[e]] * gain
'''
