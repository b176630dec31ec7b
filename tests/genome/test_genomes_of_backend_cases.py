"""The genomes of ONNX's own cases, which are often one long formula of many inputs, come back."""

import pytest
from support.examples.backend_cases import backend_cases, is_large

from neat_onnx import export, import_model

OPERATORS = (
    *("Acos", "Asinh", "Celu", "Gelu", "HardSwish", "Mish", "Selu"),
    *("Softmax", "ReduceL2", "GlobalMaxPool"),
)
CASES = {
    name: case
    for name, case in backend_cases(*OPERATORS).items()
    if not is_large(case) and "float16" not in name and len(case.model.graph.input) == 1
}


@pytest.mark.parametrize("name", CASES)
def test_of_one_operator(name):
    net = import_model(CASES[name].model, batch_axis=None)
    model = export(net, dtype="float64")
    assert import_model(model.to_bytes()) == net
