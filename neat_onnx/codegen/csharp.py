"""C#: one class of C# 5, which Unity, Mono and .NET compile; no package."""

from types import MappingProxyType

from neat_onnx.codegen.language import MATH, Language


class CSharp(Language):
    """C# in double."""

    native = MappingProxyType(
        {op: f"Math.{op.capitalize()}" for op in MATH}
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
    array_form = "double[] {name} = new double[{size}];"
    table_form = "static readonly {kind}[] {name} = {{\n{rows}}};"
    kinds = ("double", "int")
    file = """
$head

using System;

public sealed class $name
{
    $members
}
"""
    stateless = """
readonly double[] v = new double[$rows];

public void Activate($ports)
{
    $step
}
"""
    stateful = """
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
    usage = """
Call it like this, with an instance for each thread and an array for each port:

    $name network = new $name();
    network.$call

No garbage but where a neuron sorts.
"""
    calls = ("Activate($arguments);", "Step($arguments);  // one step; Reset() starts again")
    port_form = "double[] {name}"
