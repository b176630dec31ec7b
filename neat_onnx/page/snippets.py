"""Other forms of a converted network, for the page to save: programs that run its model in several
languages, with its real names, shapes and states; source code, official JSON, a proof.
"""

import json
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypedDict

import neat_onnx
from neat_onnx.errors import DocumentError
from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_BATCH, _STEPS = 1, 8  # what symbolic dimensions are in an example


class Snippet(TypedDict):
    """A program: the tab that it stands under, and its text."""

    title: str
    text: str


class _Kind(NamedTuple):
    """A type of elements, as each language calls it; `array` is JavaScript's array of them."""

    python: str
    javascript: str
    array: str
    csharp: str


_KINDS = {
    DataType.FLOAT: _Kind("np.float32", "float32", "Float32Array", "float"),
    DataType.DOUBLE: _Kind("np.float64", "float64", "Float64Array", "double"),
    DataType.FLOAT16: _Kind("np.float16", "float16", "Uint16Array", "Float16"),
    DataType.BOOL: _Kind("np.bool_", "bool", "Uint8Array", "bool"),
    DataType.INT8: _Kind("np.int8", "int8", "Int8Array", "sbyte"),
    DataType.INT16: _Kind("np.int16", "int16", "Int16Array", "short"),
    DataType.INT32: _Kind("np.int32", "int32", "Int32Array", "int"),
    DataType.INT64: _Kind("np.int64", "int64", "BigInt64Array", "long"),
    DataType.UINT8: _Kind("np.uint8", "uint8", "Uint8Array", "byte"),
    DataType.UINT16: _Kind("np.uint16", "uint16", "Uint16Array", "ushort"),
    DataType.UINT32: _Kind("np.uint32", "uint32", "Uint32Array", "uint"),
    DataType.UINT64: _Kind("np.uint64", "uint64", "BigUint64Array", "ulong"),
}


def _kind(entry: ValueInfo) -> _Kind:
    """The type of an input or output; that of numbers for bfloat16, which no language has."""
    return _KINDS.get(entry.elem_type, _KINDS[DataType.FLOAT])


class _Port(NamedTuple):
    """An input of the graph in an example."""

    name: str
    kind: _Kind
    shape: tuple[int, ...]
    start: list[float] | None  # the initial state where it is not zero
    following: str | None  # the output that feeds it at the next step


def snippets(model: Model, file: str, wheel: str = "neat-onnx") -> list[Snippet]:
    """Return programs that run `model` from a file of that name.

    `wheel` is the address from which pip installs this package; a site serves its own.

    Raises:
        ModelError: the metadata names a state that the graph does not have.
    """
    ports = _ports(model)
    outputs = [entry.name for entry in model.graph.outputs]
    shown = _kind(model.graph.outputs[0])
    texts = {
        "Python": _python(file, ports, outputs),
        "JavaScript": _javascript(file, ports, outputs),
        "C#": _csharp(file, ports, outputs[0], shown),
        "Command line": _shell(file, wheel),
    }
    return [Snippet(title=title, text=text) for title, text in texts.items()]


def _ports(model: Model) -> list[_Port]:
    pairs, starts = state_pairs(model), initial_states(model)
    return [
        _Port(
            entry.name,
            _kind(entry),
            _sizes(entry),
            starts.get(entry.name),
            pairs.get(entry.name),
        )
        for entry in model.graph.inputs
    ]


def _sizes(entry: ValueInfo) -> tuple[int, ...]:
    """The shape of an example: one sample, and a few steps if it is a sequence."""
    return tuple(
        size if isinstance(size, int) else _STEPS if size == "T" else _BATCH
        for size in entry.shape or ()
    )


def _python(file: str, ports: list[_Port], outputs: Sequence[str]) -> str:
    def value(port: _Port) -> str:
        if port.start is None:
            return f"np.zeros({port.shape}, {port.kind.python})"
        return f"np.array({port.start}, {port.kind.python}).reshape({port.shape})"

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


def _javascript(file: str, ports: list[_Port], outputs: Sequence[str]) -> str:
    def value(port: _Port) -> str:
        values = f"new {port.kind.array}({math.prod(port.shape)})"
        if port.start is not None:
            values = f"{port.kind.array}.of({', '.join(map(repr, port.start))})"
        return f'new ort.Tensor("{port.kind.javascript}", {values}, {list(port.shape)})'

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


def _csharp(file: str, ports: list[_Port], output: str, shown: _Kind) -> str:
    def value(port: _Port) -> str:
        kind, axes = port.kind.csharp, ", ".join(map(str, port.shape))
        sizes = f"new[] {{ {axes} }}" if axes else "new int[0]"
        if port.start is None:
            return f"new DenseTensor<{kind}>({sizes})"
        values = ", ".join(f"{number!r}{'f' * (kind == 'float')}" for number in port.start)
        return f"new DenseTensor<{kind}>(new {kind}[] {{ {values} }}, {sizes})"

    def given(port: _Port, tensor: str) -> str:
        name = _text(port.name)
        return f"[{name}] = NamedOnnxValue.CreateFromTensor({name}, {tensor})"

    lines = ["using Microsoft.ML.OnnxRuntime;", "using Microsoft.ML.OnnxRuntime.Tensors;", ""]
    lines += [f"using var session = new InferenceSession({_text(file)});"]
    lines += ["var inputs = new Dictionary<string, NamedOnnxValue>", "{"]
    lines += [*(f"    {given(port, value(port))}," for port in ports), "};"]
    run = [
        "using var outputs = session.Run(inputs.Values.ToList());",
        "Tensor<T> Named<T>(string name) =>",
        "    outputs.First(output => output.Name == name).AsTensor<T>();",
    ]
    printed = f"Named<{shown.csharp}>({_text(output)}).ToArray()"
    shows = f'Console.WriteLine(string.Join(", ", {printed}));'
    states = [port for port in ports if port.following]
    if not states:
        return _joined([*lines, *run, shows])
    back = []
    for port in states:
        made = f"Named<{port.kind.csharp}>({_text(port.following)}).ToDenseTensor()"
        back.append(f"inputs{given(port, made)};")
    inside = [f"    {line}" for line in [*run, *back, shows]]
    return _joined([*lines, "for (var step = 0; step < 3; step++)", "{", *inside, "}"])


def _shell(file: str, wheel: str) -> str:
    quoted = _quoted(file)
    return _joined(
        [
            f"pip install {wheel}",
            f"neat-onnx inspect {quoted}",
            f"neat-onnx validate {quoted}",
            f"neat-onnx import {quoted} network.json",
            f"neat-onnx verify network.json {quoted}",
        ]
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _text(value: str | None) -> str:
    """A string literal that Python, JavaScript and C# read alike."""
    return json.dumps(value)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


class Form(TypedDict):
    """A form that a network can be saved in, and the ending of its file."""

    form: str
    title: str
    suffix: str


FORMS = [
    Form(form="c", title="C source, no runtime", suffix=".c"),
    Form(form="javascript", title="JavaScript module, no runtime", suffix=".js"),
    Form(form="python", title="Python module, no runtime", suffix=".py"),
    Form(form="protobuf", title="ONNX's official JSON", suffix=".protobuf.json"),
    Form(form="certificate", title="Certificate of the comparison", suffix=".certificate.json"),
]


def in_form(net: Network, model: Model, options: ExportOptions, form: str) -> str:
    """Return the text of a converted network in one of `FORMS`.

    Args:
        net: the network.
        model: its export.
        options: the options of the export; a certificate names them.
        form: the name of the form.

    Raises:
        DocumentError: there is no such form.
        NetworkError, OptionError: as `neat_onnx.generate_code` does.
    """
    if form not in _WRITERS:
        raise DocumentError(f"there is no form called '{form}'")
    return _WRITERS[form](net, model, options)


def _certificate(net: Network, model: Model, options: ExportOptions) -> str:
    given = options.model_dump(mode="json", exclude_defaults=True)
    return neat_onnx.certify(net, model, options=given).to_json()


_WRITERS: dict[str, Callable[[Network, Model, ExportOptions], str]] = {
    "c": lambda net, model, options: neat_onnx.generate_code(net, language="c"),
    "javascript": lambda net, model, options: neat_onnx.generate_code(net, language="javascript"),
    "python": lambda net, model, options: neat_onnx.generate_code(net, language="python"),
    "protobuf": lambda net, model, options: model.to_json(spelling="protobuf"),
    "certificate": _certificate,
}
