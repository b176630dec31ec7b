"""The texts of hints: models of a few nodes alone, as JSON."""

from collections.abc import Mapping, Sequence

from neat_onnx.lifting.hinted_nodes import (
    are_few_numbers,
    constants_inside,
    numbered,
    takes_integers,
)
from neat_onnx.model import DataType, Graph, Model, Node, OperatorSet, Tensor, ValueInfo
from neat_onnx.model.value import Extent
from neat_onnx.passes.draft import Draft
from neat_onnx.passes.written_attributes import without_defaults

_KINDS = {DataType.FLOAT, DataType.BOOL}  # runtimes stop at some integers, as a divisor of 0
_INTEGERS = {kind for kind in DataType if kind.is_discrete and kind is not DataType.BOOL}

_Key = tuple[object, ...]


class HintTexts:
    """The texts of one graph.

    Args:
        draft: the graph.
        sizes: the shapes of tensors of neurons, "N" for the batch.
    """

    def __init__(self, draft: Draft, sizes: Mapping[str, Sequence[Extent]]) -> None:
        self._draft, self._sizes = draft, sizes
        self._texts: dict[_Key, str | None] = {}

    def text(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        names: Sequence[str],
        *,
        throughout: bool = False,
    ) -> str | None:
        """The model of nodes alone as JSON; None if they have weights, or integers at which a
        runtime may stop, or if they do not take numbers where no type is known.

        It is written once for all nodes that differ by names alone.

        Args:
            group: the nodes.
            reads, gives, names: the tensors at their ends, and the constants.
            throughout: integers between nodes count as well as those at their ends.
        """
        constants = self._constants(names)
        inner = [each for node in group for each in constants_inside(node)]
        if constants is None or not are_few_numbers([*constants, *inner]):
            return None
        if not self._runs_always(group, reads, gives, throughout=throughout):
            return None
        key = self._key(group, reads, gives, constants)
        if key not in self._texts:
            alone = self._alone(group, reads, gives, constants)
            known = all(self._draft.facts(name).elem_type for name in (*reads, *gives))
            self._texts[key] = alone.to_json(indent=False) if known or not _errors(alone) else None
        return self._texts[key]

    def _runs_always(
        self, group: Sequence[Node], reads: Sequence[str], gives: Sequence[str], *, throughout: bool
    ) -> bool:
        """Whether no number stops a runtime, but a place that is an input."""
        ends = {name for name in (*reads, *gives) if self.kind(name) not in _KINDS}
        if not all(self.kind(name).is_discrete for name in ends):
            return False
        graph = self._draft.model.graph
        made = (name for node in group for name in node.output if name) if throughout else ()
        integers = ends.union(name for name in made if self.kind(name) in _INTEGERS)
        given = {entry.name for entry in graph.inputs}.union(gives)
        for node in group:
            its = integers.intersection((*node.input, *node.output))
            kinds = {self.kind(name) for name in its}
            if its and not takes_integers(node, kinds, self._draft.tensors, are_given=its <= given):
                return False
        return True

    def _constants(self, names: Sequence[str]) -> list[Tensor] | None:
        """The constants of these names; None if they are weights, or none."""
        tensors = self._draft.tensors
        if not all(name in tensors for name in names):
            return None
        found = [tensors[name] for name in names]
        return found if are_few_numbers(found) else None

    def _key(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        constants: Sequence[Tensor],
    ) -> _Key:
        """All that makes a difference between nodes, but for names."""
        numbers = {name: at for at, name in enumerate((*reads, *(each.name for each in constants)))}
        for name in (name for node in group for name in node.output):
            numbers.setdefault(name, len(numbers))
        operators = (
            (node.op_type, node.attributes.model_dump_json(), *map(numbers.get, node.input))
            for node in group
        )
        return (
            *operators,
            *(tuple(map(numbers.get, node.output)) for node in group),
            *((self.kind(name), *self._sizes[name]) for name in (*reads, *gives)),
            *((each.data_type, each.dims, each.values.tobytes()) for each in constants),
        )

    def _alone(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        constants: Sequence[Tensor],
    ) -> Model:
        """The model of nodes alone."""
        inputs, outputs = ([*map(self._entry, ends)] for ends in (reads, gives))
        graph = Graph(
            name="operator",
            inputs=inputs,
            outputs=outputs,
            initializer=[*constants],
            node=[*group],
        )
        opset = OperatorSet(version=self._draft.model.opset)
        return without_defaults(Model(opset_import=[opset], graph=numbered(graph)))

    def _entry(self, name: str) -> ValueInfo:
        return ValueInfo.of(name, self.kind(name), self._sizes[name])

    def kind(self, name: str) -> DataType:
        """The type of a tensor's elements."""
        return self._draft.facts(name).elem_type or DataType.FLOAT


def _errors(model: Model) -> bool:
    from neat_onnx.model.validate import validate  # noqa: PLC0415 - seldom needed

    return bool(validate(model, "onnx"))
