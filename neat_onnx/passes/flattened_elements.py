"""Elementwise operators between a Flatten of all axes and a Reshape back need neither.

scikit-learn's converter writes a QuantileTransformer so. As a single row, the samples would stand
in one axis with the features.
"""

from neat_onnx.model import Model, Node
from neat_onnx.model.wiring import subgraphs
from neat_onnx.model.draft import Draft, is_one_of
from neat_onnx.passes.elementwise import is_elementwise

_RANK = 2


def flattened_elements(model: Model) -> Model:
    """The model without Flatten of [N, F] to one row, where elements alone read it until [N, F]."""
    if not any(_is_to_a_row(node) for node in model.graph.node):
        return model
    rows = _Rows(model)
    return rows.model() if rows.found() else model


def _is_to_a_row(node: Node) -> bool:
    return is_one_of(node, "Flatten") and node.given_attributes.get("axis", 1) == 0


class _Rows:
    """The tensors that are rows of all elements of [N, F], with one F of two or more.

    So no such row is a single element, which would broadcast, and all have as many samples.
    """

    def __init__(self, model: Model) -> None:
        self._draft = Draft(model)
        self._nodes = model.graph.node
        self._outputs = {entry.name for entry in model.graph.outputs}
        self._features: int | None = None
        self._rows: set[str] = set()
        self._changed: dict[int, Node | None] = {}

    def model(self) -> Model:
        """The model with an Identity for each Flatten and each Reshape."""
        return self._draft.replaced(self._changed)

    def found(self) -> bool:
        """Whether every reader of a row takes its elements one by one, or makes it [N, F] again."""
        if any(subgraphs(node) for node in self._nodes):
            return False  # they may read a row as well
        for at, node in enumerate(self._nodes):
            reads = [name for name in node.input if name in self._rows]
            if not reads and not _is_to_a_row(node):
                continue
            if is_one_of(node, "Flatten"):
                if not (self._is_of_one_row(node) if reads else self._is_of_samples(node.input[0])):
                    return False
            elif is_one_of(node, "Reshape") and self._is_shape_of_samples(node):
                self._changed[at] = self._identity(node)
                continue
            elif not self._is_elementwise(node):
                return False
            if is_one_of(node, "Flatten"):
                self._changed[at] = self._identity(node)
            self._rows.update(node.output)
        return self._outputs.isdisjoint(self._rows)

    def _is_of_one_row(self, node: Node) -> bool:
        """Whether a Flatten of a row is that row."""
        return bool(node.given_attributes.get("axis", 1) != _RANK)

    def _is_of_samples(self, name: str) -> bool:
        """Whether a tensor is [N, F], of the same F as all others."""
        shape = self._draft.facts(name).shape
        if shape is None or len(shape) != _RANK or not isinstance(shape[1], int):
            return False
        if isinstance(shape[0], int) or shape[1] < _RANK or self._features not in (None, shape[1]):
            return False
        self._features = shape[1]
        return True

    def _is_shape_of_samples(self, node: Node) -> bool:
        """Whether a Reshape is to [N, F], by numbers or the shape of another such tensor."""
        sizes = self._draft.tensors.get(node.input[1])
        if sizes is not None:
            return node.input[0] in self._rows and sizes.values.tolist() == [-1, self._features]
        source = self._draft.maker(node.input[1], "Shape")
        if node.input[0] not in self._rows or source is None:
            return False
        cut = {"start", "end"} & source.given_attributes.keys()
        return (
            not cut and source.input[0] not in self._rows and self._is_of_samples(source.input[0])
        )

    def _is_elementwise(self, node: Node) -> bool:
        """Whether a node combines rows with each other and with single numbers, or looks them up in
        a list.
        """
        if is_one_of(node, "Gather"):
            table = self._draft.tensors.get(node.input[0])
            along = node.given_attributes.get("axis", 0) in (0, -1)
            return table is not None and table.values.ndim == 1 and along
        return is_elementwise(node) and all(
            name in self._rows or not name or self._is_single(name) for name in node.input
        )

    def _is_single(self, name: str) -> bool:
        tensor = self._draft.tensors.get(name)
        return tensor is not None and tensor.size == 1 and tensor.values.ndim <= _RANK

    def _identity(self, node: Node) -> Node:
        return self._draft.node("Identity", node.input[:1], node.output, name=node.name)
