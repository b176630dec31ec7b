"""The graph's inputs and outputs: from their shapes to columns of neurons, and back."""

from collections.abc import Iterable

from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.ports import BATCH_AXIS, NONE
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, are_plain
from neat_onnx.operators.export.layout.columns import exactly, in_shape
from neat_onnx.operators.export.layout.shaping import Identity


def open_input(ctx: LoweringContext, port: Port) -> None:
    """Bind the neurons of an input port."""
    names = (f"{port.name}_flat", f"flatten_{port.name}")
    shape = None if len(port.shape) == 1 else port.shape
    ctx.places.bind(Columns(port.name, port.neurons, 0, shape, names))


def produce_output(ctx: LoweringContext, port: Port) -> None:
    """Make a node produce the tensor that the output port is named after."""
    if len(port.shape) == 1:
        tensor = exactly(ctx, port.neurons, ctx.schedule.depth)
    else:
        tensor = in_shape(ctx, port.neurons.reshape(port.shape), ctx.schedule.depth)
    produce_as(ctx, tensor, port.name)


def produce_as(ctx: LoweringContext, tensor: str, output: str) -> None:
    """Rename a tensor to a graph output, or copy it: an input, or an output already."""
    if ctx.is_produced(tensor) and tensor not in ctx.output_names:
        ctx.rename_tensor(tensor, output)
        ctx.places.rename(tensor, output)
    else:
        ctx.produce(Identity, [tensor], output, f"output_{output}")


def described(ctx: LoweringContext, ports: Iterable[Port]) -> list[ValueInfo]:
    """Return the graph's entries for its ports: names, type, shapes with the batch in front."""
    return [value_info(ctx, port.name, port.shape) for port in ports]


def value_info(
    ctx: LoweringContext, name: str, shape: tuple[int, ...], batch_axis: int = 0
) -> ValueInfo:
    """Return the graph's entry for an input or output of this shape without the batch."""
    sizes = [*shape[:batch_axis], ctx.options.batch, *shape[batch_axis:]]
    return ValueInfo.of(name, ctx.data_type, sizes)


def as_stated(
    model: Model, net: Network, *, sequence: bool = False
) -> tuple[Model, dict[str, str]]:
    """The model with ports as a network states them, and names there of tensors that had others.

    Args:
        model: an export, whose ports have numbers, samples first.
        net: the network.
        sequence: the ports of the model have time in front of the samples.
    """
    if are_plain(net.inputs + net.outputs):
        return model, {}
    from neat_onnx.operators.export.frames.stated_ports import in_stated_ports  # noqa: PLC0415 - of few networks

    return in_stated_ports(model, net, sequence=sequence)


def batch_to(place: int, now: int, rank: int) -> tuple[int, ...]:
    """The order of axes in which the batch, which stands `now` there, is at a place."""
    axes = [axis for axis in range(rank) if axis != now]
    return (*axes[:place], now, *axes[place:])


def has_batch(model: Model, net: Network) -> bool:
    """Whether an export has the axis of the batch, which a short form may do without."""
    ranks = {entry.name: len(entry.shape or ()) for entry in model.graph.inputs}
    return any(ranks[port.name] > len(port.shape) for port in net.inputs)


def metadata_of_single_sample(model: Model) -> dict[str, str]:
    """The metadata of a model without a batch, if import could take an axis for one."""
    return {BATCH_AXIS: NONE} if any(axes_of_inputs(model.graph.inputs).values()) else {}
