"""The hostile files: refused in one clear line while they are read, or read as they are."""

from pathlib import Path

import pytest
from sample_models import node  # noqa: F401 - registers the operators

from neat_onnx.errors import ModelError, NeatOnnxError
from neat_onnx.model import load_model
from neat_onnx.model.wiring import require_wiring

BAD = Path(__file__).parents[1] / "corpora" / "bad"
REFUSED = {
    "json-trunc-onnx.json": "invalid JSON",
    "json-deep-nesting.json": "nested too deeply",
    "onnx-dims-mismatch.json": "initializer W0: dims [3, 2] need 6 values, float_data has 5",
    "onnx-dims-huge-empty.json": "need 1000000000000 values, float_data has 0",
    "onnx-dims-float.json": "initializer W0: dims[0] is not an integer",
    "onnx-unknown-op.json": "node act_l1 (FooBar): unsupported op_type FooBar",
    "onnx-dtype-string.json": "initializer W0: data_type 8 (STRING) not supported",
    "onnx-dtype-int64.json": "initializer W0: data_type INT64 does not go with float_data",
    "onnx-float-strings.json": "initializer W0: float_data[0] is not a number",
    "onnx-float-null.json": "initializer W0: float_data[1] is null",
    "onnx-nan-weight.json": "initializer W0: float_data[3] is not a finite number",
    "onnx-metadata-badshape.json": "metadata_props is not a list",
    "onnx-duplicate-initializer.json": "duplicate initializer 'W0'",
    "onnx-ansi-names.json": "unsupported op_type NoSuchOp",
    "onnx-opset-999.json": "opset 999 not supported",
    "bin-external-traversal.onnx": "initializer W0: external data is not supported",
    "bin-external-absolute.onnx": "initializer W0: external data is not supported",
    "bin-external-missing.onnx": "initializer W0: external data is not supported",
    "bin-truncated.onnx": "not a valid ONNX protobuf",
    "bin-png.onnx": "not a valid ONNX protobuf",
    "bin-rawdata-length.onnx": "initializer W0: raw_data has 20 bytes, expected 24",
    "bin-deep-subgraphs.onnx": "not a valid ONNX protobuf",
}
MISWIRED = {
    "onnx-missing-tensor.json": "node gemm_l2 (Gemm): input 'nowhere' is produced by no node",
    "bin-duplicate-producer.onnx": "tensor 'output' is produced twice",
}
READABLE = ("onnx-huge-metadata.json", "onnx-metadata-notjson.json", "onnx-gemm-alpha.json")


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


@pytest.mark.parametrize("name", READABLE)
def test_readable_though_odd(name):
    require_wiring(load_model(BAD / name).graph)


def test_attributes_are_honoured():
    gemm = load_model(BAD / "onnx-gemm-alpha.json").graph.node[0]
    assert (gemm.attributes.alpha, gemm.attributes.beta) == (2.5, -0.5)
