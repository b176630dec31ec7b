"""External data: read beside the model, and from nowhere else."""

import os
import shutil

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from neat_onnx import NeatOnnxError, import_model, limits, load_model, validate
from neat_onnx.cli import main
from neat_onnx.errors import ModelError

RNG = np.random.default_rng(5)
WEIGHTS = {
    "W": RNG.normal(size=(4, 3)).astype(np.float32),
    "B": RNG.normal(size=4),
    "K": np.arange(4),
}


def model() -> onnx.ModelProto:
    """Tanh(x W' + B + K): float32, float64, and integers of a Constant node."""
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(WEIGHTS["K"])),
        helper.make_node("Gemm", ["x", "W"], ["z"], transB=1, name="gemm"),
        helper.make_node("Cast", ["z"], ["z64"], to=11),
        helper.make_node("Cast", ["k"], ["k64"], to=11),
        helper.make_node("Add", ["z64", "B"], ["zb"]),
        helper.make_node("Add", ["zb", "k64"], ["zk"]),
        helper.make_node("Tanh", ["zk"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info("x", 1, ["N", 3]),
        helper.make_tensor_value_info("y", 11, ["N", 4]),
    ]
    initializers = [numpy_helper.from_array(WEIGHTS[name], name) for name in "WB"]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def saved(folder, **changed) -> str:
    """The path of the model, its data in `weights.bin`; entries of W changed, None deletes."""
    path = str(folder / "net.onnx")
    onnx.save_model(
        model(), path, save_as_external_data=True, location="weights.bin", size_threshold=0,
        convert_attribute=True,
    )  # fmt: skip
    proto = onnx.load(path, load_external_data=False)
    entries = proto.graph.initializer[0].external_data
    kept = {entry.key: entry.value for entry in entries} | changed
    del entries[:]
    for key, value in kept.items():
        if value is not None:
            entries.add(key=key, value=str(value))
    onnx.save_model(proto, path)
    return path


@pytest.mark.parametrize("one_file", [True, False])
def test_a_model_with_its_data_beside_it_is_the_same_model(tmp_path, one_file):
    path = str(tmp_path / "net.onnx")
    onnx.save_model(
        model(), path, save_as_external_data=True, all_tensors_to_one_file=one_file,
        size_threshold=0, convert_attribute=True,
    )  # fmt: skip
    assert len(os.listdir(tmp_path)) == (2 if one_file else 4)
    assert load_model(path) == load_model(model())
    assert import_model(path) == import_model(model())
    assert validate(path) == []


def test_the_folder_of_a_bare_name_is_the_current_one(tmp_path, monkeypatch):
    saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert load_model("net.onnx") == load_model(model())


def test_folders_below_are_read(tmp_path):
    path = saved(tmp_path, location="data/weights.bin")
    (tmp_path / "data").mkdir()
    shutil.copy(tmp_path / "weights.bin", tmp_path / "data")
    assert load_model(path) == load_model(model())


def test_offset_and_length_may_be_left_out(tmp_path):
    assert load_model(saved(tmp_path, offset=None, length=None)) == load_model(model())


def test_the_command_line_reads_it(tmp_path):
    path = saved(tmp_path)
    assert main(["import", path, str(tmp_path / "net.json")]) == 0
    assert main(["verify", str(tmp_path / "net.json"), path]) == 0
    assert main(["inspect", path]) == 0


def test_without_a_folder_it_is_refused(tmp_path):
    path = saved(tmp_path)
    proto = onnx.load(path, load_external_data=False)
    for source in (proto.SerializeToString(), proto):
        with pytest.raises(ModelError, match="W: external data is not supported") as refused:
            load_model(source)
        assert "one file" in refused.value.hint


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"location": "../secret.bin"}, "points outside the directory"),
        ({"location": "data/../../secret.bin"}, "points outside the directory"),
        ({"location": "..\\secret.bin"}, "points outside the directory"),
        ({"location": "/etc/passwd"}, "should be a relative path"),
        ({"location": "C:weights.bin"}, "not regular file"),
        ({"location": "weights\0.bin"}, "should be stored in"),
        ({"location": ""}, "should not be empty"),
        ({"location": None}, "should not be empty"),
        ({"location": "link.bin"}, "it is a symbolic link"),
        ({"location": "folder/secret.bin"}, "outside model directory"),
        ({"location": "loop"}, "it is a symbolic link"),
        ({"location": "."}, "not regular file"),
        ({"location": "pipe"}, "not regular file"),
        ({"location": "missing.bin"}, "not regular file"),
        ({"offset": 10**6}, "exceeds file size"),
        ({"offset": -1}, "offset is '-1', expected a whole number"),
        ({"offset": "1e3"}, "expected a whole number"),
        ({"offset": "9" * 5000}, "expected a whole number"),
        ({"length": 44}, r"length is 44, expected 48 for FLOAT \[4, 3\]"),
    ],
)
def test_hostile_places_are_refused_by_name(tmp_path, changed, text):
    folder = tmp_path / "model"
    folder.mkdir()
    path = saved(folder, **changed)
    (tmp_path / "secret.bin").write_bytes(bytes(48))
    (folder / "link.bin").symlink_to("../secret.bin")
    (folder / "folder").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    with pytest.raises(ModelError, match=text) as refused:
        load_model(path)
    assert refused.value.where == "initializer W"
    assert "Save the model as one" in refused.value.hint
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda tensor: tensor.dims.append(2**40), "elements, and the limit is"),
        (lambda tensor: tensor.dims.append(-1), "expected sizes of 0 or more"),
        (lambda tensor: setattr(tensor, "data_type", 8), r"8 \(STRING\) not supported"),
        (lambda tensor: tensor.external_data.add(key="offset", value="0"), "a key occurs twice"),
    ],
)
def test_tensors_that_announce_something_else_are_refused(tmp_path, change, text):
    path = saved(tmp_path, length=None, offset=None)
    proto = onnx.load(path, load_external_data=False)
    tensor = proto.graph.initializer[0]
    tensor.external_data.add(key="offset", value="0")
    change(tensor)
    onnx.save_model(proto, path)
    with pytest.raises(NeatOnnxError, match=text) as refused:
        load_model(path)
    assert refused.value.where == "initializer W"


def test_elements_are_counted_together(tmp_path):
    path = saved(tmp_path)
    with limits(elements=19), pytest.raises(ModelError, match="it takes 20 elements"):
        load_model(path)
    with limits(elements=20):
        load_model(path)
