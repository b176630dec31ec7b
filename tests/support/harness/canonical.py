"""The canonical form of a model, checked against the model in onnxruntime."""

import numpy as np
import onnx
from support.harness.sessions import open_session

from neat_onnx import canonicalize


def played(model: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    session = open_session(model)
    return session.run(None, {"x": x})


def simple(model: onnx.ModelProto, x: np.ndarray | None = None) -> list[str]:
    """The operators of the canonical form, once it is checked: equal, and canonical."""
    result = canonicalize(model)
    assert canonicalize(result).to_json() == result.to_json()
    if x is None:
        x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    for got, want in zip(played(result.to_proto(), x), played(model, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert [o.name for o in result.graph.outputs] == [o.name for o in model.graph.output]
    return [each.op_type for each in result.graph.node]
