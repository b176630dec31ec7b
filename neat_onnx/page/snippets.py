"""Programs that run a model in several languages, with its real names, shapes and states."""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.states import initial_states, state_pairs

_BATCH, _STEPS = 1, 8  # what symbolic dimensions are in an example
_ARRAYS = {  # of JavaScript, where it is not the type's own name
    "bool": "Uint8Array",
    "float16": "Uint16Array",
    "int64": "BigInt64Array",
    "uint64": "BigUint64Array",
}
_CSHARP = {"float32": "float", "float64": "double", "float16": "Float16", "bool": "bool"}
_CSHARP |= {"int8": "sbyte", "int16": "short", "int32": "int", "int64": "long"}
_CSHARP |= {"uint8": "byte", "uint16": "ushort", "uint32": "uint", "uint64": "ulong"}


class _Port(NamedTuple):
    """An input of the graph in an example; names are literals, alike in all languages."""

    name: str
    kind: str  # of its elements, as numpy calls it
    shape: tuple[int, ...]
    start: list[float] | None  # the initial state where it is not zero
    following: str | None  # the output that feeds it at the next step


def snippets(model: Model, file: str, wheel: str = "neat-onnx") -> list[dict[str, str]]:
    """Return the `title` and `text` of programs that run `model` from a file of that name.

    `wheel` is the address from which pip installs this package; a site serves its own.

    Raises:
        ModelError: the metadata names a state that the graph does not have.
    """
    pairs, starts = state_pairs(model), initial_states(model)
    ports = [
        _Port(
            json.dumps(each.name),
            _kind(each),
            _sizes(each),
            starts.get(each.name),
            json.dumps(pairs[each.name]) if each.name in pairs else None,
        )
        for each in model.graph.inputs
    ]
    outputs = [json.dumps(entry.name) for entry in model.graph.outputs]
    programs = {
        "Python": _python(json.dumps(file), ports, outputs),
        "JavaScript": _javascript(json.dumps(file), ports, outputs),
        "C#": _csharp(json.dumps(file), ports, outputs[0], _CSHARP[_kind(model.graph.outputs[0])]),
        "Command line": _shell(file, wheel),
    }
    return [{"title": title, "text": "\n".join(lines) + "\n"} for title, lines in programs.items()]


def _kind(entry: ValueInfo) -> str:
    """The type of an input or output; that of numbers for one that C# lacks."""
    name = DataType(entry.elem_type).dtype.name
    return name if name in _CSHARP else "float32"


def _sizes(entry: ValueInfo) -> tuple[int, ...]:
    """The shape of an example: one sample, and a few steps if it is a sequence."""
    return tuple(
        size if isinstance(size, int) else _STEPS if size == "T" else _BATCH
        for size in entry.shape or ()
    )


def _python(file: str, ports: list[_Port], outputs: Sequence[str]) -> list[str]:
    def value(port: _Port) -> str:
        kind = f"np.{port.kind}{'_' * (port.kind == 'bool')}"
        if port.start is None:
            return f"np.zeros({port.shape}, {kind})"
        return f"np.array({port.start}, {kind}).reshape({port.shape})"

    lines = ["import numpy as np", "import onnxruntime", ""]
    lines += [f"session = onnxruntime.InferenceSession({file})", f"names = [{', '.join(outputs)}]"]
    lines += ["inputs = {", *(f"    {port.name}: {value(port)}," for port in ports), "}"]
    back = [f"inputs[{port.name}] = outputs[{port.following}]" for port in ports if port.following]
    step = ["outputs = dict(zip(names, session.run(names, inputs)))", *back]
    step += [f"print(outputs[{outputs[0]}])"]
    if not back:
        return lines + step
    return [*lines, "for step in range(3):", *("    " + line for line in step)]


def _javascript(file: str, ports: list[_Port], outputs: Sequence[str]) -> list[str]:
    def value(port: _Port) -> str:
        array = _ARRAYS.get(port.kind, f"{port.kind.capitalize()}Array")
        values = f"new {array}({math.prod(port.shape)})"
        if port.start is not None:
            values = f"{array}.of({', '.join(map(repr, port.start))})"
        return f'new ort.Tensor("{port.kind}", {values}, {list(port.shape)})'

    lines = ['import * as ort from "onnxruntime-web";', ""]
    lines += [f"const session = await ort.InferenceSession.create({file});"]
    lines += ["const inputs = {", *(f"  {port.name}: {value(port)}," for port in ports), "};"]
    back = [f"inputs[{port.name}] = outputs[{port.following}];" for port in ports if port.following]
    step = ["const outputs = await session.run(inputs);", *back]
    step += [f"console.log(outputs[{outputs[0]}].data);"]
    if not back:
        return lines + step
    loop = "for (let step = 0; step < 3; step += 1) {"
    return [*lines, loop, *("  " + line for line in step), "}"]


def _csharp(file: str, ports: list[_Port], output: str, shown: str) -> list[str]:
    def value(port: _Port) -> str:
        kind, axes = _CSHARP[port.kind], ", ".join(map(str, port.shape))
        sizes = f"new[] {{ {axes} }}" if axes else "new int[0]"
        if port.start is None:
            return f"new DenseTensor<{kind}>({sizes})"
        values = ", ".join(f"{number!r}{'f' * (kind == 'float')}" for number in port.start)
        return f"new DenseTensor<{kind}>(new {kind}[] {{ {values} }}, {sizes})"

    def given(port: _Port, tensor: str) -> str:
        return f"[{port.name}] = NamedOnnxValue.CreateFromTensor({port.name}, {tensor})"

    def result(name: str | None, kind: str) -> str:
        return f"outputs.First(o => o.Name == {name}).AsTensor<{kind}>()"

    def fed_back(port: _Port) -> str:
        tensor = f"{result(port.following, _CSHARP[port.kind])}.ToDenseTensor()"
        return f"inputs{given(port, tensor)};"

    lines = ["using System;", "using System.Collections.Generic;", "using System.Linq;"]
    lines += ["using Microsoft.ML.OnnxRuntime;", "using Microsoft.ML.OnnxRuntime.Tensors;", ""]
    lines += [f"var session = new InferenceSession({file});"]
    lines += ["var inputs = new Dictionary<string, NamedOnnxValue>", "{"]
    lines += [*(f"    {given(port, value(port))}," for port in ports), "};"]
    back = [fed_back(port) for port in ports if port.following]
    shows = f'Console.WriteLine(string.Join(", ", {result(output, shown)}.ToArray()));'
    step = ["using (var outputs = session.Run(inputs.Values.ToList()))", "{"]
    step += [*("    " + line for line in [*back, shows]), "}"]
    if not back:
        return lines + step
    loop = "for (var step = 0; step < 3; step++)"
    return [*lines, loop, "{", *("    " + line for line in step), "}"]


def _shell(file: str, wheel: str) -> list[str]:
    quoted = "'" + file.replace("'", "'\\''") + "'"
    return [
        f"pip install {wheel}",
        f"neat-onnx inspect {quoted}",
        f"neat-onnx validate {quoted}",
        f"neat-onnx import {quoted} network.json",
        f"neat-onnx verify network.json {quoted}",
    ]
