"""Operators run as numbers and as neurons, on ONNX's own cases and on tables of ours.

    CASES = cases_of("Softmax", "LogSoftmax")

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_onnx(case): check(case)

    @pytest.mark.parametrize("case", [
        case("Softmax", [x], axis=0),          # wanted: what onnxruntime gives
        case("Softmax", [x], opset=11, axis=1),
    ], ids=str)
    def test_more(case): check(case)

A case that is refused fails: name it in `cases_of(…, without=…)`, with the reason beside it.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from neat_onnx.errors import NeatOnnxError
from neat_onnx.lifting.interpreter import Interpreter
from neat_onnx.lifting.neurons import Neurons
from neat_onnx.lifting.resolution import Resolution, output_signals
from neat_onnx.lifting.tape import Tape
from neat_onnx.model import Model
from neat_onnx.network.port import Port

Array = Any
RTOL, ATOL = 1e-3, 1e-5
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


@dataclass(frozen=True, eq=False)
class Case:
    """A model of few nodes with inputs and the outputs that are wanted."""

    name: str
    model: onnx.ModelProto
    inputs: list[Array]
    outputs: list[Array]
    refusal: str = ""

    def __str__(self) -> str:
        return self.name

    def refused(self, words: str) -> Case:
        """The case, expected to be refused in these words."""
        return replace(self, refusal=words)

    def holding(self, *names: str) -> Case:
        """The case with inputs of names that begin so as initializers."""
        model, kept = onnx.ModelProto(), []
        model.CopyFrom(self.model)
        entries = list(model.graph.input)
        del model.graph.input[:]
        for entry, array in zip(entries, self.inputs, strict=True):
            if entry.name.startswith(names):
                model.graph.initializer.append(numpy_helper.from_array(array, entry.name))
            else:
                model.graph.input.append(entry)
                kept.append(array)
        return replace(self, model=model, inputs=kept)

    @property
    def in_scope(self) -> bool:
        """It has a floating input, and nothing but numbers."""
        arrays = [*self.inputs, *self.outputs]
        floats = (np.float32, np.float64)
        return any(a.dtype in floats for a in self.inputs) and all(
            a.dtype.kind in "fiub" for a in arrays
        )


@cache
def backend_cases() -> tuple[Case, ...]:
    """ONNX's own cases: of single nodes, of small graphs, and of models that PyTorch made."""
    from onnx.backend.test.loader import load_model_tests

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in KINDS:
            for test in load_model_tests(kind=kind):
                try:
                    found.append(_loaded(test))
                except (ValueError, TypeError, OSError, AttributeError, IndexError):
                    continue  # sequences, optionals and maps, which are no arrays
    return tuple(found)


def _loaded(test: Any) -> Case:
    if test.model is not None:
        model, sides = test.model, test.data_sets[0]
        inputs, outputs = ([_array(a) for a in side] for side in sides)
    else:
        model = onnx.load(os.path.join(test.model_dir, "model.onnx"))
        folder = sorted(glob.glob(os.path.join(test.model_dir, "test_data_set_*")))[0]
        inputs, outputs = (_recorded(folder, side) for side in ("input", "output"))
    return Case(test.name, model, inputs, outputs)


def _array(value: Any) -> Array:
    if not isinstance(value, np.ndarray | np.generic):
        raise TypeError(f"{type(value).__name__} is no array")
    return np.asarray(value)


def _recorded(folder: str, side: str) -> list[Array]:
    count = len(glob.glob(os.path.join(folder, f"{side}_*.pb")))
    paths = (os.path.join(folder, f"{side}_{k}.pb") for k in range(count))
    found = []
    for path in paths:
        with open(path, "rb") as file:
            found.append(numpy_helper.to_array(onnx.TensorProto.FromString(file.read())))
    return found


def cases_of(*operators: str, without: Mapping[str, str] | None = None) -> list[Case]:
    """ONNX's cases in scope in which one of these operators is the first node.

    Args:
        operators: their names.
        without: cases that are refused, by name, and words of the refusal; `check` looks for them.
    """
    refused = without or {}
    return [
        replace(each, refusal=refused.get(each.name, ""))
        for each in backend_cases()
        if each.in_scope and each.model.graph.node and each.model.graph.node[0].op_type in operators
    ]


def case(
    op_type: str, inputs: Sequence[Any], wanted: Sequence[Any] | None = None, *, opset: int = 18,
    domain: str = "", outputs: int = 1, constants: Sequence[int] = (), name: str = "",
    **attributes: Any,
) -> Case:  # fmt: skip
    """A case of one node.

    Args:
        op_type, domain, attributes: of the node.
        inputs: arrays; None for one that is left out.
        wanted: its outputs; None for what onnxruntime gives.
        opset: of the domain.
        outputs: how many it has.
        constants: positions of inputs that are initializers.
        name: of the case.
    """
    names = [f"x{k}" if value is not None else "" for k, value in enumerate(inputs)]
    arrays = {n: np.asarray(value) for n, value in zip(names, inputs, strict=True) if n}
    held = {f"x{k}" for k in constants}
    node = helper.make_node(
        op_type, names, [f"y{k}" for k in range(outputs)], domain=domain, **attributes
    )
    entries = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in arrays.items() if n not in held
    ]  # fmt: skip
    opsets = [helper.make_opsetid("", opset if not domain else 18)]
    opsets += (
        [helper.make_opsetid(domain, opset if domain != "com.microsoft" else 1)] if domain else []
    )
    graph = helper.make_graph(
        [node], "case", entries,
        [helper.make_empty_tensor_value_info(f"y{k}") for k in range(outputs)],
        [numpy_helper.from_array(arrays[n], n) for n in held],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    given = [a for n, a in arrays.items() if n not in held]
    if wanted is None:
        import onnxruntime

        session = onnxruntime.InferenceSession(model.SerializeToString())
        wanted = session.run(None, {e.name: a for e, a in zip(entries, given, strict=True)})
    for entry, array in zip(model.graph.output, wanted, strict=True):
        entry.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)
    label = name or f"{op_type}{opset}{attributes or ''}"
    return Case(label, model, given, [np.asarray(a) for a in wanted])


def loaded(proto: onnx.ModelProto) -> Model:
    """The model as the product reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Model.from_proto(proto)


def _bound(model: Model, inputs: Sequence[Array]) -> dict[str, Array]:
    held = model.graph.tensors
    names = [entry.name for entry in model.graph.inputs if entry.name not in held]
    if len(inputs) > len(names):
        names = [entry.name for entry in model.graph.inputs]
    return dict(zip(names, inputs, strict=False))


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def as_numbers(model: Model, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a model, its operators run on numbers."""
    given = {name: _wide(array) for name, array in _bound(model, inputs).items()}
    found = Interpreter(model).run_graph(model.graph, given)
    return [np.asarray(found[entry.name]) for entry in model.graph.outputs]


def as_neurons(model: Model, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of the network that a model is; floating inputs are neurons, others numbers."""
    tape, given, ports = Tape(), {}, {}
    for name, array in _bound(model, inputs).items():
        if array.dtype.kind == "f" and array.size:
            ids = tape.add_inputs(array.size).reshape(array.shape)
            given[name], ports[name] = Neurons(tape, ids), (ids, array)
        else:
            given[name] = _wide(array)
    found = Interpreter(model, tape).run_graph(model.graph, given)
    results = {entry.name: found[entry.name] for entry in model.graph.outputs}
    signals = {
        n: output_signals(x) for n, x in results.items() if isinstance(x, Neurons) and x.size
    }
    if not signals:
        return [
            np.zeros(x.shape) if isinstance(x, Neurons) else np.asarray(x) for x in results.values()
        ]
    resolution = Resolution(tape, list(signals.values()))
    at = resolution.neuron_of
    net = resolution.network(
        tuple(Port(n, ids.shape, at[ids.ravel()]) for n, (ids, _) in ports.items()),
        tuple(Port(n, ids.shape, at[ids.ravel()]) for n, ids in signals.items()),
    )
    values = net.activate({n: array.astype(np.float64)[None] for n, (_, array) in ports.items()})
    return [
        values[n][0].reshape(x.shape) if n in signals
        else np.zeros(x.shape) if isinstance(x, Neurons) else np.asarray(x)
        for n, x in results.items()
    ]  # fmt: skip


def differs(found: Sequence[Array], wanted: Sequence[Array]) -> str:
    """Where outputs differ in words; "" if they are equal."""
    for k, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if one.shape != other.shape:
            return f"output {k} has the shape {list(one.shape)}, expected {list(other.shape)}"
        pair = one.astype(float), other.astype(float)
        if not np.allclose(*pair, rtol=RTOL, atol=ATOL, equal_nan=True):
            with np.errstate(all="ignore"):
                worst = np.nanmax(np.abs(pair[0] - pair[1]))
            return f"output {k} differs by {worst}"
    return ""


def check(each: Case) -> None:
    """Both ways give the outputs that are wanted; or the case is refused, by its words."""
    if each.refusal:
        found, why = verdict(each)
        assert found == "refused", f"{found}, expected a refusal"
        assert each.refusal in why, why
        return
    model = loaded(each.model)
    assert not differs(as_numbers(model, each.inputs), each.outputs), "as numbers"
    assert not differs(as_neurons(model, each.inputs), each.outputs), "as neurons"


def verdict(each: Case) -> tuple[str, str]:
    """("equal" | "wrong" | "refused" | "crash", why), as numbers and as neurons."""
    try:
        model = loaded(each.model)
        for way, run in (("numbers", as_numbers), ("neurons", as_neurons)):
            if why := differs(run(model, each.inputs), each.outputs):
                return "wrong", f"{way}: {why}"
    except NeatOnnxError as error:
        return "refused", str(error)
    except Exception as error:  # noqa: BLE001 - the count goes on
        return "crash", f"{type(error).__name__}: {error}"
    return "equal", ""
