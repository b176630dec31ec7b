"""A Scan over the rows of a constant that hands a tensor on is one subtraction of tensors.

scikit-learn's converters write distances so: each step takes one row from the whole tensor, and
sums over the features. With an axis more for the rows, the body is its own nodes once.
"""

from typing import Any

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.draft import Draft, is_one_of, with_replaced

_ELEMENTWISE = ("Abs", "Add", "Div", "Mul", "Neg", "Pow", "Sqrt", "Sub")
_REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceSumSquare")
_FEATURES = ([1], [-1])
_ORDER = ("scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions")
_WHOLE, _REDUCED = 3, 2  # axes


def scanned_rows(model: Model) -> Model:
    """The model with nodes on all rows in place of each Scan that combines them with one tensor."""
    return with_replaced(model, "Scan", _at_once)


def _at_once(node: Node, draft: Draft) -> list[Node] | None:
    """The nodes that compute the same as a Scan of this form; None for any other."""
    given = node.given_attributes
    body = given["body"]
    rows = draft.tensors.get(node.input[-1])
    fits = len(node.input) == len(node.output) == len(body.inputs) == len(body.outputs) == 2
    plain = not any(any(given.get(name, ())) for name in _ORDER)
    if not fits or not plain or rows is None or rows.values.ndim != 2:
        return None
    if len(draft.facts(node.input[0]).shape or body.inputs[0].shape or ()) != 2:
        return None
    return _Body(draft, node, body).nodes()


class _Body:
    """The nodes of a body, on all rows at once.

    A tensor is [rows, samples, features], or [rows, samples] once its features are reduced.
    """

    def __init__(self, draft: Draft, node: Node, body: Graph) -> None:
        self._draft, self._node, self._body = draft, node, body
        self._constants = draft.tensors | body.tensors
        self._nodes: list[Node] = []
        self._names: dict[str, str] = {}  # of the tensors of the body, and on all rows
        self._ranks: dict[str, int] = {}
        self._by_row: set[str] = set()
        self._handed_on: set[str] = set()

    def nodes(self) -> list[Node] | None:
        """The nodes, which give the outputs of the Scan; None where the body has other nodes."""
        draft, (whole, rows) = self._draft, self._node.input
        state, row = (entry.name for entry in self._body.inputs)
        values = draft.tensors[rows]
        self._names = {
            state: draft.name(f"{whole}_rows"),
            row: draft.constant(f"{rows}_rows", values.values[:, None, :], values.data_type),
        }
        self._ranks = dict.fromkeys(self._names, _WHOLE)
        self._by_row, self._handed_on = {row}, {state}
        axes = draft.constant(f"{whole}_axes", [0])
        self._emit("Unsqueeze", [whole, axes], self._names[state])
        if not all(self._is_known(inner) for inner in self._body.node):
            return None
        kept, result = (entry.name for entry in self._body.outputs)
        if kept not in self._handed_on or result not in self._by_row:
            return None
        if self._ranks[result] != _REDUCED:
            return None
        for name, source in zip(self._node.output, (whole, self._names[result]), strict=True):
            if name:
                self._emit("Identity", [source], name)
        return self._nodes

    def _is_known(self, node: Node) -> bool:
        """Whether a node of the body has a form on all rows, which is emitted."""
        computed = [name for name in node.input if name in self._names]
        if not computed or len(node.output) != 1:
            return False
        (name,), rank = node.output, self._ranks[computed[0]]
        if is_one_of(node, "Identity"):
            self._names[name] = self._names[computed[0]]
            self._handed_on |= {name} if computed[0] in self._handed_on else set()
        elif is_one_of(node, *_ELEMENTWISE) and self._are_alike(node, rank):
            self._renamed(node, [self._names.get(each) or self._number(each)
                                 for each in node.input])  # fmt: skip
        elif is_one_of(node, *_REDUCTIONS) and self._is_over_features(node, rank):
            axes = self._draft.constant(f"{name}_axes", [_WHOLE - 1])
            self._renamed(node, [self._names[computed[0]], axes], keepdims=0)
            rank = _REDUCED
        else:
            return False
        self._ranks[name] = rank
        self._by_row |= {name} if not self._by_row.isdisjoint(computed) else set()
        return True

    def _are_alike(self, node: Node, rank: int) -> bool:
        """Whether all operands are tensors of one rank, or single numbers."""
        return all(
            self._ranks[name] == rank
            if name in self._names
            else name in self._constants and self._constants[name].size == 1
            for name in node.input
        )

    def _number(self, name: str) -> str:
        """The initializer of a single number, without axes."""
        tensor = self._constants[name]
        return self._draft.constant(name, tensor.values.reshape(()), tensor.data_type)

    def _is_over_features(self, node: Node, rank: int) -> bool:
        """Whether a reduction is along the features, which it takes away."""
        axes = self._constants.get(node.input[1]) if len(node.input) == 2 else None
        kept = node.given_attributes.get("keepdims", 1)
        along = axes is not None and axes.values.tolist() in _FEATURES
        return rank == _WHOLE and not kept and along

    def _renamed(self, node: Node, reads: list[str], **attributes: Any) -> None:
        """Emit the node on all rows."""
        wish = f"{self._node.output[1]}_{node.op_type.lower()}"
        self._names[node.output[0]] = self._draft.name(wish)
        self._emit(node.op_type, reads, self._names[node.output[0]], **attributes)

    def _emit(self, op_type: str, reads: list[str], gives: str, **attributes: Any) -> None:
        self._nodes.append(self._draft.node(op_type, reads, [gives], **attributes))
