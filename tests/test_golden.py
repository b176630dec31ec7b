"""What export writes, byte for byte, and by the names and shapes of the JSON ONNX format.

`python -m tests.golden` writes the files anew.
"""

import json
from typing import Any

import pytest
from golden.forms import FORMS, HERE, path, written

from neat_onnx import import_model, validate


def document(form: str) -> dict[str, Any]:
    return json.loads(path(form).read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", FORMS)
def test_the_golden_file_is_what_export_writes(form: str):
    assert path(form).read_text(encoding="utf-8") == written(form).to_json()


@pytest.mark.parametrize("form", FORMS)
def test_the_golden_file_is_the_network(form: str):
    assert validate(path(form)) == []
    assert import_model(path(form)) == FORMS[form][0]


def test_every_file_has_its_form():
    assert {each.stem for each in HERE.glob("*.json")} == set(FORMS)


# --- what the JSON ONNX of NeatapticTS says of layers ---------------------------------------------


def test_a_layer_of_one_activation():
    body = document("layers")["graph"]
    tensors = {each["name"]: each["dims"] for each in body["initializer"]}
    assert tensors == {"W0": [3, 2], "B0": [3], "W1": [2, 3], "B1": [2], "W2": [1, 2], "B2": [1]}
    assert [(each["op_type"], each["name"]) for each in body["node"]] == [
        ("Gemm", "gemm_l1"),
        ("Tanh", "act_l1"),
        ("Gemm", "gemm_l2"),
        ("Sigmoid", "act_l2"),
        ("Gemm", "gemm_l3"),
        ("Identity", "act_l3"),
    ]
    assert body["node"][2]["input"] == ["Layer_1", "W1", "B1"]
    assert body["node"][2]["output"] == ["Gemm_2"]
    assert body["node"][3]["output"] == ["Layer_2"]
    metadata = {each["key"]: each["value"] for each in document("layers")["metadata_props"]}
    assert metadata["layer_sizes"] == "[3, 2]"


def test_a_layer_of_several_activations_neuron_by_neuron():
    body = document("mixed_per_neuron")["graph"]
    tensors = {each["name"]: each["dims"] for each in body["initializer"]}
    for k in range(3):
        assert tensors[f"W0_n{k}"] == [1, 2]
        assert tensors[f"B0_n{k}"] == [1]
    by_name = {each["name"]: each for each in body["node"]}
    assert by_name["gemm_l1_n1"]["input"] == ["input", "W0_n1", "B0_n1"]
    assert by_name["gemm_l1_n1"]["output"] == ["Gemm_1_n1"]
    assert by_name["act_l1_n1"]["op_type"] == "Relu"
    assert by_name["act_l1_n1"]["output"] == ["Layer_1_n1"]
    assert by_name["concat_l1"]["input"] == ["Layer_1_n0", "Layer_1_n1", "Layer_1_n2"]
    assert by_name["concat_l1"]["output"] == ["Layer_1"]
    assert by_name["concat_l1"]["attributes"] == [{"name": "axis", "type": "INT", "i": 1}]
