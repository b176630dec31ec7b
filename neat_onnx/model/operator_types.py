"""The types of an operator's inputs and outputs, by ONNX's schema of it."""

from collections.abc import Sequence
from functools import cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from neat_onnx.model.graph import NEWEST_OPSET
from neat_onnx.model.node import Node
from neat_onnx.model.open_node import schema_of

_MIXED = ""  # a list of tensors, each of a type of its own


class OperatorTypes(NamedTuple):
    """The types of an operator's inputs and outputs, as ONNX names them: `T`, or one type.

    The last stands for all that may follow.

    Attributes:
        inputs, outputs: the types.
        whole: the ones that are integers, whatever the node reads.
        open: the ones that may be integers, or something else.
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()

    def alike(self, node: Node) -> tuple[list[bool], list[bool]]:
        """Which inputs, and which outputs, of a node are of the type of its first output."""
        return self._alike(self.inputs, node.input), self._alike(self.outputs, node.output)

    def _alike(self, kinds: tuple[str, ...], names: list[str]) -> list[bool]:
        return [kind in self.outputs[:1] for kind in _each(kinds, names)]

    def integers(self, node: Node, given: Sequence[bool]) -> list[bool] | None:
        """Which outputs of a node are of integers.

        An output whose type no input has, as that of a Cast, is taken to be none.

        Args:
            node: of the operator.
            given: which of its inputs are.

        Returns:
            None where the operator has no schema, or one that does not tell.
        """
        kinds = _each(self.outputs, node.output)
        if None in kinds or _MIXED in kinds:
            return None
        reads = zip(_each(self.inputs, node.input), given, strict=True)
        found = self.whole | ({kind for kind, whole in reads if whole} & self.open)
        return [kind in found for kind in kinds]


def _each(kinds: tuple[str, ...], names: list[str]) -> list[str | None]:
    """The type of each of these inputs or outputs."""
    each = chain(kinds, repeat(kinds[-1])) if kinds else repeat(None)
    return [kind for kind, _ in zip(each, names, strict=False)]


@cache
def operator_types(op_type: str, domain: str) -> OperatorTypes:
    """The types in ONNX's schema of an operator; none if there is no schema."""
    schema = schema_of(op_type, domain, NEWEST_OPSET)
    if schema is None:
        return OperatorTypes()
    allowed = _allowed(schema)
    only = {name: kinds[0] for name, kinds in allowed.items() if len(kinds) == 1}
    inputs, outputs = (
        tuple(
            only.get(entry.type_str, entry.type_str) if entry.is_homogeneous else _MIXED
            for entry in side
        )
        for side in (schema.inputs, schema.outputs)
    )
    ever = {kind: {*allowed.get(kind, [kind])} for kind in (*inputs, *outputs)}
    while not domain and (schema := schema_of(op_type, domain, schema.since_version - 1)):
        for kind, names in _allowed(schema).items():  # a newer form may have fewer types
            ever.get(kind, set()).update(names)
    are = {kind: [*map(_is_integer, names)] for kind, names in ever.items()}
    return OperatorTypes(
        inputs,
        outputs,
        whole=frozenset(kind for kind, each in are.items() if all(each)),
        open=frozenset(kind for kind, each in are.items() if any(each)),
    )


def _allowed(schema: Any) -> dict[str, list[str]]:
    """The types that each of a schema's own names stands for."""
    return {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}


def _is_integer(kind: str) -> bool:
    return kind.startswith(("tensor(int", "tensor(uint"))
