"""Pad with zeros in front of a Conv or a pool is the padding of its own window."""

from typing import Any

import numpy as np

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, is_one_of

_LEADING_AXES = 2  # samples and channels: no window slides along them
_FROM_ZERO = ("Relu", "Sigmoid", "HardSigmoid", "Softmax", "Softplus", "Abs", "Exp", "Sqrt")


def padded_windows(model: Model) -> Model:
    """The model with wider pads of each Conv and pool in place of a Pad of zeros that it reads.

    Seen as neurons, such zeros would be neurons of their own, and a window would slide over copies.
    The largest element of a window, and 0, is that of the window if none is below 0.
    """
    draft = Draft(model)
    changed: dict[int, Node | None] = {}
    for at, node in enumerate(model.graph.node):
        if not is_one_of(node, "Conv", "AveragePool", "MaxPool"):
            continue
        pad = draft.maker(node.input[0], "Pad")
        kernel = None if pad is None else _kernel(node, draft)
        if pad is None or kernel is None:
            continue
        widths = _zeros_around(pad, draft, len(kernel))
        given = None if widths is None else _widened(node, kernel, widths)
        if given is not None and (node.op_type != "MaxPool" or _is_from_zero(pad, draft)):
            reads = [pad.input[0], *node.input[1:]]
            changed[at] = draft.node(node.op_type, reads, node.output, name=node.name, **given)
    return draft.replaced(changed)


def _kernel(node: Node, draft: Draft) -> list[int | None] | None:
    """The sizes of a window, as far as they are known."""
    if node.op_type != "Conv":
        return [*node.given_attributes.get("kernel_shape", ())]
    shape = draft.facts(node.input[1]).shape
    return None if shape is None else [None] * len(shape[_LEADING_AXES:])


def _zeros_around(pad: Node, draft: Draft, axes: int) -> list[int] | None:
    """The pads of a space, as windows have them, of a Pad that adds zeros there and no more."""
    names, rank = [*pad.input[1:], "", ""][:3], axes + _LEADING_AXES
    known = all(name in draft.tensors for name in names if name)
    if not known or pad.given_attributes.get("mode", "constant") != "constant":
        return None
    pads, fill, named = (draft.tensors[name].values.ravel() if name else () for name in names)
    along = np.asarray(named if len(named) else range(rank), np.int64)
    inside = np.all((along >= -rank) & (along < rank))
    if np.any(fill) or len(pads) != 2 * len(along) or not inside:
        return None
    sides = np.zeros((2, rank), np.int64)
    sides[:, along] = np.reshape(pads, (2, -1))
    if sides.min() < 0 or sides[:, :_LEADING_AXES].any():
        return None
    widths: list[int] = sides[:, _LEADING_AXES:].ravel().tolist()
    return widths


def _widened(node: Node, kernel: list[int | None], widths: list[int]) -> dict[str, Any] | None:
    """The attributes of a window with more pads; None if that is another function."""
    given = node.given_attributes
    own = given.get("pads", [0] * len(widths))
    if given.get("auto_pad", "NOTSET") != "NOTSET" or len(own) != len(widths):
        return None
    given["pads"] = pads = [sum(each) for each in zip(own, widths, strict=True)]
    if node.op_type == "Conv":
        return given
    plain = set(given.get("dilations", ())) <= {1} and not given.get("ceil_mode", 0)
    pairs = zip(pads, kernel * 2, strict=True)
    if not plain or node.output[1:] or any(size is None or pad >= size for pad, size in pairs):
        return None
    if node.op_type == "MaxPool":
        return given
    counts = not any(own) or given.get("count_include_pad", 0)
    return given | {"count_include_pad": 1} if counts else None


def _is_from_zero(pad: Node, draft: Draft) -> bool:
    """Whether no element that a Pad reads is below 0."""
    return draft.maker(pad.input[0], *_FROM_ZERO) is not None
