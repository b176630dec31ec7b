"""The genomes of ONNX's own cases, which are often one long formula of many inputs, come back."""

import numpy as np
import pytest
from support.examples.backend_cases import backend_cases, is_large

from neat_onnx import NeatOnnxWarning, export, import_model

OPERATORS = (
    *("Acos", "Asinh", "Celu", "Gelu", "HardSwish", "Mish", "Selu"),
    *("Softmax", "ReduceL2", "GlobalMaxPool"),
)
CASES = {
    name: case
    for name, case in backend_cases(*OPERATORS).items()
    if not is_large(case) and "float16" not in name and len(case.model.graph.input) == 1
}


# formulas without a name that are written in several steps, which others read
STEPS = ("test_acos", "test_gelu_default")


@pytest.mark.parametrize("name", CASES)
def test_of_one_operator(name):
    net = import_model(CASES[name].model, batch_axis=None)
    model = export(net, dtype="float64")
    if not name.startswith(STEPS):
        assert import_model(model.to_bytes()) == net
        return
    with pytest.warns(NeatOnnxWarning, match="changed after the export"):
        back = import_model(model.to_bytes())
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (4, len(net.input_neurons)))
    np.testing.assert_allclose(back.activate(x), net.activate(x), rtol=1e-9, atol=1e-12)
