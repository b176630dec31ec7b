"""Arguments of wrong types and values: an error of ours in one line, at every public function.

Each argument of each function is given each wrong value, while the others stay right. It may be
refused, or be right after all; an exception of Python's own is a failure.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neat_onnx
from neat_onnx import Model, NeatOnnxError, Network, OptionError, Population
from neat_onnx.libraries.registry import writer_named
from neat_onnx.network.expression import tanh

pytestmark = pytest.mark.filterwarnings("ignore")

NET = Network.mlp([1, 1], seed=0)
MODEL = neat_onnx.export(NET)
CERTIFICATE = neat_onnx.certify(NET, MODEL, samples=4)
NUMBERED = Network.build(inputs=[-1], outputs=[0], neurons=[0], connections=[(-1, 0, 1.0)])
INI = writer_named("neat-python").files(NUMBERED, "winner.pkl")["winner.ini"].decode()
POPULATION = Population([NET, NET])
WRONG: tuple[Any, ...] = (
    None, True, 3, -1, 10**30, 1.5, float("nan"), "nonsense", "a\0b", b"x", [], [3], (), {},
    {"a": 1}, [None], [object()], object(), print, int, np.zeros((2, 2)), np.float32(1), {1, 2},
)  # fmt: skip
RIGHT: dict[str, Any] = {
    "net": NET,
    "nets": [NET],
    "model": MODEL,
    "source": MODEL,
    "a": NET,
    "cppn": Network.mlp([2, 1], seed=0),
    "layers": [[[0.0]], [[1.0]]],
    "b": NET,
    "target": [1],
    "weight": [1.0],
    "bias": 0.5,
    "certificate": CERTIFICATE,
    "samples": 4,
    "name": "wrong_arguments",
    "formula": lambda z: 3.25 * tanh(z),
    "library": "neat-onnx",
    "domain": "wrong.arguments",
    "op_type": "Any",
    "x": [[1.0]],
    "state": NET.initial_state(),
    "sizes": [1, 1],
    "inputs": 1,
    "units": 1,
    "outputs": [1],
    "neurons": [1],
    "connections": [(0, 1, 1.0)],
    "document": NET.to_document(),
    "path": "net.json",
    "encoding": "numbers",
    "proto": MODEL.to_proto(),
}
OTHERWISE: dict[str, dict[str, Any]] = {
    "load_network": {"source": NET.to_json(), "inputs": None, "outputs": None},
    "load_networks": {"source": [NET.to_json()], "inputs": None, "outputs": None},
    "import_model": {"outputs": None},
    "neat_population": {"config": INI},
    "register_activation": {"library": None},
    "register_aggregation": {"formula": lambda v: v, "library": None},
    "unregister_aggregation": {"library": None},
    "unregister_activation": {"library": None},
    "activation": {"name": "tanh"},
    "from_arrays": {"source": [0], "inputs": [0]},
    "es_substrate_network": {
        "cppn": Network.mlp([4, 1], seed=0),
        "inputs": [[0.0, 0.0]],
        "outputs": [[0.0, 1.0]],
    },
    "json_schema": {"name": "model"},
    "rnn": {"outputs": 1},
    "gru": {"outputs": 1},
    "lstm": {"outputs": 1},
    "limits": {"neurons": None, "connections": None},
    "to_library": {"name": "neat-onnx"},
    "generate_code": {"name": "network"},
}
METHODS = [
    *(
        getattr(Network, name)
        for name in ("build", "from_arrays", "from_document", "gru", "lstm", "mlp", "rnn")
    ),
    *(
        getattr(NET, name)
        for name in (
            "activate",
            "initial_state",
            "pruned",
            "run",
            "save",
            "step",
            "with_parameters",
        )
    ),
    NET.to_library,
    *(getattr(MODEL, name) for name in ("save", "to_document", "to_json", "written_as")),
    Model.from_proto,
    *(getattr(POPULATION, name) for name in ("activate", "initial_state", "run", "step")),
]
FUNCTIONS = [
    *(value for name in neat_onnx.__all__ if inspect.isfunction(value := getattr(neat_onnx, name))),
    *METHODS,
    Population,
]


def calls(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """Right arguments, of which one is wrong."""
    others = OTHERWISE.get(function.__name__, {})
    given = {
        name: others.get(name, RIGHT.get(name, parameter.default))
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind != parameter.VAR_KEYWORD
    }
    assert all(value is not inspect.Parameter.empty for value in given.values()), given
    varied = [name for name in given if name != "builtin"]  # one that came with the package stays
    return [given | {name: wrong} for name in varied for wrong in WRONG]


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def attempt(function: Callable[..., Any], given: dict[str, Any]) -> None:
    try:
        function(**given)
    except NeatOnnxError as error:
        text = str(error)
        assert "\n" not in text
        assert " at 0x" not in text
        assert "mistake in neat_onnx" not in text
    finally:
        for forget in (neat_onnx.unregister_activation, neat_onnx.unregister_aggregation):
            with suppress(NeatOnnxError):
                forget(given.get("name"))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_a_wrong_argument_is_an_error_of_ours(function: Callable[..., Any]):
    for given in calls(function):
        attempt(function, given)


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: neat_onnx.export(3), None),
        (lambda: neat_onnx.load_network(object()), None),
        (lambda: neat_onnx.verify(NET, 1), None),
        (lambda: neat_onnx.verify(NET, MODEL, seed=True), "seed"),
        (lambda: neat_onnx.verify(NET, MODEL, samples="4"), "samples"),
        (lambda: neat_onnx.verify(NET, MODEL, runtime=None), "runtime"),
        (lambda: Population(NET), "nets"),
        (lambda: neat_onnx.json_schema(None), "name"),
        (lambda: Network.build(inputs=1, outputs=1, neurons=[1], connections=[]), "outputs"),
        (lambda: NET.save(3), "path"),
        (lambda: MODEL.save(b"net.onnx"), "path"),
        (lambda: MODEL.to_json(indent="yes"), "indent"),
        (lambda: NET.initial_state(1.5), "n"),
    ],
)
def test_the_error_names_the_argument_and_a_way_out(call: Callable[[], Any], where: str | None):
    with pytest.raises(NeatOnnxError) as refusal:
        call()
    assert refusal.value.hint
    if where:
        assert isinstance(refusal.value, OptionError)
        assert refusal.value.where == where
