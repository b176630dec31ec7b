"""Export: a Network to a Model. The core, which names no operator.

Schedule, then level by level: ask the handlers which neurons they claim, let them lower, and check
that every neuron is bound to a column of a tensor. Then the passes, and the finishing touches.
"""

from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.genome import genome_metadata
from neat_onnx.lowering import UNBOUND, LoweringContext
from neat_onnx.model import Graph, MetadataEntry, Model, OperatorSet, ValueInfo
from neat_onnx.network.network import Ints, Network
from neat_onnx.network.schedule import Schedule, contributing, schedule, with_late_sinks
from neat_onnx.operators import HANDLERS
from neat_onnx.operators.ports import open_input, produce_output
from neat_onnx.options import ExportOptions
from neat_onnx.passes import apply_passes
from neat_onnx.version import __version__

# the oldest IR version that each opset allows, from ONNX's table of versions
_IR_OF_OPSET = dict(
    zip(range(13, 27), (7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13), strict=True)
)


def export_network(net: Network, options: ExportOptions) -> Model:
    """The ONNX model of `net`. See `neat_onnx.export`."""
    _check_memory(net, options)
    ctx = LoweringContext(net, options, _plan(net))
    for name in (port.name for port in net.inputs + net.outputs):
        ctx.fresh(name)
    for port in net.inputs:
        ctx.bind(port.neurons, open_input(ctx, port), 0)
    for level, neurons in enumerate(ctx.plan.levels[1:], 1):
        _lower_level(ctx, level, neurons)
    for port in net.outputs:
        produce_output(ctx, port)
    return _finished(ctx)


def _check_memory(net: Network, options: ExportOptions) -> None:
    if not net.has_memory:
        return
    if not options.allow_recurrent:
        raise OptionError("the network has memory", where="allow_recurrent", hint="Allow it")
    raise NetworkError(
        "the network has memory (delayed connections), and exporting that is not supported yet",
        hint="It can be run: neat_onnx.load_network(...).run(x)",
    )


def _plan(net: Network) -> Schedule:
    """The schedule of the neurons that matter, those that nothing reads on the last level."""
    needed = contributing(net)
    full = schedule(net)
    levels = [level[needed[level] | net.is_input[level]] for level in full.levels]
    while len(levels) > 1 and not levels[-1].size:
        levels.pop()
    return with_late_sinks(Schedule(full.level, tuple(levels)), net, needed)


def _lower_level(ctx: LoweringContext, level: int, neurons: Ints) -> None:
    for handler in HANDLERS:
        for block in handler.claim(ctx, level, neurons):
            handler.lower(ctx, block)
            if np.any(ctx.bound_in[block.neurons] == UNBOUND):
                raise AssertionError(f"{type(handler).__name__} left neurons of its block unbound")
        neurons = neurons[ctx.bound_in[neurons] == UNBOUND]
    if neurons.size:
        raise AssertionError(f"no handler claimed {ctx.net.label(int(neurons[0]))}")


def _finished(ctx: LoweringContext) -> Model:
    net, options = ctx.net, ctx.options
    ports = [
        [ValueInfo.of(port.name, ctx.data_type, [options.batch, *port.shape]) for port in group]
        for group in (net.inputs, net.outputs)
    ]
    graph = Graph(
        name="neat_onnx",
        inputs=ports[0],
        outputs=ports[1],
        initializer=list(ctx.initializers.values()),
        node=ctx.nodes,
    )
    model = Model(
        ir_version=_IR_OF_OPSET[options.opset],
        opset_import=[OperatorSet(version=options.opset)],
        producer_name=options.producer_name,
        producer_version=options.producer_version or __version__,
        doc_string=options.doc_string,
        graph=apply_passes(graph),
    ).written_as(options.encoding)
    if not options.include_metadata:
        return model
    return model.model_copy(update={"metadata_props": _metadata(ctx, model)})


def _metadata(ctx: LoweringContext, model: Model) -> list[MetadataEntry]:
    entries: dict[str, Any] = {}
    hidden = _layer_sizes(ctx)
    if hidden is not None:
        entries["layer_sizes"] = str(hidden)
    entries |= genome_metadata(ctx, model)
    return [MetadataEntry(key=key, value=value) for key, value in entries.items()]


def _layer_sizes(ctx: LoweringContext) -> list[int] | None:
    """The sizes of the hidden layers, if every level reads from the one before it only."""
    level, live = ctx.plan.level, ctx.net.live
    used = ctx.bound_in[live.target] != UNBOUND
    if np.any(level[live.source[used]] + 1 != level[live.target[used]]):
        return None
    return [len(neurons) for neurons in ctx.plan.levels[1:-1]]
