"""Operators from outside of the package, by one call: compared in a runtime that has them."""

from collections.abc import Iterator

import numpy as np
import pytest
from support.harness.sessions import open_session

import neat_onnx.operators.export.families
import neat_onnx.operators.families  # noqa: F401
from neat_onnx import (
    ModelError,
    Network,
    OptionError,
    export,
    extend,
    import_model,
    load_model,
    operator,
    register_activation,
    validate,
)
from neat_onnx.extend import expression
from neat_onnx.lifting.operator import OPERATORS
from neat_onnx.model.node import _REGISTRY, node_classes
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.operators.export.formula import OWN


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Forget operators of a test after it."""
    named, traced = dict(ACTIVATIONS), dict(OPERATORS)
    classes, own = node_classes(), [*OWN]
    yield
    for table, kept in ((_REGISTRY, classes), (ACTIVATIONS, named)):
        table.clear()
        table.update(kept)  # type: ignore[arg-type]
    OPERATORS.clear()
    OPERATORS.update(traced)
    OWN[:] = own


def quick_gelu(z, alpha: float = 1.702):
    return z * expression.sigmoid(alpha * z)


@pytest.mark.parametrize("alpha", [1.702, 0.25])
def test_both_directions_as_onnxruntime_computes_the_operator(alpha):
    operator("com.microsoft", "QuickGelu")(quick_gelu)
    register_activation("own_gelu", lambda z: quick_gelu(z, alpha))
    net = Network.mlp([3, 4, 4, 2], activation="own_gelu", seed=1)
    model = export(net)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("QuickGelu") == 3
    assert "Sigmoid" not in kinds
    assert validate(model) == []
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    session = open_session(model)
    (want,) = session.run(None, {"input": x})
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-5, atol=1e-6)
    back = import_model(export(net, include_metadata=False))
    np.testing.assert_allclose(back.activate(x), want, rtol=1e-5, atol=1e-6)


def test_numbers_that_are_no_attributes_are_another_formula():
    operator("my.domain", "Own")(lambda z: expression.sin(3.0 * z) * z)
    register_activation("like_it", lambda z: expression.sin(3.5 * z) * z)
    kinds = {node.op_type for node in export(Network.mlp([1, 1], activation="like_it")).graph.node}
    assert "Own" not in kinds


def test_attributes_are_declared():
    operator("com.microsoft", "QuickGelu")(quick_gelu)
    text = '<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]> g (float[N, 3] x) => ' \
        "(float[N, 3] y) { y = com.microsoft.QuickGelu <beta = 0.5> (x) }"  # fmt: skip
    with pytest.raises(ModelError, match="unknown attribute 'beta'"):
        import_model(load_model(text.encode()))


def doubled(z):
    for _ in range(30):
        z = z + z * z
    return z


def test_mistakes_are_told():
    for domain, op_type, function, text in (
        ("", "Own", quick_gelu, "ONNX's own"),
        ("my.domain", "not a name", quick_gelu, "no name of an operator"),
        ("my.domain", "Own", lambda z: 1.0, "gives a float, no expression"),
        ("my.domain", "Own", lambda z: z * np.tanh(z), "fails: TypeError"),
        ("my.domain", "Own", lambda z, alpha: z * alpha, "neither float nor int"),
        ("my.domain", "Own", doubled, "primitives and numbers"),
        ("my.domain", "Own", lambda z: sum([1.0] * 3000, z), "nested too deeply"),
        ("my.domain", "Own", lambda z: z * float("inf"), "not finite"),
    ):
        with pytest.raises(OptionError, match=text):
            operator(domain, op_type)(function)
    with pytest.raises(ModelError, match="registered twice"):
        operator("my.domain", "Relu")(quick_gelu)


def test_attributes_of_which_there_is_no_formula():
    def inverse(z, width: float = 1.0):
        return z * (1.0 / width)

    operator("my.domain", "Own")(inverse)
    text = """<ir_version: 8, opset_import: ["": 18, "my.domain": 1]> g (float[N, 3] x) =>
        (float[N, 3] y) { y = my.domain.Own <width = 0.0> (x) }"""
    with pytest.raises(ModelError, match=r"node y \(Own\): .*ZeroDivisionError"):
        import_model(load_model(text.encode()))


def test_one_module_has_all_that_users_extend():
    assert all(getattr(extend, name) is not None for name in extend.__all__)
