"""Elementwise nodes read tensors as they are, not columns that were gathered from several.

Export computes neurons of one form together: the tensors that they read are joined, the columns of
each neuron gathered, and the results cut apart again for whoever reads them. Here each reader says
which columns of a result it needs, and so on through elementwise nodes, Gather and Concat back to
tensors that something else makes. Two operators of a model are two nodes again, and a sum of two
columns each is an Add.
"""

from collections.abc import Iterable

import numpy as np

from neat_onnx.model import Model, Node, Tensor
from neat_onnx.passes.draft import Draft, is_one_of, make_node, with_inputs
from neat_onnx.passes.short_form.columns import Columns, Part, followed, width_of

_MOST_TIMES, _MOST_MORE = 2, 16  # nodes, beside those there were
_WHOLE = b""
_Key = tuple[str, bytes]


def without_gathers(model: Model) -> Model:
    """The model whose elementwise nodes read columns of one tensor each, where they can.

    It is the model itself if it has no Gather or Concat, or if the nodes would be many more.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, "Gather", "Concat") for node in model.graph.node):
        return model
    needed = _Needed(Draft(model))
    return needed.model() if needed.are_few else model


class _Needed:
    """The parts of tensors that are needed, from the outputs of a graph back to its inputs."""

    def __init__(self, draft: Draft) -> None:
        self._draft, graph = draft, draft.model.graph
        made = {name: node for node in graph.node for name in node.output}
        self._followed = {node.output[0]: followed(draft, made, node) for node in graph.node}
        self._parts: dict[str, dict[_Key, Part]] = {}
        self._names: dict[_Key, str] = {}
        self._negated: dict[str, str] = {}
        self._outputs = {entry.name for entry in graph.outputs}
        self._need((entry.name, None) for entry in graph.outputs)
        for node in reversed(graph.node):
            for part in self._parts_of(node.output):
                self._need(self._read_by(node, part))

    @property
    def are_few(self) -> bool:
        """Whether a node for each part is not much more than there are now."""
        count = sum(map(len, self._parts.values()))
        return count <= _MOST_TIMES * len(self._draft.model.graph.node) + _MOST_MORE

    def model(self) -> Model:
        """The model with a node for each part that is needed."""
        graph, nodes = self._draft.model.graph, self._draft.nodes
        for name in (*(entry.name for entry in graph.inputs), *graph.tensors):
            self._give(name)
        for node in graph.node:
            if self._followed[node.output[0]] is not None:
                self._follow(node)
            elif self._parts_of(node.output):
                reads = [self._name_of((name, None)) for name in node.input]
                nodes.append(with_inputs(node, reads))
                for name in node.output:
                    self._give(name)
        return self._draft.finished()

    def _need(self, parts: Iterable[Part]) -> None:
        for name, columns in parts:
            part = self._plain(name, columns)
            known = self._parts.setdefault(name, {})
            if self._followed.get(name) is None:
                known[name, _WHOLE] = name, None
            known[_key(part)] = part

    def _plain(self, name: str, columns: Columns | None) -> Part:
        """A part, without columns if these are all, in order."""
        constant = self._draft.tensors.get(name)
        width = width_of(self._draft, name) if constant is None else constant.size
        whole = columns is None or np.array_equal(columns, np.arange(width or 0))
        return name, None if whole else columns

    def _parts_of(self, names: Iterable[str]) -> list[Part]:
        return [part for name in names for part in self._parts.get(name, {}).values()]

    def _read_by(self, node: Node, part: Part) -> list[Part]:
        """The parts that a node reads to make one."""
        way, (name, columns) = self._followed[node.output[0]], part
        if way is None:
            return [(name, None) for name in node.input if name]
        return way.reads(np.arange(width_of(self._draft, name)) if columns is None else columns)

    def _follow(self, node: Node) -> None:
        """Add a node for each part of a followed node's result, where one is needed."""
        way = self._followed[node.output[0]]
        assert way is not None
        for part in self._parts_of(node.output[:1]):
            reads = [self._name_of(each) for each in self._read_by(node, part)]
            name = self._new_name(part)
            made = way.node(self._draft, reads, name)
            same = reads[0] if made is None else self._factor_of(made, 1.0)
            if same is None or name in self._outputs:
                self._draft.nodes.append(self._simple(made or self._node("Identity", reads, name)))
            self._names[_key(part)] = same or name

    def _factor_of(self, node: Node, number: float) -> str | None:
        """The other factor of a product by a number."""
        if is_one_of(node, "Mul"):
            for factor, other in zip(node.input, node.input[::-1], strict=True):
                tensor = self._draft.tensors.get(factor)
                if tensor is not None and tensor.size == 1 and tensor.values.item() == number:
                    return other
        return None

    def _simple(self, node: Node) -> Node:
        """The node, a difference in place of a sum with a product by -1."""
        negated = self._factor_of(node, -1.0)
        if negated is not None:
            self._negated[node.output[0]] = negated
        if is_one_of(node, "Add"):
            for term, other in zip(node.input, node.input[::-1], strict=True):
                if term in self._negated:
                    return self._node("Sub", [other, self._negated[term]], node.output[0])
        return node

    def _give(self, name: str) -> None:
        """Add the parts of a tensor that stays as it is, a constant or a computed one."""
        for part in self._parts_of([name]):
            _, columns = part
            made = self._names[_key(part)] = self._new_name(part)
            if columns is None:
                continue
            tensor = self._draft.tensors.get(name)
            if tensor is None:
                places = self._draft.constant(f"{name}_places", columns)
                self._draft.nodes.append(self._node("Gather", [name, places], made, axis=1))
            else:
                values = tensor.values.ravel()[columns]
                alike = values.tobytes() == values[:1].tobytes() * len(values)
                values = values[0] if alike else values
                self._draft.tensors[made] = Tensor.of(made, values, tensor.data_type)

    def _node(self, operator: str, reads: list[str], output: str, **attributes: int) -> Node:
        return make_node(operator, reads, [output], attributes, opset=self._draft.model.opset)

    def _name_of(self, part: Part) -> str:
        return self._names[_key(self._plain(*part))] if part[0] else ""

    def _new_name(self, part: Part) -> str:
        return part[0] if part[1] is None else self._draft.name(part[0])


def _key(part: Part) -> _Key:
    return part[0], _WHOLE if part[1] is None else part[1].tobytes()
