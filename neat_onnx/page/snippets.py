"""Other forms of a converted network, for the page to save: programs that run its model in several
languages, with its real names, shapes and states; source code, official JSON, a proof.
"""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import neat_onnx
from neat_onnx.errors import DocumentError
from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

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


class Snippet(TypedDict):
    """A program: the tab that it stands under, and its text."""

    title: str
    text: str


class _Port(NamedTuple):
    """An input of the graph in an example."""

    name: str
    kind: str  # of its elements, as numpy calls it
    shape: tuple[int, ...]
    start: list[float] | None  # the initial state where it is not zero
    following: str | None  # the output that feeds it at the next step


def snippets(model: Model, file: str, wheel: str = "neat-onnx") -> list[Snippet]:
    """Return programs that run `model` from a file of that name.

    `wheel` is the address from which pip installs this package; a site serves its own.

    Raises:
        ModelError: the metadata names a state that the graph does not have.
    """
    pairs, starts = state_pairs(model), initial_states(model)
    ports = [
        _Port(each.name, _kind(each), _sizes(each), starts.get(each.name), pairs.get(each.name))
        for each in model.graph.inputs
    ]
    outputs = [entry.name for entry in model.graph.outputs]
    texts = {
        "Python": _python(file, ports, outputs),
        "JavaScript": _javascript(file, ports, outputs),
        "C#": _csharp(file, ports, outputs[0], _CSHARP[_kind(model.graph.outputs[0])]),
        "Command line": _shell(file, wheel),
    }
    return [Snippet(title=title, text="\n".join(lines) + "\n") for title, lines in texts.items()]


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
    named = ", ".join(map(_text, outputs))
    lines += [f"session = onnxruntime.InferenceSession({_text(file)})", f"names = [{named}]"]
    lines += ["inputs = {", *(f"    {_text(p.name)}: {value(p)}," for p in ports), "}"]
    run = ["outputs = dict(zip(names, session.run(names, inputs)))"]
    shown = f"print(outputs[{_text(outputs[0])}])"
    back = [
        f"inputs[{_text(p.name)}] = outputs[{_text(p.following)}]" for p in ports if p.following
    ]
    if not back:
        return [*lines, *run, shown]
    return [*lines, "for step in range(3):", *_indented([*run, *back, shown], 4)]


def _javascript(file: str, ports: list[_Port], outputs: Sequence[str]) -> list[str]:
    def value(port: _Port) -> str:
        array = _ARRAYS.get(port.kind, f"{port.kind.capitalize()}Array")
        values = f"new {array}({math.prod(port.shape)})"
        if port.start is not None:
            values = f"{array}.of({', '.join(map(repr, port.start))})"
        return f'new ort.Tensor("{port.kind}", {values}, {list(port.shape)})'

    lines = ['import * as ort from "onnxruntime-web";', ""]
    lines += [f"const session = await ort.InferenceSession.create({_text(file)});"]
    lines += ["const inputs = {", *(f"  {_text(p.name)}: {value(p)}," for p in ports), "};"]
    run = ["const outputs = await session.run(inputs);"]
    shown = f"console.log(outputs[{_text(outputs[0])}].data);"
    back = [
        f"inputs[{_text(p.name)}] = outputs[{_text(p.following)}];" for p in ports if p.following
    ]
    if not back:
        return [*lines, *run, shown]
    loop = "for (let step = 0; step < 3; step += 1) {"
    return [*lines, loop, *_indented([*run, *back, shown], 2), "}"]


def _csharp(file: str, ports: list[_Port], output: str, shown: str) -> list[str]:
    def value(port: _Port) -> str:
        kind, axes = _CSHARP[port.kind], ", ".join(map(str, port.shape))
        sizes = f"new[] {{ {axes} }}" if axes else "new int[0]"
        if port.start is None:
            return f"new DenseTensor<{kind}>({sizes})"
        values = ", ".join(f"{number!r}{'f' * (kind == 'float')}" for number in port.start)
        return f"new DenseTensor<{kind}>(new {kind}[] {{ {values} }}, {sizes})"

    def given(port: _Port, tensor: str) -> str:
        name = _text(port.name)
        return f"[{name}] = NamedOnnxValue.CreateFromTensor({name}, {tensor})"

    def result(name: str, kind: str) -> str:
        return f"outputs.First(o => o.Name == {_text(name)}).AsTensor<{kind}>()"

    def fed_back(port: _Port) -> str:
        tensor = f"{result(port.following or '', _CSHARP[port.kind])}.ToDenseTensor()"
        return f"inputs{given(port, tensor)};"

    lines = [
        "using System;",
        "using System.Collections.Generic;",
        "using System.Linq;",
        "using Microsoft.ML.OnnxRuntime;",
        "using Microsoft.ML.OnnxRuntime.Tensors;",
        "",
        f"var session = new InferenceSession({_text(file)});",
        "var inputs = new Dictionary<string, NamedOnnxValue>",
        "{",
        *(f"    {given(port, value(port))}," for port in ports),
        "};",
    ]
    back = [fed_back(port) for port in ports if port.following]
    shows = f'Console.WriteLine(string.Join(", ", {result(output, shown)}.ToArray()));'
    run = ["using (var outputs = session.Run(inputs.Values.ToList()))", "{"]
    run += [*_indented([*back, shows], 4), "}"]
    if not back:
        return [*lines, *run]
    return [*lines, "for (var step = 0; step < 3; step++)", "{", *_indented(run, 4), "}"]


def _shell(file: str, wheel: str) -> list[str]:
    quoted = "'" + file.replace("'", "'\\''") + "'"
    return [
        f"pip install {wheel}",
        f"neat-onnx inspect {quoted}",
        f"neat-onnx validate {quoted}",
        f"neat-onnx import {quoted} network.json",
        f"neat-onnx verify network.json {quoted}",
    ]


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


def _text(value: str | None) -> str:
    """A string literal that Python, JavaScript and C# read alike."""
    return json.dumps(value)


class Form(TypedDict):
    """A form that a network can be saved in, and the ending of its file."""

    form: str
    title: str
    suffix: str


FORMS = [
    Form(form="c", title="C source, no runtime", suffix=".c"),
    Form(form="csharp", title="C# class, no runtime", suffix=".cs"),
    Form(form="gdscript", title="GDScript, no runtime", suffix=".gd"),
    Form(form="javascript", title="JavaScript module, no runtime", suffix=".js"),
    Form(form="python", title="Python module, no runtime", suffix=".py"),
    Form(form="protobuf", title="ONNX's official JSON", suffix=".protobuf.json"),
    Form(form="certificate", title="Certificate of the comparison", suffix=".certificate.json"),
]


def in_form(net: Network, model: Model, options: ExportOptions, form: str) -> str:
    """Return the text of a network, exported with `options` as `model`, in one of `FORMS`.

    Raises:
        DocumentError: there is no such form.
        NetworkError, OptionError: as `neat_onnx.generate_code` does.
    """
    if form == "protobuf":
        return model.to_json(spelling="protobuf")
    if form == "certificate":
        given = options.model_dump(mode="json", exclude_defaults=True)
        return neat_onnx.certify(net, model, options=given).to_json()
    for language in ("c", "csharp", "gdscript", "javascript", "python"):
        if form == language:
            return neat_onnx.generate_code(net, language=language)
    raise DocumentError(f"there is no form called '{form}'")
