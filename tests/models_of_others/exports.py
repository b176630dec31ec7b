"""Exports of models that were imported."""

import numpy as np
import onnx
from support.harness.sessions import open_session

from neat_onnx import export, import_model


def size_of_equal_export(model: onnx.ModelProto) -> int:
    """The bytes of the export of an imported model, which computes the same and comes back."""
    net = import_model(model, check=False)
    written = export(net)
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim][1:]
    x = np.random.default_rng(0).normal(size=(4, *shape)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    (got,) = open_session(written).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert import_model(written) == net
    return len(written.to_bytes())
