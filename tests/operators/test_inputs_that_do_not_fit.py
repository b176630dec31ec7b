"""Inputs whose shapes do not go together: refused with the shapes, in words of the operator."""

from typing import Any

import numpy as np
import pytest
from onnx import parser
from support.examples.graphs import computed, graph, node

from neat_onnx import ModelError, import_model
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.registry import LIFTS

_X = "(float[2, 3, 4] x{}) => (float y) {}"
_ELEMENTWISE = _X.format("", "<float[5] c = {{1, 2, 3, 4, 5}}> {{ {} }}")
_INTS = "<int64[{}] i = {{{}}}> {{ {} }}"


def _with(values: str, body: str, more: str = "") -> str:
    """A graph of x and the integers i."""
    return _X.format(more, _INTS.format(values.count(",") + 1, values, body))


_MISFITS = {
    "an addend": (
        _ELEMENTWISE.format("y = Add (x, c)"),
        r"\[2, 3, 4\] and \[5\] cannot be broadcast",
    ),
    "a constant addend": (
        _ELEMENTWISE.format("d = Shape (x) e = Cast <to = 1> (d) f = Mul (e, c) y = Add (x, f)"),
        r"\[3\] and \[5\] cannot be broadcast",
    ),
    "a computed factor": (
        _X.format(", float[2, 3, 5] z", "{ y = Mul (x, z) }"),
        r"\[2, 3, 4\] and \[2, 3, 5\] cannot be broadcast",
    ),
    "a slope": (_ELEMENTWISE.format("y = PRelu (x, c)"), r"\[2, 3, 4\] and \[5\] cannot"),
    "matrices beside one another": (
        _X.format(", float[5, 4, 2] z", "{ y = MatMul (x, z) }"),
        r"\[2\] and \[5\] cannot be broadcast",
    ),
    "an expansion": (_with("3, 5", "y = Expand (x, i)"), r"\[2, 3, 4\] and \[3, 5\] cannot"),
    "a shape of more elements": (_with("5, 5", "y = Reshape (x, i)"), r"cannot become \[5, 5\]"),
    "a shape with two open sizes": (_with("-1, -1", "y = Reshape (x, i)"), "cannot become"),
    "a shape with a size below -1": (_with("-2, -12", "y = Reshape (x, i)"), "cannot become"),
    "parts of other ranks": (
        _ELEMENTWISE.format("y = Concat <axis = 1> (x, c)"),
        r"the shapes \[2, 3, 4\], \[5\], which differ beside axis 1",
    ),
    "parts of other lengths": (
        _X.format(", float[2, 3, 5] z", "{ y = Concat <axis = 1> (x, z) }"),
        "which differ beside axis 1",
    ),
    "an axis to join along": (_X.format("", "{ y = Concat <axis = 3> (x, x) }"), r"axes are \[3\]"),
    "an axis to split": (_X.format("", "{ y, z = Split <axis = 3> (x) }"), r"axes are \[3\]"),
    "an axis to gather along": (_with("0, 1", "y = Gather <axis = 3> (x, i)"), r"axes are \[3\]"),
    "an axis to drop": (_with("1", "y = Squeeze (x, i)"), "axes of size 1"),
    "an axis added twice": (_with("0, 0", "y = Unsqueeze (x, i)"), "different ones of 5"),
    "an axis added far off": (_with("7", "y = Unsqueeze (x, i)"), "different ones of 4"),
    "an axis to slice": (_with("3", "y = Slice (x, i, i, i)"), r"axes are \[3\]"),
    "more starts than axes": (_with("0, 1, 1, 1", "y = Slice (x, i, i)"), "axes are"),
    "steps of nothing": (_with("0", "y = Slice (x, i, i, i, i)"), r"its steps are \[0\]"),
    "indices of fewer axes": (
        _with("0, 1", "y = GatherElements <axis = 1> (x, i)"),
        r"indices have the shape \[2\], its data \[2, 3, 4\]",
    ),
    "indices of more columns": (
        "(float[2, 1] x) => (float y) <int64[2, 2] i = {0, 0, 0, 0}>{ y = GatherElements (x, i) }",
        r"indices have the shape \[2, 2\], its data \[2, 1\]",
    ),
    "how many to sort": (_with("1, 2", "y, z = TopK (x, i)"), "'i' has 2 elements, expected 1"),
    "an axis to add up along": (_with("1, 2", "y = CumSum (x, i)"), "'i' has 2 elements"),
    "diagonals": (_with("1, 2", "y = Trilu (x, i)"), "'i' has 2 elements"),
    "sizes to crop to": (_with("1, 2", "y = CenterCropPad (x, i)"), "2 sizes for 3 axes"),
    "a longer condition": (
        _X.format("", "<bool[5] b = {1, 0, 0, 0, 1}> { y = Compress <axis = 1> (x, b) }"),
        r"condition has the shape \[5\], for 3 elements",
    ),
    "a number to scan": (
        """(float[2, 3] x, float n) => (float y) { s, y = Scan <num_scan_inputs = 1,
        body = body (float[2, 3] a, float b) => (float[2, 3] c, float d)
        { c = Identity (a) d = Tanh (b) }> (x, n) }""",
        r"its sequences have the lengths \[0\]",
    ),
    "channels that make no blocks": (
        "(float[1, 6, 2, 2] x) => (float y) { y = DepthToSpace <blocksize = 2> (x) }",
        "6 channels, and blocksize is 2",
    ),
    "images that make no blocks": (
        "(float[1, 2, 3, 2] x) => (float y) { y = SpaceToDepth <blocksize = 2> (x) }",
        "height is 3, its width 2, and blocksize 2",
    ),
    "the scale of another number of channels": (
        """(float[1, 4, 3] x) => (float y) <float[3] s = {1, 2, 3}>
        { y = InstanceNormalization (x, s, s) }""",
        "'s' has 3 elements, expected 4",
    ),
}


@pytest.mark.parametrize("name", _MISFITS)
def test_what_does_not_go_together_is_named(name: str) -> None:
    text, refusal = _MISFITS[name]
    model = parser.parse_model('<ir_version: 8, opset_import: ["": 18]> g ' + text)
    with pytest.raises(ModelError, match=refusal) as caught:
        import_model(model, batch_axis=None)
    assert "cannot be read" not in caught.value.message
    assert "mistake" not in str(caught.value)


def test_a_condition_may_go_on_beyond_the_elements() -> None:
    text = _X.format("", "<bool[5] b = {1, 0, 1, 0, 0}> { y = Compress <axis = 1> (x, b) }")
    model = parser.parse_model('<ir_version: 8, opset_import: ["": 18]> g ' + text)
    net = import_model(model, batch_axis=None)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(net.activate({"x": x[None]})["y"][0], computed(model, x))


@pytest.mark.parametrize("error", [ValueError, IndexError, OverflowError])
def test_an_error_that_nobody_foresaw_is_not_said_to_be_the_models(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def lift(_ctx: LiftingContext, _node: Any) -> None:
        raise error("of our own making")

    monkeypatch.setitem(LIFTS, "Sin", lift)
    with pytest.raises(ModelError) as caught:
        import_model(graph([node("Sin", "x", "y")], x=(2, 3)))
    said = (
        "node make_y (Sin): it cannot be read with inputs of the shapes [1, 3]: of our own making"
    )
    assert caught.value.message == said
    assert caught.value.hint is not None
    assert "a mistake in neat_onnx" in caught.value.hint
