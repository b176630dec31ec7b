"""Programs that run one model, in several languages, with its real names, shapes and states."""

import json
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.states import initial_states, state_pairs

_BATCH, _STEPS = 1, 8  # what symbolic dimensions are in an example


class Snippet(TypedDict):
    """A program: the tab that it stands under, and its text."""

    title: str
    text: str


class _Port(NamedTuple):
    """An input of the graph in an example."""

    name: str
    shape: tuple[int, ...]
    start: list[float] | None  # the initial state where it is not zero
    following: str | None  # the output that feeds it at the next step


def snippets(model: Model, file: str) -> list[Snippet]:
    """Return programs that run `model` from a file of that name.

    Raises:
        ModelError: the metadata names a state that the graph does not have.
    """
    ports = _ports(model)
    outputs = [entry.name for entry in model.graph.outputs]
    double = model.graph.number_type is DataType.DOUBLE
    texts = {
        "Python": _python(file, ports, outputs, double),
        "JavaScript": _javascript(file, ports, outputs, double),
        "C#": _csharp(file, ports, outputs, double),
        "Command line": _shell(file),
    }
    return [Snippet(title=title, text=text) for title, text in texts.items()]


def _ports(model: Model) -> list[_Port]:
    pairs, starts = state_pairs(model), initial_states(model)
    return [
        _Port(entry.name, _sizes(entry), starts.get(entry.name), pairs.get(entry.name))
        for entry in model.graph.inputs
    ]


def _sizes(entry: ValueInfo) -> tuple[int, ...]:
    """The shape of an example: one sample, and a few steps if it is a sequence."""
    return tuple(
        size if isinstance(size, int) else _STEPS if size == "T" else _BATCH
        for size in entry.shape or ()
    )


def _python(file: str, ports: list[_Port], outputs: Sequence[str], double: bool) -> str:
    kind = "np.float64" if double else "np.float32"

    def value(port: _Port) -> str:
        if port.start is None:
            return f"np.zeros({port.shape}, {kind})"
        return f"np.array({port.start}, {kind}).reshape({port.shape})"

    lines = ["import numpy as np", "import onnxruntime", ""]
    named = ", ".join(map(_text, outputs))
    lines += [f"session = onnxruntime.InferenceSession({_text(file)})", f"names = [{named}]"]
    lines += ["inputs = {", *(f"    {_text(p.name)}: {value(p)}," for p in ports), "}"]
    run = "outputs = dict(zip(names, session.run(names, inputs)))"
    shown = f"print(outputs[{_text(outputs[0])}])"
    states = [port for port in ports if port.following]
    if not states:
        return _joined([*lines, run, shown])
    back = [f"    inputs[{_text(p.name)}] = outputs[{_text(p.following)}]" for p in states]
    return _joined([*lines, "for step in range(3):", f"    {run}", *back, f"    {shown}"])


def _javascript(file: str, ports: list[_Port], outputs: Sequence[str], double: bool) -> str:
    kind, array = ("float64", "Float64Array") if double else ("float32", "Float32Array")

    def value(port: _Port) -> str:
        values = f"new {array}({_size(port)})" if port.start is None else f"{array}.of("
        if port.start is not None:
            values += ", ".join(map(repr, port.start)) + ")"
        return f'new ort.Tensor("{kind}", {values}, {list(port.shape)})'

    lines = ['import * as ort from "onnxruntime-web";', ""]
    lines += [f"const session = await ort.InferenceSession.create({_text(file)});"]
    lines += ["const inputs = {", *(f"  {_text(p.name)}: {value(p)}," for p in ports), "};"]
    run = "const outputs = await session.run(inputs);"
    shown = f"console.log(outputs[{_text(outputs[0])}].data);"
    states = [port for port in ports if port.following]
    if not states:
        return _joined([*lines, run, shown])
    back = [f"  inputs[{_text(p.name)}] = outputs[{_text(p.following)}];" for p in states]
    loop = "for (let step = 0; step < 3; step += 1) {"
    return _joined([*lines, loop, f"  {run}", *back, f"  {shown}", "}"])


def _csharp(file: str, ports: list[_Port], outputs: Sequence[str], double: bool) -> str:
    kind = "double" if double else "float"

    def value(port: _Port) -> str:
        sizes = ", ".join(map(str, port.shape))
        if port.start is None:
            return f"new DenseTensor<{kind}>(new[] {{ {sizes} }})"
        values = ", ".join(f"{number!r}{'' if double else 'f'}" for number in port.start)
        return f"new DenseTensor<{kind}>(new {kind}[] {{ {values} }}, new[] {{ {sizes} }})"

    lines = ["using Microsoft.ML.OnnxRuntime;", "using Microsoft.ML.OnnxRuntime.Tensors;", ""]
    lines += [f"using var session = new InferenceSession({_text(file)});"]
    lines += [f"var inputs = new Dictionary<string, Tensor<{kind}>>", "{"]
    lines += [*(f"    [{_text(p.name)}] = {value(p)}," for p in ports), "};"]
    run = [
        "using var outputs = session.Run(inputs.Select(",
        "    pair => NamedOnnxValue.CreateFromTensor(pair.Key, pair.Value)).ToList());",
        f"Tensor<{kind}> Named(string name) =>",
        f"    outputs.First(output => output.Name == name).AsTensor<{kind}>();",
    ]
    shown = f'Console.WriteLine(string.Join(", ", Named({_text(outputs[0])}).ToArray()));'
    states = [port for port in ports if port.following]
    if not states:
        return _joined([*lines, *run, shown])
    back = [
        f"inputs[{_text(p.name)}] = Named({_text(p.following)}).ToDenseTensor();" for p in states
    ]
    inside = [f"    {line}" for line in [*run, *back, shown]]
    return _joined([*lines, "for (var step = 0; step < 3; step++)", "{", *inside, "}"])


def _shell(file: str) -> str:
    quoted = "'" + file.replace("'", "'\\''") + "'"
    return _joined(
        [
            "pip install neat-onnx",
            f"neat-onnx inspect {quoted}",
            f"neat-onnx validate {quoted}",
            f"neat-onnx import {quoted} network.json",
            f"neat-onnx verify network.json {quoted}",
        ]
    )


def _size(port: _Port) -> int:
    size = 1
    for each in port.shape:
        size *= each
    return size


def _text(value: str | None) -> str:
    """A string literal that Python, JavaScript and C# read alike."""
    return json.dumps(value)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
