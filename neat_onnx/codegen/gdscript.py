"""GDScript: one script, for Godot 3 and 4."""

import json
from types import MappingProxyType

from neat_onnx.codegen.language import MATH, Indented

_NATIVE = (*MATH, "ceil", "pow", "is_nan")
_LEAST = 2.3e-308


class GDScript(Indented):
    """GDScript, whose numbers are doubles."""

    native = MappingProxyType({op: op for op in _NATIVE} | {"is_infinite": "is_inf", "mod": "fmod"})
    own = """
func divide(x, y):
    # Godot refuses a division by 0; of -0 the angle is that of the negative numbers
    if y != 0.0 or y != y:
        return x / y
    if x == 0.0 or x != x:
        return NAN
    return INF if (x > 0.0) == (atan2(0.0, y) == 0.0) else -INF
"""
    infinity = "INF"
    array_form = "var {name} = []; {name}.resize({size})"
    local_form = "var {name} = {value}"
    function_form = "func {name}({parameters}):\n{lines}"
    length_form = "assert({name}.size() == {count}, {message})"
    table_form = "const {name} = [\n{rows}]"
    file = "\n$head\n\n\n$members\n"
    stateless = """
func activate(inputs):
    var v = []; v.resize($rows)
    $step
"""
    stateful = """
var v = []


func _init():
    reset()


func reset():
    v.resize($rows)
    for i in range(0, $rows):
        v[i] = 0.0
    $reset


func step(inputs):
    $step
"""
    usage = """
var network = load("res://network.gd").new()
var result = network.$call
"""
    calls = ("activate($argument)", "step($argument)  # one step; reset() starts again")

    def number(self, value: float) -> str:
        """Return a literal; Godot reads those below the normal numbers as 0: they are products."""
        if 0.0 < abs(value) < _LEAST:
            return f"({value * 2.0**1000!r} * {2.0**-1000!r})"
        return super().number(value)

    def text(self, value: str) -> str:
        """Return a literal of a text; Godot 3 has no escapes of characters beyond 16 bits."""
        return json.dumps(value, ensure_ascii=False)
