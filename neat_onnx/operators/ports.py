"""The graph's inputs and outputs: from their shapes to columns of neurons, and back."""

from dataclasses import replace

from neat_onnx.lowering.context import Columns, LoweringContext
from neat_onnx.model import Node
from neat_onnx.network.genes import Port
from neat_onnx.operators.columns import exactly, in_shape
from neat_onnx.operators.shaping import Flatten, Identity, Reshape
from neat_onnx.operators.steps import sequence_shape

_TEMPORARY = "port"  # a port's own name is taken from the start, so that nothing else gets it


def open_input(ctx: LoweringContext, port: Port) -> None:
    """Bind the neurons of an input port."""
    names = (f"{port.name}_flat", f"flatten_{port.name}")
    if ctx.steps is None:
        shape = None if len(port.shape) == 1 else port.shape
        ctx.bind_columns(Columns(port.name, port.neurons, 0, shape, names))
        return
    flat = ctx.emit(Flatten, [port.name], *names, axis=2)
    if len(port.shape) == 1:
        ctx.steps.sequences[flat] = port.name
    ctx.bind(port.neurons, flat, 0)


def produce_output(ctx: LoweringContext, port: Port) -> None:
    """Make a node produce the tensor that the output port is named after."""
    if ctx.steps is not None:
        tensor = exactly(ctx, port.neurons, ctx.plan.depth)
        if len(port.shape) != 1 or tensor not in ctx.steps.sequences:
            shape = sequence_shape(ctx, ctx.steps, *port.shape)
            produce(ctx, Reshape, [tensor, shape], port.name)
            return
        tensor = ctx.steps.sequences[tensor]
    elif len(port.shape) == 1:
        tensor = exactly(ctx, port.neurons, ctx.plan.depth)
    else:
        tensor = in_shape(ctx, port.neurons.reshape(port.shape), ctx.plan.depth)
    if _can_be_renamed(ctx, tensor):
        _rename(ctx, tensor, port.name)
    else:
        produce(ctx, Identity, [tensor], port.name)


def produce(ctx: LoweringContext, operator: type[Node], inputs: list[str], name: str) -> None:
    """Add a node whose output has a name that was taken for it before."""
    ctx.emit(operator, inputs, _TEMPORARY, f"output_{name}")
    _rename(ctx, ctx.nodes[-1].output[0], name)


def _can_be_renamed(ctx: LoweringContext, tensor: str) -> bool:
    """Whether a node produces it, and it is no output yet."""
    ports = {port.name for port in ctx.net.inputs + ctx.net.outputs}
    return tensor not in ports and any(tensor in node.output for node in ctx.nodes)


def _rename(ctx: LoweringContext, old: str, new: str) -> None:
    for node in ctx.nodes:
        node.input = [new if name == old else name for name in node.input]
        node.output = [new if name == old else name for name in node.output]
    ctx.columns = [
        replace(columns, tensor=new) if columns.tensor == old else columns
        for columns in ctx.columns
    ]
    if ctx.steps is not None:
        sequences = ctx.steps.sequences.items()
        ctx.steps.sequences = {flat: new if name == old else name for flat, name in sequences}
    ctx.shaped = {
        (new if name == old else name, shape): new if made == old else made
        for (name, shape), made in ctx.shaped.items()
    }
    ctx.joined = {key: new if name == old else name for key, name in ctx.joined.items()}
