"""A ModelProto brought to what models here hold: graphs whose values are tensors of stated types.

- Local functions are put in the place of their calls. A few lines of calls can ask for millions of
  nodes: how many there will be is counted first.
- Outputs that are no tensors of numbers go. A classifier of scikit-learn gives its probabilities as
  a list of maps, made by a ZipMap node of a table [N, classes]; its labels may be texts, and one of
  several targets gives a sequence of tables.
- Types that a writer may leave out are inferred: of graph outputs, and of values in graphs inside
  nodes.
"""

import copy
import re
from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

import onnx

from neat_onnx.errors import ModelError, warn
from neat_onnx.model.budget import Budget
from neat_onnx.model.crashes import nodes_in, own_graphs, refuse_negative_sizes, tensors_read
from neat_onnx.model.graph import ONNX_DOMAINS, schema_of
from neat_onnx.model.value import KINDS


def with_missing_types(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types that onnx infers for the values that state none.

    These are its outputs, to which tensors inside the graph are often added by their names alone,
    and the inputs and outputs of graphs inside its nodes.

    A model that states them all stays as it is, as does a value whose type cannot be inferred.
    """
    if not any(_is_untyped(entry) for entry in _values(proto.graph)):
        return proto
    from onnx import shape_inference  # noqa: PLC0415 - slow to import

    typed = copy.deepcopy(proto)
    for entry in (*typed.graph.input, *typed.graph.value_info, *typed.graph.output):
        for size in entry.type.tensor_type.shape.dim:
            if size.dim_value < 0:  # as some writers state a size that varies
                size.Clear()
    refuse_negative_sizes(typed)
    try:
        inferred = shape_inference.infer_shapes(typed)
    except (shape_inference.InferenceError, RuntimeError, ValueError):
        return proto
    stated = {entry.name: entry.type for entry in inferred.graph.value_info}
    for entry, found in zip(_values(typed.graph), _values(inferred.graph), strict=True):
        if _is_untyped(entry):  # inference gives an output no type that `value_info` states
            kind = stated.get(entry.name, found.type) if _is_untyped(found) else found.type
            entry.type.CopyFrom(kind)
    return typed


def _is_untyped(entry: onnx.ValueInfoProto) -> bool:
    kind = entry.type.WhichOneof("value")
    return kind is None or (kind == "tensor_type" and not entry.type.tensor_type.elem_type)


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """The outputs of a graph; inputs and outputs of graphs in its nodes, and of those in them."""
    yield from graph.output
    for node in nodes_in(graph.node):
        for inner in own_graphs(node):
            yield from (*inner.input, *inner.output)


def without_labels(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with tables of numbers where it had maps, without outputs of text or sequences.

    Warnings name each. A model that has none of these, or nothing else, stays as it is.
    """
    maps = {
        node.output[0]
        for node in proto.graph.node
        if node.op_type == "ZipMap" and node.domain == "ai.onnx.ml" and node.input and node.output
    }
    maps &= {entry.name for entry in proto.graph.output}
    kinds = {entry.name: _kind_of(entry) for entry in proto.graph.output}
    others = {name: kind for name, kind in kinds.items() if kind and name not in maps}
    if not maps and (not others or len(others) == len(kinds)):
        return proto
    plain = onnx.ModelProto()
    plain.CopyFrom(proto)
    for node in plain.graph.node:
        if not maps.isdisjoint(node.output):
            node.CopyFrom(onnx.helper.make_node("Identity", node.input, node.output, node.name))
    for name in sorted(maps):
        table = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", None])
        next(entry for entry in plain.graph.output if entry.name == name).CopyFrom(table)
        warn(f"the output '{name}' is a list of maps: it is taken as the table of their numbers")
    for name, kind in others.items():
        warn(f"the output '{name}' is {kind}, and is left out")
    if set(kinds) - set(others):
        _drop_outputs(plain.graph, others)
    return plain


def _kind_of(entry: onnx.ValueInfoProto) -> str:
    """The kind of an output that is no tensor of numbers; nothing for one that is."""
    text = entry.type.tensor_type.elem_type == onnx.TensorProto.STRING
    return KINDS.get(entry.type.WhichOneof("value") or "", "text" if text else "")


def _drop_outputs(graph: onnx.GraphProto, names: Collection[str]) -> None:
    """Drop outputs, and the nodes and initializers that no other output depends on."""
    needed = {entry.name for entry in graph.output}.difference(names)
    producer = {name: node for node in graph.node for name in node.output if name}
    pending = list(needed)
    while pending:
        node = producer.get(pending.pop())
        fresh = set() if node is None else tensors_read([node]) - needed
        needed |= fresh
        pending += fresh
    for field in (graph.output, graph.initializer, graph.node):
        for at in reversed(range(len(field))):
            made = field[at].output if field is graph.node else [field[at].name]
            if needed.isdisjoint(made):
                del field[at]


_Key = tuple[str, str, str]
_ASSERTION = re.compile(r"^\S+:\d+: \w+: Assertion `.*?` failed: ")  # of onnx's own code


def inlined(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model without local functions.

    Raises:
        ModelError: functions call each other in a circle, or there would be too many nodes.
    """
    from onnx.inliner import inline_local_functions  # noqa: PLC0415 - seldom needed

    proto = _of_one_opset(proto)
    sizes = _sizes(proto)
    Budget().take("nodes", sum(sizes.get(key, 1) for key in _calls(proto.graph.node)))
    try:
        whole = inline_local_functions(proto, convert_version=True)
    except Exception as error:  # of C++, of several classes
        why = _ASSERTION.sub("", str(error))
        message = f"its local functions cannot be inlined: {why}"
        raise ModelError(message, hint=_hint(proto)) from error
    if whole.functions:
        left = ", ".join(function.name for function in whole.functions)
        raise ModelError(f"its local functions cannot be inlined: {left}", where="functions")
    return whole


def _of_one_opset(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with functions of its opset where their operators have the same form in both."""
    made, wanted = copy.deepcopy(proto), _opset(proto)
    for function in made.functions:
        given = _opset(function)
        operators = {(name, domain) for domain, name, _ in _calls(function.node)}
        if (
            given
            and wanted
            and all(_form(*each, given[0]) == _form(*each, wanted[0]) for each in operators)
        ):
            for entry in function.opset_import:
                if entry.domain in ONNX_DOMAINS:
                    entry.version = wanted[0]
    return made


def _form(op_type: str, domain: str, opset: int) -> int:
    """The first opset that has an operator of ONNX in its form; 0 of another domain."""
    schema = schema_of(op_type, "", opset) if domain in ONNX_DOMAINS else None
    return 0 if schema is None else int(schema.since_version)


def _hint(proto: onnx.ModelProto) -> str | None:
    """A way out where functions have other opsets than the model, which onnx has to convert."""
    others = {*map(tuple, map(_opset, proto.functions))} - {tuple(_opset(proto)), ()}
    if not others:
        return None
    opsets = ", ".join(str(version) for (version, *_) in sorted(others))
    return (
        f"They are of opset {opsets}, the model is of {_opset(proto)[0]}: "
        "exported anew with one opset for all there is nothing to convert"
    )


def _opset(part: onnx.FunctionProto | onnx.ModelProto) -> list[int]:
    return [entry.version for entry in part.opset_import if entry.domain in ONNX_DOMAINS]


def _sizes(proto: onnx.ModelProto) -> dict[_Key, int]:
    """How many nodes a call of each function is, calls in it included."""
    calls = {(f.domain, f.name, f.overload): _calls(f.node) for f in proto.functions}
    sizes: dict[_Key, int] = {}
    try:
        for function in TopologicalSorter(calls).static_order():
            sizes[function] = (
                sum(sizes[each] for each in calls[function]) if function in calls else 1
            )
    except CycleError as error:
        raise ModelError(
            f"the function '{error.args[1][0][1]}' calls itself, directly or through others",
            where="functions",
            hint="ONNX functions are put in the place of their calls: they cannot recur",
        ) from None
    return sizes


def _calls(nodes: Iterable[onnx.NodeProto]) -> list[_Key]:
    """The nodes, and the nodes of the graphs inside them."""
    return [(node.domain, node.op_type, node.overload) for node in nodes_in(nodes)]
