"""The interpreter: node after node, each computed by the function of its operator.

Functions, branches and bodies of loops are graphs that it runs in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import neat_onnx.operators.families  # noqa: F401 - registers them
from neat_onnx.errors import ModelError, NeatOnnxError, abridged, all_obstacles
from neat_onnx.lifting.neurons import Neurons, folded
from neat_onnx.lifting.operator import OPERATORS, Arguments, Operator, Refusal, numbers_of, refuse
from neat_onnx.lifting.tape import Tape
from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.budget import LimitReached, require_elements
from neat_onnx.model.graph import ONNX_DOMAINS, parse_node, schema_of
from neat_onnx.model.wiring import reads, subgraphs
from neat_onnx.operators.refused import REFUSED

_MAX_NESTED = 50
_NESTING = ("If", "Loop", "Scan")
_LARGE = 4096  # elements of numbers that are counted
_MANY_AXES = 16
_FAULTS = (ValueError, LookupError, ArithmeticError, TypeError, AttributeError, MemoryError)

Environment = dict[str, Any]


class Function(NamedTuple):
    """The nodes that an operator stands for, and the names of its inputs and outputs in them."""

    inputs: list[str]
    outputs: list[str]
    node: list[Node]


class Interpreter:
    """Runs the graphs of one model on numbers and on neurons.

    Attributes:
        tape: the neurons that were made.
        opsets: the version of each domain, "" for ONNX's own.
        inner: the tensors of graphs that are attributes, as their first run gave them.
    """

    def __init__(self, model: Model, tape: Tape | None = None) -> None:
        self.tape = Tape() if tape is None else tape
        self.inner: Environment = {}
        self.lost: set[str] = set()
        self.opsets = {
            "" if entry.domain in ONNX_DOMAINS else entry.domain: entry.version
            for entry in model.opset_import
        }
        self.opsets.setdefault("", model.opset)
        self._bodies: list[Function] = []  # held, so that no node takes the place of another
        self._checked: dict[int, tuple[Operator, Arguments]] = {}  # by a node's identity
        self._depth = 0

    # --- graphs ---------------------------------------------------------------------------------

    def run_graph(
        self,
        graph: Graph,
        inputs: Mapping[str, Any],
        outputs: Iterable[str] | None = None,
        around: Environment | None = None,
    ) -> Environment:
        """Run the nodes that the outputs depend on.

        Args:
            graph: the graph.
            inputs: its inputs by name; those that are left out have initializers.
            outputs: the names of the tensors that are wanted; None for the graph's outputs.
            around: the tensors of the graph that this one is inside of.

        Returns:
            All tensors by name.

        Raises:
            ModelError: it tells of every node that is not supported.
        """
        wanted = [entry.name for entry in graph.outputs] if outputs is None else [*outputs]
        nodes = needed_nodes(graph.node, wanted)
        self.check(nodes)
        tensors: Environment = dict(around or {})
        tensors.update((tensor.name, numbers_of(tensor)) for tensor in graph.initializer)
        tensors.update(inputs)
        with np.errstate(all="ignore"):
            self._run_all(nodes, tensors)
        if missing := [name for name in wanted if name not in tensors]:
            raise ModelError(f"nothing gives the output '{missing[0]}'", where="graph.outputs")
        return tensors

    def _run_all(self, nodes: Sequence[Node], tensors: Environment) -> None:
        """Run nodes; those that read what a faulty one gives are passed over."""
        self.tape.budget.take("nodes", len(nodes), self.tape.where)
        faults: list[ModelError] = []
        missing: set[str] = set()
        for node in nodes:
            if missing and not missing.isdisjoint(reads(node)):
                missing.update(node.output)
                continue
            try:
                self.run_node(node, tensors)
            except LimitReached:
                raise
            except ModelError as error:
                faults.append(error.with_traceback(None))
                missing.update(filter(None, node.output))
                self.lost.update(filter(None, node.output))
        if faults:
            raise all_obstacles(faults)

    def check(self, nodes: Iterable[Node]) -> None:
        """Refuse operators, numbers of inputs and attributes, all at once."""
        faults = []
        for node in nodes:
            if (fault := self._fault(node)) is not None:
                faults.append(fault)
                self.lost.update(filter(None, node.output))
        if faults:
            raise all_obstacles(faults)

    def _fault(self, node: Node) -> ModelError | None:
        if id(node) in self._checked:
            return None
        key = _key(node)
        known, version = OPERATORS.get(key), self.opsets.get(key[0], 1)
        try:
            if known is not None and known.since <= version:
                self._checked[id(node)] = known, known.check(node)
            elif node.op_type in REFUSED or not has_body(*key, version):
                where = f" of the domain {key[0]}" if key[0] else ""
                text = f"the operator {node.op_type}{where} is not supported"
                raise Refusal(text, REFUSED.get(node.op_type))
            for graph in subgraphs(node):
                self.check(graph.node)
        except Refusal as error:
            return ModelError(f"node {node.label}: {error}", where=node.label, hint=error.hint)
        except ModelError as error:
            return error
        return None

    # --- nodes ----------------------------------------------------------------------------------

    def run_node(self, node: Node, tensors: Environment) -> None:
        """Compute the outputs of a node.

        Raises:
            ModelError: it cannot; the message names the node.
        """
        try:
            inputs = [tensors[name] if name else None for name in node.input]
        except KeyError as error:
            message = f"node {node.label}: nothing gives its input {error}"
            raise ModelError(message, where=node.label) from None
        self.tape.where = node.label
        try:
            found = self._outputs(node, inputs, tensors)
        except Refusal as error:
            raise ModelError(
                f"node {node.label}: {error}", where=node.label, hint=error.hint
            ) from None
        except LimitReached as error:
            if error.node:
                raise
            raise error.of(node.label) from None
        except ModelError:
            raise
        except NeatOnnxError as error:  # of a network's part, as a window
            message = f"node {node.label}: {error.message}"
            raise ModelError(message, where=node.label, hint=error.hint) from None
        except _FAULTS as error:
            shapes = abridged(_shape_text(x) for x in inputs if x is not None)
            given = f" with inputs of the shapes {shapes}" if shapes else ""
            message = f"node {node.label}: it is not supported{given}: {error}"
            raise ModelError(message, where=node.label) from error
        for name, value in zip(node.output, found, strict=False):
            if name:
                held = self._held(value)
                tensors[name] = held.of_tensor(name) if isinstance(held, Neurons) else held

    def _outputs(self, node: Node, inputs: list[Any], tensors: Environment) -> Sequence[Any]:
        if (checked := self._checked.get(id(node))) is not None:
            known, arguments = checked
            if len(inputs) > 1:
                _require_broadcast([x for x in inputs if x is not None])
            found = known.call(inputs, arguments, self._given(known, node, tensors))
            if known.name in _NESTING and len(node.output) > len(found):
                raise refuse("the number of outputs", len(node.output), f"{len(found)} at most")
            return found
        key = _key(node)
        function = body_of(node, key, inputs, self.opsets.get(key[0], 1))
        self._bodies.append(function)
        return self._run_function(function, inputs)

    def _given(self, known: Operator, node: Node, tensors: Environment) -> dict[str, Any]:
        if not known.given:
            return {}

        def run(graph: Graph, *inputs: Any) -> list[Any]:
            names = [entry.name for entry in graph.inputs]
            found = self.run_graph(graph, dict(zip(names, inputs, strict=False)), None, tensors)
            names += [name for inner in graph.node for name in inner.output]
            self.inner = {name: found[name] for name in names if name in found} | self.inner
            return [found[entry.name] for entry in graph.outputs]

        run.around = tensors.values()  # type: ignore[attr-defined]
        version = self.opsets.get(known.domain, 1)
        return {"opset": version, "outputs": len(node.output), "run": run}

    def _held(self, value: Any) -> Any:
        """A result as it is kept: numbers where no element is a neuron's, and counted."""
        if isinstance(value, Neurons):
            if value.size > self.tape.budget.limits.neurons:  # the same ones again and again
                self.tape.budget.take("elements", value.size, self.tape.where)
            return folded(value)
        value = np.asarray(value)
        if value.size > _LARGE:
            self.tape.budget.take("elements", value.size, self.tape.where)
        return value

    # --- functions ------------------------------------------------------------------------------

    def _run_function(self, function: Function, inputs: Sequence[Any]) -> list[Any]:
        if len(inputs) > len(function.inputs):
            raise Refusal(f"{len(inputs)} inputs, expected {len(function.inputs)}")
        tensors: Environment = dict.fromkeys(function.inputs)
        tensors.update(zip(function.inputs, inputs, strict=False))
        self._depth += 1
        if self._depth > _MAX_NESTED:
            raise Refusal(f"functions call each other more than {_MAX_NESTED} deep")
        self.check(function.node)
        self._run_all(function.node, tensors)
        self._depth -= 1
        return [tensors.get(name) for name in function.outputs]


def _shape_text(x: Any) -> str:
    shape = x.shape if isinstance(x, Neurons) else np.shape(x)
    return str(list(shape)) if len(shape) <= _MANY_AXES else f"of {len(shape)} axes"


def _require_broadcast(inputs: Sequence[Any]) -> None:
    """Refuse tensors of which operators would make one that is too large."""
    shapes = [np.shape(x) if not isinstance(x, Neurons) else x.shape for x in inputs]
    if math.prod(max(1, math.prod(shape)) for shape in shapes) > _LARGE:
        with suppress(ValueError):  # they do not go together: the operator knows what to do
            require_elements(*np.broadcast_shapes(*shapes))


def _key(node: Node) -> tuple[str, str]:
    return ("" if node.domain in ONNX_DOMAINS else node.domain), node.op_type


def needed_nodes(nodes: Sequence[Node], outputs: Iterable[str]) -> list[Node]:
    """The nodes that tensors depend on, in order."""
    wanted, found = set(outputs), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output):
            found.append(node)
            wanted.update(reads(node))
    return found[::-1]


# --- what ONNX defines by other operators ---------------------------------------------------------


@lru_cache(maxsize=1024)
def has_body(domain: str, op_type: str, version: int) -> bool:
    """Whether ONNX defines an operator by others."""
    if domain not in ("", "ai.onnx.ml"):
        return False
    schema = schema_of(op_type, domain, version)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def body_of(node: Node, key: tuple[str, str], inputs: Sequence[Any], version: int) -> Function:
    """The function that ONNX defines a node by, its attributes put in.

    Raises:
        Refusal: ONNX has none for these inputs and attributes.
    """
    import onnx  # noqa: PLC0415 - slow to import

    from neat_onnx.model.proto import node_to_proto  # noqa: PLC0415

    schema = schema_of(key[1], key[0], version)
    proto = node_to_proto(node)
    given = {entry.name: entry for entry in proto.attribute}
    if schema.has_function:
        found = schema.function_body
    else:
        kinds = [_type_of(each) for each in inputs]
        try:
            data = schema.get_context_dependent_function(proto.SerializeToString(), kinds)
        except RuntimeError as error:
            raise Refusal(f"ONNX has no function for it: {error}") from None
        found = onnx.FunctionProto.FromString(data)
    for name, entry in schema.attributes.items():
        if name not in given and entry.default_value.type:
            given[name] = entry.default_value
    return _with_attributes(found, given, version)


def _type_of(value: Any) -> bytes:
    import onnx  # noqa: PLC0415 - slow to import

    if value is None:
        return bytes(onnx.TypeProto().SerializeToString())
    kind = value.dtype if isinstance(value, Neurons) else np.asarray(value).dtype
    code = 1 if kind.kind == "f" else onnx.helper.np_dtype_to_tensor_dtype(kind)
    return bytes(onnx.helper.make_tensor_type_proto(code, value.shape).SerializeToString())


def _with_attributes(proto: Any, given: Mapping[str, Any], version: int) -> Function:
    from neat_onnx.model.proto import document_of_message  # noqa: PLC0415

    nodes = []
    for each in proto.node:
        kept = []
        for entry in each.attribute:
            if not entry.ref_attr_name:
                kept.append(entry)
            elif entry.ref_attr_name in given:
                value = type(entry)()
                value.CopyFrom(given[entry.ref_attr_name])
                value.name = entry.name
                kept.append(value)
        changed = type(each)()
        changed.CopyFrom(each)
        del changed.attribute[:]
        changed.attribute.extend(kept)
        _state_types(changed)
        opsets = {entry.domain: entry.version for entry in proto.opset_import}
        nodes.append(parse_node(document_of_message(changed), {"opset": opsets.get("", version)}))
    return Function(list(proto.input), list(proto.output), nodes)


def _state_types(node: Any) -> None:
    """Give inputs and outputs of inner graphs a type, which ONNX's own functions leave out."""
    for entry in node.attribute:
        for port in (*entry.g.input, *entry.g.output):
            if not port.HasField("type"):
                port.type.tensor_type.elem_type = 1
        for inner in entry.g.node:
            _state_types(inner)
