"""C#: one class of C# 5, which Unity, Mono and .NET compile; no package."""

from types import MappingProxyType

from neat_onnx.codegen.language import Language

_MATH = ("abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
         "tanh", "floor")  # fmt: skip
_FILE = """
$head

using System;

public sealed class $name
{
    $members
}
"""
_STATELESS = """
readonly double[] v = new double[$rows];

public void Activate($ports)
{
    $step
}
"""
_STATEFUL = """
readonly double[] v = new double[$rows];

public $name()
{
    Reset();
}

public void Reset()
{
    Array.Clear(v, 0, v.Length);
    $reset
}

public void Step($ports)
{
    $step
}
"""
_USAGE = """
Call it like this, with an instance for each thread and an array for each port:

    $name network = new $name();
    network.CALL

No garbage but where a neuron sorts.
"""


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
    table_form = "static readonly {kind}[] {name} = {{\n{rows}}};"
    kinds = ("double", "int")
    file = _FILE
    stateless = _STATELESS
    stateful = _STATEFUL
    usage = (
        _USAGE.replace("CALL", "Activate($arguments);"),
        _USAGE.replace("CALL", "Step($arguments);  // one step; Reset() starts again"),
    )
    port_form = "double[] {name}"
