"""Ports in the types and with the batch that another tool's graph gave them.

A network computes with numbers, samples first. Inputs of integers or truth values become numbers
by a Cast, an axis of the batch elsewhere is moved by a Transpose, and a single sample gets one by
an Unsqueeze. Outputs are given as integers or truth values only where the graph computes such, so
that nothing is rounded.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.model import DataType, Model, Node, Tensor, ValueInfo
from neat_onnx.model.single_sample import BATCH_AXIS, NONE
from neat_onnx.model.whole_numbers import are_whole, gives_whole_numbers
from neat_onnx.network.network import Network
from neat_onnx.network.port import Dtype, Port
from neat_onnx.operators.frames.ports import batch_to
from neat_onnx.passes.draft import Draft, Step, is_one_of, with_graph
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.passes.splice import renamed

_DTYPES = {kind.dtype.name: kind for kind in DataType if kind.is_discrete}
_GIVEN = (DataType.BOOL, DataType.INT32, DataType.INT64)
"""The types of outputs: narrower integers may not hold a number."""


def in_stated_ports(
    model: Model, net: Network, *, single_sample: bool
) -> tuple[Model, dict[str, str]]:
    """The model with the inputs and outputs of a network as its ports state them, and the names
    there of tensors that had others.

    Args:
        model: an export of one step, whose ports have numbers, samples first.
        net: the network.
        single_sample: the batch, of one, is left out of inputs and outputs, and of states too.
    """
    if single_sample:
        hints = {port.name: port.dtype for port in net.inputs + net.outputs}
        inputs, outputs = (
            [_without_batch(entry, hints) for entry in entries]
            for entries in (model.graph.inputs, model.graph.outputs)
        )
    elif any(port.dtype in _DTYPES or port.batch_axis for port in net.inputs + net.outputs):
        inputs, outputs = (
            [replace(port, batch_axis=port.batch_axis or 0) for port in ports]
            for ports in (net.inputs, net.outputs)
        )
    else:
        return model, {}
    return _with_fewer_casts(_with_outputs(_with_inputs(model, inputs), outputs))


def _without_batch(entry: ValueInfo, dtypes: Mapping[str, Dtype]) -> Port:
    """An input or output of the graph as the port of a single sample; it may be a state."""
    sizes = tuple(size for size in entry.shape or () if isinstance(size, int))
    neurons = np.empty(0, np.int64)
    return Port(entry.name, sizes[1:], neurons, dtypes.get(entry.name, ""), None)


def metadata_of_single_sample(model: Model) -> dict[str, str]:
    """The metadata of a model without a batch, if import could take an axis for one."""
    return {BATCH_AXIS: NONE} if any(axes_of_inputs(model.graph.inputs).values()) else {}


def _with_inputs(model: Model, ports: Sequence[Port]) -> Model:
    draft, entries = Draft(model), {entry.name: entry for entry in model.graph.inputs}
    first_axis = _first_axis(draft, ports)
    names: dict[str, str] = {}
    first: list[Node] = []
    for port in ports:
        entry, kind = entries[port.name], _DTYPES.get(port.dtype)
        axis = _batch_axis(port, entry)
        steps: list[Step] = [("Unsqueeze", first_axis, {})] if axis is None else []
        steps += _transpose(0, axis or 0, entry) + (_cast(entry.elem_type) if kind else [])
        if not steps:
            continue
        names[port.name] = inner = _name_of_numbers(draft, port)
        first += draft.chain(port.name, inner, steps, f"{inner}_batch")
        entries[port.name] = _stated(entry, kind, axis)
    if not first:
        return model
    nodes = [*first, *(renamed(node, names) for node in model.graph.node)]
    return with_graph(draft.finished(nodes), inputs=list(entries.values()))


def _with_outputs(model: Model, ports: Sequence[Port]) -> Model:
    draft, entries = Draft(model), {entry.name: entry for entry in model.graph.outputs}
    whole = _whole_numbers(draft) if any(port.dtype in _DTYPES for port in ports) else ()
    first_axis = _first_axis(draft, ports)
    names: dict[str, str] = {}
    last: list[Node] = []
    for port in ports:
        entry, kind = entries[port.name], _kind_of(port, draft, whole)
        axis = _batch_axis(port, entry)
        steps = (_cast(kind) if kind else []) + _transpose(axis or 0, 0, entry)
        steps += [("Squeeze", first_axis, {})] if axis is None else []
        if not steps:
            continue
        names[port.name] = inner = _name_of_numbers(draft, port)
        last += draft.chain(inner, port.name, steps, f"{port.name}_cast")
        entries[port.name] = _stated(entry, kind, axis)
    if not last:
        return model
    nodes = [*(renamed(node, names) for node in model.graph.node), *last]
    return with_graph(draft.finished(nodes), outputs=list(entries.values()))


def _with_fewer_casts(model: Model) -> tuple[Model, dict[str, str]]:
    """The model without Casts of integers to numbers that others cast to integers again, and the
    names there of tensors that had others.
    """
    draft, outputs = Draft(model), {entry.name for entry in model.graph.outputs}
    names: dict[str, str] = {}
    nodes: list[Node] = []
    for node in model.graph.node:
        before = draft.maker(node.input[0], "Cast") if is_one_of(node, "Cast") else None
        source = before.input[0] if before else ""
        kind = draft.facts(source).elem_type if source else None
        if not (kind and kind.is_discrete):
            nodes.append(node)
        elif kind != node.given_attributes["to"]:
            nodes.append(renamed(node, {node.input[0]: source}))
        elif node.output[0] not in outputs:
            names[node.output[0]] = source
        elif source in draft.producers and source not in {*names, *outputs}:
            names[source] = node.output[0]
        else:
            nodes.append(draft.node("Identity", [source], node.output, name=node.name))
    names = {name: names.get(other, other) for name, other in names.items()}
    return without_dead(draft.finished([renamed(node, names) for node in nodes])), names


def _batch_axis(port: Port, entry: ValueInfo) -> int | None:
    """Where the batch of a port is: import finds one that is not first by its name, and so it is
    first if it has a fixed size. None where there is none.
    """
    batch, *_ = entry.shape or ()
    return 0 if port.batch_axis is not None and isinstance(batch, int) else port.batch_axis


def _first_axis(draft: Draft, ports: Sequence[Port]) -> tuple[str, ...]:
    """The axes that an Unsqueeze or a Squeeze of the batch reads, if a port needs one."""
    if all(port.batch_axis is not None for port in ports):
        return ()
    known = {each.name for each in draft.model.graph.initializer if _is_first_axis(each)}
    return (min(known, default="") or draft.constant("first_axis", [0]),)


def _is_first_axis(tensor: Tensor) -> bool:
    is_one = tensor.data_type is DataType.INT64 and tensor.values.shape == (1,)
    return is_one and not tensor.values.any()


def _transpose(to: int, now: int, entry: ValueInfo) -> list[Step]:
    """The Transpose that moves the batch from one axis to another."""
    order = batch_to(to, now, len(entry.shape or ()))
    return [] if to == now else [("Transpose", (), {"perm": order})]


def _cast(kind: DataType) -> list[Step]:
    return [("Cast", (), {"to": int(kind)})]


def _stated(entry: ValueInfo, kind: DataType | None, batch_axis: int | None) -> ValueInfo:
    """The entry in a type, and with its batch at an axis, or without one."""
    batch, *sizes = entry.shape or ()
    if batch_axis is not None:
        sizes.insert(batch_axis, batch)
    return ValueInfo.of(entry.name, kind or entry.elem_type, sizes)


def _name_of_numbers(draft: Draft, port: Port) -> str:
    """The name of the numbers that a port has inside the graph; a short one where names are."""
    named = any(node.name for node in draft.model.graph.node)
    return draft.name(f"{port.name}_number" if named else "n")


def _kind_of(port: Port, draft: Draft, whole: Collection[str]) -> DataType | None:
    """The type of an output that was of integers or truth values, if the graph computes such."""
    wanted = _DTYPES.get(port.dtype)
    if wanted is DataType.BOOL:
        cast = draft.maker(port.name, "Cast")
        return wanted if cast and draft.facts(cast.input[0]).elem_type is wanted else None
    return wanted if wanted in _GIVEN and port.name in whole else None


def _whole_numbers(draft: Draft) -> set[str]:
    """The tensors of floats that have whole numbers alone, constants included."""
    found = {name for name, tensor in draft.tensors.items() if are_whole(tensor.values)}
    for node in draft.model.graph.node:
        kind = draft.facts(node.input[0]).elem_type if is_one_of(node, "Cast") else None
        if (kind and kind.is_discrete) or gives_whole_numbers(node, found.__contains__):
            found.update(node.output)
    return found
