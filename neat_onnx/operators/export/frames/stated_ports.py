"""Ports in the types, and with the batch and time, that another tool's graph gave them.

A network computes with numbers, samples first; of a sequence time first, then the samples. Inputs
of integers or truth values become numbers by a Cast, and axes that stand elsewhere are moved by a
Transpose. Outputs are given as integers or truth values only where the graph computes such, so that
nothing is rounded, and as the last step where they were. Inputs and outputs of FLOAT16 have it; the
numbers between them are not rounded. Ports of DOUBLE have it beside others of FLOAT.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from neat_onnx.model import DataType, Model, Node, ValueInfo
from neat_onnx.model.draft import Draft, HandedOn, Step, is_one_of, renamed, with_graph
from neat_onnx.model.wiring import without_dead
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, static_ports
from neat_onnx.network.whole_numbers import truth_neurons, whole_neurons
from neat_onnx.operators.export.frames.static_inputs import with_static_inputs

_DISCRETE = (kind for kind in DataType if kind.is_discrete and not kind.is_held_wider)
_DTYPES = {kind.dtype.name: kind for kind in (DataType.FLOAT16, *_DISCRETE)}


def in_stated_ports(model: Model, net: Network, *, sequence: bool) -> tuple[Model, dict[str, str]]:
    """The model with the ports of a network as they are stated; see `frames.ports.as_stated`."""
    timed = sequence and any(port.time_axis is not None for port in net.inputs + net.outputs)
    leading, kinds = 2 if sequence else 1, _kinds(net)
    if sequence and (static := static_ports(net.inputs)):
        model = with_static_inputs(model, static)
    model = _with_inputs(model, net.inputs, leading, kinds)
    return _with_fewer_casts(_with_outputs(model, net, leading, kinds, timed=timed))


def _kinds(net: Network) -> Mapping[str, DataType]:
    """The types that ports may have beside that of the numbers, by their dtype.

    If all of them are DOUBLE, the numbers are as well, but for an option.
    """
    found = {port.dtype for port in net.inputs + net.outputs}
    is_mixed = not found.isdisjoint(("", DataType.FLOAT16.dtype.name))
    return _DTYPES | {DataType.DOUBLE.dtype.name: DataType.DOUBLE} if is_mixed else _DTYPES


def _with_inputs(
    model: Model, ports: Sequence[Port], leading: int, kinds: Mapping[str, DataType]
) -> Model:
    draft, entries = Draft(model), {entry.name: entry for entry in model.graph.inputs}
    static = {port.name for port in static_ports(ports)} if leading > 1 else set[str]()
    names: dict[str, str] = {}
    first: list[Node] = []
    for port in ports:
        entry, kind = entries[port.name], kinds.get(port.dtype)
        order = _order(port, entry, leading - (port.name in static))
        steps = _transpose(np.argsort(order).tolist())
        if kind and kind is not entry.elem_type:
            steps += _cast(entry.elem_type)
        if not steps:
            continue
        names[port.name] = inner = _name_of_numbers(draft, port)
        first += draft.chain(port.name, inner, steps, f"{inner}_transpose")
        entries[port.name] = _stated(entry, kind, order)
    if not first:
        return model
    nodes = [*first, *(renamed(node, names) for node in model.graph.node)]
    return with_graph(draft.finished(nodes), inputs=list(entries.values()))


def _with_outputs(
    model: Model,
    net: Network,
    leading: int,
    known: Mapping[str, DataType],
    *,
    timed: bool,
) -> Model:
    ports = net.outputs
    draft, entries = Draft(model), {entry.name: entry for entry in model.graph.outputs}
    wanted = {port.name: known[port.dtype] for port in ports if port.dtype in known}
    kinds = _kinds_of(
        {
            name: kind
            for name, kind in wanted.items()
            if not (entries[name].elem_type.is_discrete or kind is entries[name].elem_type)
        },
        net,
    )
    names: dict[str, str] = {}
    last: list[Node] = []
    for port in ports:
        entry, kind, steps = entries[port.name], kinds.get(port.name), list[Step]()
        ended = timed and port.time_axis is None
        if ended:
            steps.append(("Gather", (draft.constant("last_step", -1),), {"axis": 0}))
            entry = ValueInfo.of(entry.name, entry.elem_type, (entry.shape or ())[1:])
        order = _order(port, entry, leading - ended)
        steps += (_cast(kind) if kind else []) + _transpose(order)
        if not steps:
            continue
        names[port.name] = inner = _name_of_numbers(draft, port)
        last += draft.chain(inner, port.name, steps, f"{port.name}_cast")
        entries[port.name] = _stated(entry, kind, order)
    if not last:
        return model
    nodes = [*(renamed(node, names) for node in model.graph.node), *last]
    return with_graph(draft.finished(nodes), outputs=list(entries.values()))


def _with_fewer_casts(model: Model) -> tuple[Model, dict[str, str]]:
    """The model without Casts of integers to numbers that others cast to integers again, and the
    names there of tensors that had others.
    """
    draft, handed_on, nodes = Draft(model), HandedOn(model.graph), list[Node]()
    for node in model.graph.node:
        read = draft.behind(node.input[0], "Identity") if is_one_of(node, "Cast") else ""
        before = draft.maker(read, "Cast")
        source = before.input[0] if before else ""
        kind = draft.facts(source).elem_type if source else None
        if not (kind and kind.is_discrete):
            nodes.append(node)
        elif kind != node.given_attributes["to"]:
            nodes.append(renamed(node, {node.input[0]: source}))
        elif not handed_on.take(source, node.output[0]):
            nodes.append(draft.node("Identity", [source], node.output, name=node.name))
    names = handed_on.names
    return without_dead(draft.finished([renamed(node, names) for node in nodes])), names


def _order(port: Port, entry: ValueInfo, leading: int) -> list[int]:
    """The axes of a tensor, time and the samples first, in the order that a port states.

    Import finds a batch that is not first by its name, and so it is first if it has a fixed size.
    """
    sizes = entry.shape or ()
    if len(sizes) < leading + len(port.shape):  # all samples share it
        return list(range(len(sizes)))
    order = list(range(leading, len(sizes)))
    named = not isinstance(sizes[leading - 1], int)
    order.insert((port.batch_axis or 0) if named else 0, leading - 1)
    if leading > 1:
        order.insert(port.time_axis or 0, 0)
    return order


def _transpose(order: Sequence[int]) -> list[Step]:
    """The Transpose that brings axes into an order."""
    perm = tuple(order)
    return [] if perm == tuple(range(len(perm))) else [("Transpose", (), {"perm": perm})]


def _cast(kind: DataType) -> list[Step]:
    return [("Cast", (), {"to": int(kind)})]


def _stated(entry: ValueInfo, kind: DataType | None, order: Sequence[int]) -> ValueInfo:
    """The entry in a type, and with its axes in an order."""
    sizes = entry.shape or ()
    return ValueInfo.of(entry.name, kind or entry.elem_type, [sizes[axis] for axis in order])


def _name_of_numbers(draft: Draft, port: Port) -> str:
    """The name of the numbers that a port has inside the graph."""
    return draft.name(f"{port.name}_number")


def _kinds_of(wanted: dict[str, DataType], net: Network) -> dict[str, DataType]:
    """The types of outputs: of integers or truth values, if the network computes such."""
    if not any(kind.is_discrete for kind in wanted.values()):
        return wanted
    whole, truths = whole_neurons(net), truth_neurons(net)
    held = {DataType.BOOL: truths, DataType.INT32: whole, DataType.INT64: whole}
    neurons = {port.name: port.neurons for port in net.outputs}
    return {
        name: kind
        for name, kind in wanted.items()
        if not kind.is_discrete or (kind in held and np.all(held[kind][neurons[name]]))
    }
