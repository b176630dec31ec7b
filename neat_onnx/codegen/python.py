"""Python: a module of the standard library alone."""

import json
from types import MappingProxyType

from neat_onnx.codegen.language import Indented

_PLAIN = ("tanh", "atan", "asinh", "erf", "log1p", "expm1")
_GUARDED = dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "sqrt", "acosh"), "")
_GUARDED |= dict.fromkeys(("exp", "cosh"), ", math.inf")
"""Functions that raise errors, with what they are then."""


class Python(Indented):
    """Python, whose functions raise where arithmetic of floating point has infinities and NaN."""

    native = MappingProxyType(
        {op: f"math.{op}" for op in _PLAIN}
        | {op: f"guarded(math.{op}, {{}}{otherwise})" for op, otherwise in _GUARDED.items()}
        | {op: op for op in ("abs", "sinh", "log", "atanh", "pow", "mod", "floor", "ceil")}
        | {"is_nan": "math.isnan", "is_infinite": "math.isinf"}
    )
    own = """
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
    infinity = "math.inf"
    length_form = (
        'if len({name}) != {count}: raise ValueError({message} + ", not " + str(len({name})))'
    )
    array_form = "{name} = [0.0] * {size}"
    local_form = "{name} = {value}"
    function_form = "def {name}({parameters}):\n{lines}"
    table_form = "{name} = (\n{rows})"
    file = "\n$head\n\nimport math\n\n$members\n"
    stateless = """
def activate(inputs):
    \"\"\"Compute the outputs of one sample.\"\"\"
    v = [0.0] * $rows
    $step
"""
    stateful = """
class Network:
    \"\"\"The network with its memory.\"\"\"

    def __init__(self):
        self.reset()

    def reset(self):
        \"\"\"Forget everything: the next step is the first.\"\"\"
        self.v = v = [0.0] * $rows
        $reset

    def step(self, inputs):
        \"\"\"Compute one step.\"\"\"
        v = self.v
        $step
"""
    calls = (
        "result = activate($argument)",
        "network = Network()\nresult = network.step($argument)  # one step; reset() starts again",
    )

    def text(self, value: str) -> str:
        """Return a literal of a text, in ASCII."""
        plain = json.dumps(value, ensure_ascii=False)
        return plain.encode("ascii", "backslashreplace").decode()
