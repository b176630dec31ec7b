"""Files that exporters of PyTorch, Keras, tf2onnx, JAX and scikit-learn wrote; random weights."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from support.harness.sessions import open_session

from neat_onnx import export, import_model

FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("recorded/*.onnx"))}

_TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.INT64: np.int64}


def feeds(model: onnx.ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    """Four samples for each input."""
    random = np.random.default_rng(0)
    shapes = {
        entry.name: [axis.dim_value for axis in entry.type.tensor_type.shape.dim][1:]
        for entry in model.graph.input
    }
    whole = {
        entry.name: np.ones((4, *shapes[entry.name]))  # masks of actions, of which one is allowed
        if entry.name == "action_masks" else random.integers(0, 5, (4, *shapes[entry.name]))
        for entry in model.graph.input
        if entry.type.tensor_type.elem_type == onnx.TensorProto.INT64
        or entry.name == "action_masks"
    }  # fmt: skip
    types = {entry.name: _TYPES[entry.type.tensor_type.elem_type] for entry in model.graph.input}
    return {
        name: np.asarray(whole.get(name, random.normal(size=(4, *shape))), types[name])
        for name, shape in shapes.items()
    }


def numbers(output: Any) -> np.ndarray[Any, Any]:
    """An output as an array; the maps of a ZipMap as rows."""
    if isinstance(output, list):
        return np.array([list(row.values()) for row in output])
    return np.asarray(output)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", FILES)
def test_it_comes_in_and_goes_out_equal(name: str):
    model = onnx.load(FILES[name])
    given = feeds(model)
    net = import_model(FILES[name])
    written = export(net).to_proto()
    got = net.activate(given)
    want = dict(
        zip(
            [entry.name for entry in model.graph.output],
            map(numbers, open_session(model).run(None, given)),
            strict=True,
        )
    )
    again = dict(zip(got, open_session(written).run(list(got), given), strict=True))
    for port in got:
        np.testing.assert_allclose(got[port], want[port], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(again[port], want[port], rtol=1e-4, atol=1e-5)


def test_a_sequence_of_any_length_of_one_sample_is_a_network_with_memory():
    path = Path(__file__).parent / "sequences" / "torch_gru_of_any_length.onnx"
    x = np.random.default_rng(0).normal(size=(7, 1, 3)).astype(np.float32)
    (want,) = open_session(onnx.load(path)).run(None, {"x": x})
    net = import_model(path)
    (got,) = net.run({"x": x}).values()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    (again,) = open_session(export(net, sequence=True).to_proto()).run(None, {"x": x})
    np.testing.assert_allclose(again, want, rtol=1e-5, atol=1e-6)
