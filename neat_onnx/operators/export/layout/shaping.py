"""Concat, Split, Gather, Transpose and their kind: elements move, nothing is computed.

Lifting them rearranges signals and costs nothing.
"""

from neat_onnx.model import Attributes, Node


class ConcatAttributes(Attributes):
    """Attributes of Concat: the axis."""

    axis: int


class Concat(Node):
    """The inputs joined along one axis; batches are taken apart again by a Reshape."""

    inputs = (1, None)
    since = 13
    attributes: ConcatAttributes


class SplitAttributes(Attributes):
    """Attributes of Split: the axis, and the number of outputs from opset 18 on."""

    axis: int = 0
    num_outputs: int | None = None


class Split(Node):
    """Parts of X along one axis, of constant sizes or of equal ones."""

    inputs = (1, 2)
    outputs = (1, None)
    since = 13
    attributes: SplitAttributes = SplitAttributes.defaults()


class GatherAttributes(Attributes):
    """Attributes of Gather: the axis."""

    axis: int = 0


class Gather(Node):
    """The slices along one axis at constant indices; of a constant at computed ones, too."""

    inputs = (2, 2)
    since = 13
    attributes: GatherAttributes = GatherAttributes.defaults()


class ReshapeAttributes(Attributes):
    """Attributes of Reshape: whether a 0 in the shape is a size, or copies that of the input."""

    allowzero: int = 0


class Reshape(Node):
    """The same elements, in C order, in a constant shape."""

    inputs = (2, 2)
    since = 13
    attributes: ReshapeAttributes = ReshapeAttributes.defaults()


class FlattenAttributes(Attributes):
    """Attributes of Flatten: the axis from which on elements are in one row."""

    axis: int = 1


class Flatten(Node):
    """A matrix: the axes before `axis` as rows, the others as columns."""

    since = 13
    attributes: FlattenAttributes = FlattenAttributes.defaults()


class TransposeAttributes(Attributes):
    """Attributes of Transpose: the order of axes; None reverses them."""

    perm: tuple[int, ...] | None = None


class Transpose(Node):
    """The axes in another order."""

    since = 13
    attributes: TransposeAttributes = TransposeAttributes.defaults()


class Squeeze(Node):
    """X without some axes of length 1, or without all of them."""

    inputs = (1, 2)
    since = 13


class Unsqueeze(Node):
    """X with new axes of length 1 at constant places."""

    inputs = (2, 2)
    since = 13


class Slice(Node):
    """Parts of some axes: constant starts, ends and steps."""

    inputs = (3, 5)
    since = 13


class Identity(Node):
    """X itself."""

    since = 13


class DropoutAttributes(Attributes):
    """Attributes of Dropout: the seed, which is for training only."""

    seed: int | None = None


class Dropout(Node):
    """The identity, as in inference; an optional mask that keeps everything."""

    inputs = (1, 3)
    outputs = (1, 2)
    since = 13
    attributes: DropoutAttributes = DropoutAttributes.defaults()
