"""How each operator's form of opsets 1 to 17 is said at opset 18."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Node
from neat_onnx.model.draft import Draft, make_node


@dataclass
class OldNode:
    """A node of an older opset, to be changed into its modern form in place.

    Attributes:
        op_type, reads, gives, attributes, name: of the node.
        opset: the opset of its model.
        draft: where new initializers and names come from.
        before, after: nodes that compute its inputs, or its former outputs.
    """

    op_type: str
    reads: list[str]
    gives: list[str]
    attributes: dict[str, Any]
    opset: int
    draft: Draft
    name: str = ""
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)

    def take(self, name: str, default: Any = None) -> Any:
        """Remove an attribute; its value."""
        return self.attributes.pop(name, default)

    def read(self, position: int, name: str) -> None:
        """Read the tensor `name` at `position`, those before it left out."""
        self.reads += [""] * (position + 1 - len(self.reads))
        self.reads[position] = name

    def constant(self, what: str, values: Any, data_type: DataType = DataType.INT64) -> str:
        """The name of a new initializer, called after the node's output.

        Raises:
            ModelError: values are missing: the node lacks an attribute.
        """
        if values is None or (isinstance(values, list) and None in values):
            self.refuse(f"the attribute '{what}' is missing")
        return self.draft.constant(f"{self.gives[0]}_{what}", values, data_type)

    def read_attribute(self, name: str) -> None:
        """Make an attribute of integers, if it is given, the second input, a constant."""
        values = self.take(name)
        if values is not None and len(self.reads) < 2:
            self.read(1, self.constant(name, values))

    def rank(self, position: int) -> int:
        """How many axes the tensor at `position` has."""
        shape = self.draft.facts(self.reads[position]).shape
        if shape is None:
            self.refuse(f"the rank of its input '{self.reads[position]}' is not known")
        return len(shape)

    def floating(self, position: int) -> DataType:
        """The element type of the tensor at `position`; FLOAT if that is not known."""
        return self.draft.facts(self.reads[position]).elem_type or DataType.FLOAT

    def refuse(self, message: str) -> NoReturn:
        """Raise ModelError about the node."""
        label = f"{self.name or next(filter(None, self.gives), '')} ({self.op_type})"
        raise ModelError(f"node {label}: {message} (opset {self.opset})")


def _binary(old: OldNode) -> None:
    """Up to opset 6 the second operand was broadcast from an axis, if that was asked for."""
    old.take("broadcast")
    axis = old.take("axis")
    if axis is None:
        return
    rank, own = old.rank(0), old.rank(1)
    missing = rank - (axis + rank if axis < 0 else axis) - own
    if 0 < missing <= rank:
        _append_axes(old, own, missing)


def _append_axes(old: OldNode, rank: int, count: int) -> None:
    """Give the second input `count` more axes of length 1 at its end."""
    tensor = old.draft.tensors.get(old.reads[1])
    if tensor is not None:
        values = tensor.values.reshape(*tensor.dims, *[1] * count)
        old.reads[1] = old.constant("operand", values, tensor.data_type)
        return
    axes = old.constant("axes", range(rank, rank + count))
    wide = old.draft.name(f"{old.reads[1]}_wide")
    old.before.append(make_node("Unsqueeze", [old.reads[1], axes], [wide]))
    old.reads[1] = wide


def _prelu(old: OldNode) -> None:
    if old.opset < 7 and old.rank(1) == 1 and old.rank(0) > 2:
        tensor = old.draft.tensors.get(old.reads[1])
        if tensor is None or tensor.size > 1:
            _append_axes(old, 1, old.rank(0) - 2)


def _clip(old: OldNode) -> None:
    if old.opset < 11:
        for position, name in ((1, "min"), (2, "max")):
            bound = old.take(name)
            if bound is not None:
                old.read(position, old.constant(name, bound, old.floating(0)))


def _pad(old: OldNode) -> None:
    if old.opset < 11:
        pads = old.take("pads", old.take("paddings"))
        value = old.take("value", 0.0)
        old.read(1, old.constant("pads", pads))
        old.read(2, old.constant("value", value, old.floating(0)))


def _slice(old: OldNode) -> None:
    if old.opset < 10:
        starts, ends, axes = old.take("starts"), old.take("ends"), old.take("axes")
        old.read(1, old.constant("starts", starts))
        old.read(2, old.constant("ends", ends))
        old.read(3, old.constant("axes", range(len(starts)) if axes is None else axes))


def _split(old: OldNode) -> None:
    if old.opset < 13:
        old.read_attribute("split")
    if len(old.reads) < 2 or not old.reads[1]:
        old.attributes["num_outputs"] = len(old.gives)


def _topk(old: OldNode) -> None:
    if old.opset < 10:
        old.read(1, old.constant("k", [old.take("k")]))


def _reshape(old: OldNode) -> None:
    if old.opset < 5:
        old.read_attribute("shape")


def _axes_input(old: OldNode) -> None:
    old.read_attribute("axes")


def _upsample(old: OldNode) -> None:
    """Upsample is Resize without a shift of half a pixel."""
    if old.opset < 7:
        scales = [1.0, 1.0, old.take("height_scale"), old.take("width_scale")]
        old.read(1, old.constant("scales", scales, DataType.FLOAT))
    elif old.opset < 9:
        old.read(1, old.constant("scales", old.take("scales"), DataType.FLOAT))
    old.op_type = "Resize"
    _resize_10(old, "floor")


def _resize(old: OldNode) -> None:
    if old.opset == 10:
        scales = old.draft.tensors.get(old.reads[1])
        if old.attributes.get("mode", "nearest") != "nearest":
            _resize_10(old, "floor")
        elif scales is None:
            old.refuse("its scales are not constant")
        elif np.any(scales.values < 1.0) and np.any(scales.values > 1.0):
            old.refuse("it makes one axis longer and another shorter")
        else:
            _resize_10(old, "ceil" if np.any(scales.values < 1.0) else "floor")


def _resize_10(old: OldNode, nearest: str) -> None:
    old.reads = [old.reads[0], "", old.reads[1]]
    mode = old.take("mode", "nearest")
    old.attributes["mode"] = "linear" if mode == "bilinear" else mode
    old.attributes["coordinate_transformation_mode"] = "asymmetric"
    if old.attributes["mode"] == "nearest":
        old.attributes["nearest_mode"] = nearest


def _softmax(old: OldNode) -> None:
    """Up to opset 12 all axes from `axis` on were one, by default from the second."""
    if old.opset >= 13:
        return
    axis, shape = old.take("axis", 1), old.draft.facts(old.reads[0]).shape
    old.attributes["axis"] = -1
    if axis == -1 or (shape is not None and axis == len(shape) - 1):
        return
    source, result = old.reads[0], old.gives[0]
    flat, soft, sizes = (old.draft.name(f"{result}_{what}") for what in ("flat", "soft", "shape"))
    old.before.append(make_node("Flatten", [source], [flat], {"axis": axis}))
    old.reads, old.gives = [flat], [soft]
    old.after.append(make_node("Shape", [source], [sizes]))
    old.after.append(make_node("Reshape", [soft, sizes], [result]))


def _dropout(old: OldNode) -> None:
    if old.opset < 12:
        old.take("ratio")
        old.take("is_test")


def _batch_normalization(old: OldNode) -> None:
    old.take("is_test")
    if old.opset < 14:
        old.gives = old.gives[:1]
    shape = old.draft.facts(old.reads[0]).shape
    if old.take("spatial", 1) != 1 and (shape is None or len(shape) != 2):
        _normalized_by_element(old)


def _normalized_by_element(old: OldNode) -> None:
    """Numbers for each element are numbers for each feature of [N, F]."""
    (source, *numbers), (result,) = old.reads, old.gives
    names = [old.draft.name(f"{result}_{each}") for each in ("flat", "normal", "sizes")]
    flat, normal, sizes = names
    line = old.constant("line", [-1])
    rows = [old.draft.name(f"{name}_line") for name in numbers]
    old.before.append(make_node("Flatten", [source], [flat], {"axis": 1}))
    old.before += [
        make_node("Reshape", [name, line], [row]) for name, row in zip(numbers, rows, strict=True)
    ]
    old.reads, old.gives = [flat, *rows], [normal]
    old.after.append(make_node("Shape", [source], [sizes]))
    old.after.append(make_node("Reshape", [normal, sizes], [result]))


def _mean_variance(old: OldNode) -> None:
    """ONNX's own function body has no default of its axes."""
    old.attributes.setdefault("axes", [0, 2, 3])


def _cast(old: OldNode) -> None:
    to = old.attributes.get("to")
    if isinstance(to, str):
        old.attributes["to"] = int(DataType.__members__.get(to.upper(), 0))


def _concat(old: OldNode) -> None:
    old.attributes.setdefault("axis", 1)


def _gemm(old: OldNode) -> None:
    old.take("broadcast")


def _selu(old: OldNode) -> None:
    if old.opset < 6:
        old.attributes.setdefault("alpha", 1.6732)
        old.attributes.setdefault("gamma", 1.0507)


def _recurrent(old: OldNode) -> None:
    old.take("output_sequence")


def _scatter(old: OldNode) -> None:
    old.op_type = "ScatterElements"


def _scan(old: OldNode) -> None:
    if old.opset < 9:
        old.refuse("Scan of opset 8 has no modern form")


def _tile(old: OldNode) -> None:
    """Up to opset 5 it repeated one axis."""
    if old.opset < 6:
        tiles, axis = (old.draft.tensors.get(name) for name in (*old.reads, "", "")[1:3])
        rank = old.rank(0)
        if tiles is None or axis is None or not -rank <= (along := int(axis.values.flat[0])) < rank:
            old.refuse("its tiles and its axis have to be constant")
        repeats = [1] * rank
        repeats[along] = int(tiles.values.flat[0])
        old.reads = [old.reads[0], old.constant("repeats", repeats)]


def _lp(old: OldNode) -> None:
    if isinstance(old.attributes.get("p"), float):
        old.attributes["p"] = int(old.attributes["p"])


def _roi_align(old: OldNode) -> None:
    if old.opset < 16:
        old.attributes["coordinate_transformation_mode"] = "output_half_pixel"


FORMS: dict[str, Callable[[OldNode], None]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor"), _binary),
    **dict.fromkeys(("Equal", "Greater", "Less"), _binary),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _softmax),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), _recurrent),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _axes_input),
    **{f"Reduce{kind}": _axes_input for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1")},
    **{f"Reduce{kind}": _axes_input for kind in ("L2", "LogSum", "LogSumExp", "SumSquare")},
    **dict.fromkeys(("LpPool", "GlobalLpPool"), _lp),
    "BatchNormalization": _batch_normalization,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Dropout": _dropout,
    "Gemm": _gemm,
    "MeanVarianceNormalization": _mean_variance,
    "PRelu": _prelu,
    "Pad": _pad,
    "Reshape": _reshape,
    "Resize": _resize,
    "RoiAlign": _roi_align,
    "Scan": _scan,
    "Scatter": _scatter,
    "Selu": _selu,
    "Slice": _slice,
    "Split": _split,
    "Tile": _tile,
    "TopK": _topk,
    "Upsample": _upsample,
}  # fmt: skip
