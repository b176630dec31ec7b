"""The hostile files: refused in one clear line while they are read or lifted, or read rightly."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sample_models import node  # noqa: F401 - registers the operators
from support.examples.cases import assert_within, bad_files
from support.examples.flat_documents import with_warnings

from neat_onnx import convert, import_model
from neat_onnx.errors import ModelError, NeatOnnxError
from neat_onnx.model import load_model
from neat_onnx.model.wiring import require_wiring

BAD = Path(__file__).parents[1] / "corpora" / "bad"
REFUSED = {
    "json-trunc-onnx.json": "invalid JSON",
    "json-deep-nesting.json": "nested too deeply",
    "onnx-ansi-names.json": "unsupported op_type NoSuchOp",
    "bin-truncated.onnx": "not a valid ONNX protobuf",
    "bin-png.onnx": "this is a PNG image, not a network or a model",
    "bin-rawdata-length.onnx": "initializer W0: raw_data has 20 bytes, expected 24",
    "bin-deep-subgraphs.onnx": "not a valid ONNX protobuf",
}
MISWIRED = {
    "onnx-missing-tensor.json": "node gemm_l2 (Gemm): input 'nowhere' is produced by no node",
    "bin-duplicate-producer.onnx": "tensor 'output' is produced twice",
}
UNLIFTABLE = {
    "onnx-conv-kernel-too-big.json": "node conv_l1 (Conv): its window covers 5×5, more than the",
    "onnx-conv-zero-stride.json": "node conv_l1 (Conv): strides is [0, 0]",
    "onnx-conv-huge-pads.json": "node conv_l1 (Conv): it takes 166020696663385964544 elements",
    "onnx-conv-dims-vs-attr.json": "node conv_l1 (Conv): kernel_shape is [3, 3], expected",
    "onnx-bias-mismatch.json": "node gemm_l1 (Gemm): C is of 2 columns, expected 3",
    "onnx-input-dim-zero.json": "graph input 'input' has the shape ['N', 0]",
}
MAY_REFUSE = {"refuse", "refuse-or-warn", "either"}
MUST_WARN = {"refuse-or-warn", "accept-with-warning"}


@pytest.mark.parametrize(("name", "text"), REFUSED.items())
def test_refused_while_read(name, text):
    with pytest.raises(NeatOnnxError) as refused:
        load_model(BAD / name)
    line = str(refused.value)
    assert text in line
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize(("name", "text"), MISWIRED.items())
def test_refused_for_its_wiring(name, text):
    with pytest.raises(ModelError) as refused:
        require_wiring(load_model(BAD / name).graph)
    assert text in str(refused.value)


@pytest.fixture(scope="module")
def imported():
    """Import whatever import imports when it is first called, which is not what is measured."""
    with_warnings(convert, BAD / "onnx-gemm-alpha.json")


@pytest.mark.parametrize(("name", "text"), UNLIFTABLE.items())
@pytest.mark.parametrize("make", [import_model, convert])
@pytest.mark.usefixtures("imported")
def test_refused_by_name_at_once(name, text, make):
    started = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as refused:
            with_warnings(make, BAD / name)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 1.0
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("path", "entry"),
    bad_files("onnx-json", "onnx-binary"),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_every_verdict(path, entry):
    try:
        net, texts = with_warnings(import_model, path)
    except NeatOnnxError as error:
        assert entry["verdict"] in MAY_REFUSE
        assert str(error).isprintable()
        assert len(str(error)) < 1000
        with pytest.raises(NeatOnnxError):
            with_warnings(convert, path)
        return
    assert entry["verdict"] != "refuse"
    assert entry["verdict"] not in MUST_WARN or texts
    expected = entry["if_accepted"]
    want = np.array(expected["outputs"])
    tolerance = 1e-12 * np.maximum(1.0, np.abs(want))
    assert_within(net.activate(expected["inputs"]), want, tolerance)
    again = import_model(with_warnings(convert, path)[0])
    assert_within(again.activate(expected["inputs"]), want, tolerance)


def test_metadata_that_is_not_json_is_named():
    _, texts = with_warnings(import_model, BAD / "onnx-metadata-notjson.json")
    keys = "layer_sizes, conv2d_specs, recurrent_single_step, lstm_emitted_layers"
    assert f"repaired: metadata that is not JSON is left out: {keys}" in texts


def test_attributes_are_honoured():
    gemm = load_model(BAD / "onnx-gemm-alpha.json").graph.node[0]
    assert (gemm.attributes.alpha, gemm.attributes.beta) == (2.5, -0.5)


@pytest.mark.parametrize("version", [2**31, 2**70, -(2**31) - 1])
def test_an_opset_that_no_integer_holds_is_refused(version: int):
    """Also where a node needs its operator's schema, because of a subgraph or an unknown type."""
    tensor = {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 2}]}}}
    celu = {"op_type": "Celu", "name": 7, "input": ["x"], "output": ["y"]}
    ends = [{"name": name, "type": tensor} for name in "xy"]
    graph = {"inputs": ends[:1], "outputs": ends[1:], "node": [celu]}
    with pytest.raises(ModelError, match="version"):
        load_model({"ir_version": 8, "opset_import": [{"version": version}], "graph": graph})
