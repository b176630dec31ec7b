"""The graph's inputs and outputs: from their shapes to columns of neurons, and back."""

from dataclasses import replace

from neat_onnx.lowering import LoweringContext
from neat_onnx.model import Node
from neat_onnx.network.genes import Port
from neat_onnx.operators.columns import exactly
from neat_onnx.operators.shaping import Flatten, Identity, Reshape
from neat_onnx.operators.steps import sequence_shape

_TEMPORARY = "port"  # a port's own name is taken from the start, so that nothing else gets it


def open_input(ctx: LoweringContext, port: Port) -> str:
    """A tensor [N, neurons] of an input port."""
    if len(port.shape) == 1 and ctx.steps is None:
        return port.name
    axis = 1 if ctx.steps is None else 2
    flat = ctx.emit(Flatten, [port.name], f"{port.name}_flat", f"flatten_{port.name}", axis=axis)
    if len(port.shape) == 1 and ctx.steps is not None:
        ctx.steps.sequences[flat] = port.name
    return flat


def produce_output(ctx: LoweringContext, port: Port) -> None:
    """Make a node produce the tensor that the output port is named after."""
    tensor = exactly(ctx, port.neurons, ctx.plan.depth)
    if ctx.steps is not None:
        if len(port.shape) != 1 or tensor not in ctx.steps.sequences:
            shape = sequence_shape(ctx, ctx.steps, *port.shape)
            produce(ctx, Reshape, [tensor, shape], port.name)
            return
        tensor = ctx.steps.sequences[tensor]
    if len(port.shape) != 1:
        shape = ctx.integers(f"shape_{port.name}", [0, *port.shape])
        produce(ctx, Reshape, [tensor, shape], port.name)
    elif _can_be_renamed(ctx, tensor):
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
    ctx.joined = {key: new if name == old else name for key, name in ctx.joined.items()}
