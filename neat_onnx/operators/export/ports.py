"""The graph's inputs and outputs: from their shapes to columns of neurons, and back.

A network computes with numbers, samples first; of a sequence time first, then the samples. A port
of an import may state another type, other places of these axes, or none of them: nodes at the ends
of the graph bring it into the form of the network, and back.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import DataType, Model, Node, ValueInfo
from neat_onnx.model.draft import Draft, Step, renamed, with_graph
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import without_dead
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, are_plain, shared_ports, static_ports
from neat_onnx.network.whole_numbers import neurons_of_types
from neat_onnx.operators.export.columns import exactly, in_shape

_DISCRETE = (kind for kind in DataType if kind.is_discrete)
_DTYPES = {kind.dtype.name: kind for kind in (DataType.FLOAT16, *_DISCRETE)}


def bind_input(ctx: LoweringContext, name: str, signals: Ints) -> None:
    """Say that signals are the elements of a graph input, in its shape without the batch."""
    names = (f"{name}_flat", f"flatten_{name}")
    shape = None if signals.ndim == 1 else signals.shape
    ctx.places.bind(Columns(name, signals.ravel(), 0, shape, names))


def produce_output(ctx: LoweringContext, port: Port) -> None:
    """Make a node produce the tensor that the output port is named after."""
    if len(port.shape) == 1:
        tensor = exactly(ctx, port.neurons, ctx.schedule.depth)
    else:
        tensor = in_shape(ctx, port.neurons.reshape(port.shape), ctx.schedule.depth)
    produce_as(ctx, tensor, port.name)


def produce_as(ctx: LoweringContext, tensor: str, output: str) -> None:
    """Rename a tensor to a graph output, or copy it: an input, or an output already."""
    if tensor in ctx.produced and tensor not in ctx.renamed:
        ctx.renamed[tensor] = output
    else:
        ctx.produce("Identity", [tensor], output, f"output_{output}")


def described(ctx: LoweringContext, ports: Iterable[Port]) -> list[ValueInfo]:
    """Return the graph's entries for its ports: names, type, shapes with the batch in front."""
    return [value_info(ctx, port.name, port.shape) for port in ports]


def value_info(ctx: LoweringContext, name: str, shape: tuple[int, ...]) -> ValueInfo:
    """Return the graph's entry for an input or output of this shape without the batch."""
    return ValueInfo.of(name, ctx.data_type, [ctx.options.batch, *shape])


# --- ports as a network states them --------------------------------------------------------------


def in_stated_ports(ctx: LoweringContext, model: Model) -> Model:
    """An export, whose ports are of numbers, samples first, with the types and axes of a network's.

    Outputs are integers or truth values only where the network computes such, so that nothing is
    rounded. The numbers between ports of FLOAT16 are not rounded either.
    """
    net, sequence = ctx.net, ctx.options.sequence
    single = ctx.options.batch_dimension is None  # one sample, without an axis for it
    shared = set() if sequence or single else {port.name for port in shared_ports(net.inputs)}
    turned = any(port.batch_axis for port in net.memory)
    if are_plain(net.inputs + net.outputs) and not (single or shared or turned):
        return model
    lacking = dict.fromkeys(shared, 1)
    if single:
        lacking = {entry.name: 1 for entry in model.graph.inputs + model.graph.outputs}
    if sequence:
        static = static_ports(net.inputs)
        lacking = {port.name: 2 if port.batch_axis is None else 1 for port in static}
    ends = _Ends(model, net, 2 if sequence else 1, lacking)
    timed = sequence and any(port.time_axis is not None for port in net.inputs + net.outputs)
    inputs, outputs = ends.inputs(), ends.outputs(timed=timed)
    draft = ends.draft
    between = [renamed(node, ends.names) for node in model.graph.node]
    nodes = [*ends.first, *between, *ends.last]
    return without_dead(with_graph(draft.finished(nodes), inputs=inputs, outputs=outputs))


class _Ends:
    """The nodes at the ends of a graph, and the names of tensors inside in place of ports."""

    def __init__(
        self, model: Model, net: Network, leading: int, lacking: Mapping[str, int]
    ) -> None:
        self.draft = Draft(model)
        self.first: list[Node] = []
        self.last: list[Node] = []
        self.names: dict[str, str] = {}
        self._net, self._leading, self._lacking = net, leading, lacking
        self._kinds = _kinds(net)

    def inputs(self) -> list[ValueInfo]:
        """Add the nodes behind inputs, of those first that have all axes; return the entries."""
        entries = {entry.name: entry for entry in self.draft.model.graph.inputs}
        ports = self._ports(self._net.inputs, entries)
        for port in sorted(ports, key=lambda port: port.name in self._lacking):
            entry, lacks = entries[port.name], self._lacking.get(port.name, 0)
            sizes = entry.shape or ()
            kind = self._kinds.get(port.dtype, entry.elem_type)
            own = ValueInfo.of(entry.name, entry.elem_type, sizes[lacks:])
            order = _order(port, own, self._leading_of(port) - lacks)
            steps = _transposed(np.argsort(order).tolist())
            steps += [] if kind is entry.elem_type else _cast(entry.elem_type)
            steps += self._with_axes(sizes, lacks) if lacks else []
            if steps:
                inner = self.names[port.name] = self.draft.name(f"{port.name}_number")
                self.first += self.draft.chain(port.name, inner, steps, f"{inner}_transpose")
                entries[port.name] = _stated(own, kind, order)
        return list(entries.values())

    def _ports(self, ports: Sequence[Port], entries: Mapping[str, ValueInfo]) -> list[Port]:
        """The ports, and states as such, without neurons."""
        axes = {name: each.batch_axis for each in self._net.memory
                for name in (each.input, each.output)}  # fmt: skip
        states, none = entries.keys() - {port.name for port in ports}, np.empty(0, np.int64)
        return [
            *ports,
            *(Port(name, (), none, batch_axis=axes.get(name, 0)) for name in sorted(states)),
        ]

    def _leading_of(self, port: Port) -> int:
        """The number of axes for time and samples inside: states have no time."""
        return self._leading if port.neurons.size else 1

    def _with_axes(self, sizes: Sequence[Extent], lacks: int) -> list[Step]:
        """The step that gives a tensor the first axes of these: as many as others have there."""
        if all(size == 1 for size in sizes[:lacks]):
            axes = self.draft.constant("first_axes", list(range(lacks)))
            return [("Unsqueeze", (axes,), {})]
        draft = self.draft
        full = next(port.name for port in self._net.inputs if port.name not in self._lacking)
        shape, count, whole = (draft.name(wish) for wish in ("shape", "count", "sizes"))
        bounds = [draft.constant(f"axis_{at}", [at]) for at in (0, lacks)]
        self.first += [
            draft.node("Shape", [self.names.get(full, full)], [shape]),
            draft.node("Slice", [shape, *bounds], [count]),
        ]
        if ones := [1] * (len(sizes) - lacks):
            parts = [count, draft.constant("ones", ones)]
            self.first.append(draft.node("Concat", parts, [whole], axis=0))
        return [("Expand", (whole if ones else count,), {})]

    def outputs(self, *, timed: bool) -> list[ValueInfo]:
        """Add the nodes in front of outputs, and return the entries.

        Of sequences (`timed`), an output without time has the last step alone.
        """
        net, draft = self._net, self.draft
        entries = {entry.name: entry for entry in draft.model.graph.outputs}
        wanted = {
            port.name: self._kinds[port.dtype]
            for port in net.outputs
            if port.dtype in self._kinds and not entries[port.name].elem_type.is_discrete
        }
        kinds = _computed(wanted, net)
        for port in self._ports(net.outputs, entries):
            entry, steps, leading = entries[port.name], list[Step](), self._leading_of(port)
            sizes = entry.shape or ()
            if port.name in self._lacking:
                steps.append(("Squeeze", (draft.constant("first_axes", [0]),), {}))
                leading, sizes = 0, sizes[1:]
            elif timed and leading > 1 and port.time_axis is None:
                steps.append(("Gather", (draft.constant("last_step", -1),), {"axis": 0}))
                leading, sizes = leading - 1, sizes[1:]
            kind = kinds.get(port.name, entry.elem_type)
            own = ValueInfo.of(entry.name, entry.elem_type, sizes)
            order = _order(port, own, leading)
            steps += [] if kind is entry.elem_type else _cast(kind)
            steps += _transposed(order)
            if steps:
                inner = self.names[port.name] = draft.name(f"{port.name}_number")
                self.last += draft.chain(inner, port.name, steps, f"{port.name}_cast")
                entries[port.name] = _stated(own, kind, order)
        return list(entries.values())


def _kinds(net: Network) -> Mapping[str, DataType]:
    """The types that ports may have beside that of the numbers, by their dtype.

    If all of them are DOUBLE, the numbers are as well, but for an option.
    """
    found = {port.dtype for port in net.inputs + net.outputs}
    is_mixed = not found.isdisjoint(("", DataType.FLOAT16.dtype.name))
    return _DTYPES | {DataType.DOUBLE.dtype.name: DataType.DOUBLE} if is_mixed else _DTYPES


def _computed(wanted: dict[str, DataType], net: Network) -> dict[str, DataType]:
    """The types of outputs: of integers or truth values, if the network computes such."""
    if not any(kind.is_discrete for kind in wanted.values()):
        return wanted
    held = neurons_of_types(net)
    neurons = {port.name: port.neurons for port in net.outputs}
    return {
        name: kind
        for name, kind in wanted.items()
        if not kind.is_discrete or (kind.name in held and held[kind.name][neurons[name]].all())
    }


def _order(port: Port, entry: ValueInfo, leading: int) -> list[int]:
    """The axes of a tensor, time and the samples first, in the order that a port states.

    Import finds a batch that is not first by its name, and so it is first if it has a fixed size.
    """
    sizes = entry.shape or ()
    order = list(range(leading, len(sizes)))
    if leading:
        named = not isinstance(sizes[leading - 1], int)
        order.insert((port.batch_axis or 0) if named else 0, leading - 1)
    if leading > 1:
        order.insert(port.time_axis or 0, 0)
    return order


def _stated(entry: ValueInfo, kind: DataType, order: Sequence[int]) -> ValueInfo:
    """The entry in a type, and with its axes in an order."""
    sizes = entry.shape or ()
    return ValueInfo.of(entry.name, kind, [sizes[axis] for axis in order])


def _transposed(order: Sequence[int]) -> list[Step]:
    """The Transpose that brings axes into an order."""
    perm = tuple(order)
    return [] if perm == tuple(range(len(perm))) else [("Transpose", (), {"perm": perm})]


def _cast(kind: DataType) -> list[Step]:
    return [("Cast", (), {"to": int(kind)})]
