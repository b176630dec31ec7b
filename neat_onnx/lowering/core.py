"""Lower: a Network to a Model. The core of export, which names no operator.

Schedule, look for the layers that hold the memory, then level by level: ask the handlers which
neurons they claim, let them lower, and check that every neuron is bound to a column of a tensor.
Then the passes, and the finishing touches.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.genome import genome_metadata
from neat_onnx.lowering.context import UNBOUND, Block, LoweringContext, Steps
from neat_onnx.model import Graph, MetadataEntry, Model, OperatorSet, ValueInfo
from neat_onnx.model.states import STATE_KEY
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing, schedule, with_late_sinks
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators import HANDLERS, Lowering
from neat_onnx.operators.ports import open_input, produce_output
from neat_onnx.operators.rnn.fused import fused_blocks
from neat_onnx.operators.scan import as_sequence, over_time
from neat_onnx.operators.spatial.find import SpatialLayers, spatial_layers
from neat_onnx.operators.spatial.metadata import spatial_metadata
from neat_onnx.operators.state import (
    State,
    close_states,
    open_states,
    state_metadata,
    warn_of_lost_starts,
)
from neat_onnx.options import ExportOptions
from neat_onnx.passes import apply_passes
from neat_onnx.version import __version__

# the oldest IR version that each opset allows, from ONNX's table of versions
IR_OF_OPSET = dict(
    zip(range(13, 27), (7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13), strict=True)
)


def export_network(net: Network, options: ExportOptions) -> Model:
    """The ONNX model of `net`. See `neat_onnx.export`."""
    _check_ports(net)
    _check_memory(net, options)
    ctx = LoweringContext(net, options, _plan(net))
    spatial = spatial_layers(ctx)
    if spatial.blocks:
        ctx.plan = _plan(net, spatial.blocks)
    _check_activations(ctx)
    for name in (port.name for port in net.inputs + net.outputs):
        ctx.fresh(name)
    fused = fused_blocks(ctx, spatial.neurons)
    ctx.steps = Steps() if fused else None
    for port in net.inputs:
        open_input(ctx, port)
    unclaimed = np.ones(len(net), np.bool_)
    unclaimed[np.concatenate([spatial.neurons, *(block.neurons for _, block in fused)])] = False
    claimed: list[tuple[Lowering, Block]] = [*spatial.claims(ctx)]
    for level, neurons in enumerate(ctx.plan.levels[1:], 1):
        claimed += _claim_level(ctx, level, neurons, unclaimed)
    states = open_states(ctx, [block for _, block in claimed])
    for handler, block in sorted([*fused, *claimed], key=lambda pair: pair[1].level):
        handler.lower(ctx, block)
        if np.any(ctx.bound_in[block.neurons] == UNBOUND):
            raise AssertionError(f"{type(handler).__name__} left neurons of its block unbound")
    for port in net.outputs:
        produce_output(ctx, port)
    close_states(ctx, states)
    return _finished(ctx, states, spatial)


def _check_ports(net: Network) -> None:
    if not net.input_neurons.size:
        raise NetworkError("a network without inputs has no ONNX form", where="inputs")
    for port in net.inputs + net.outputs:
        if not port.neurons.size:
            raise NetworkError(
                f"port '{port.name}' has no neurons, and so no ONNX form",
                hint="Take it out of the network",
            )


def _check_memory(net: Network, options: ExportOptions) -> None:
    if net.has_memory and not options.allow_recurrent:
        raise OptionError("the network has memory", where="allow_recurrent", hint="Allow it")
    if net.has_memory and not (options.recurrent_single_step or options.sequence):
        raise OptionError(
            "the network has memory",
            where="recurrent_single_step",
            hint="Allow single steps, or export a sequence",
        )


def _check_activations(ctx: LoweringContext) -> None:
    for level, neurons in enumerate(ctx.plan.levels[1:], 1):
        names = sorted(set(ctx.net.activation_names[neurons]))
        if len(names) > 1 and not ctx.options.allow_mixed_activations:
            raise OptionError(
                f"level {level} has several activations: {', '.join(names)}",
                where="allow_mixed_activations",
                hint="Allow mixed activations, or give the level's neurons one activation",
            )


def _plan(net: Network, blocks: Sequence[SpatialBlock] = ()) -> Schedule:
    """The schedule of the neurons that matter, those that nothing reads on the last level."""
    needed = contributing(net, blocks)
    full = schedule(net, blocks)
    levels = [level[needed[level] | net.is_input[level]] for level in full.levels]
    while len(levels) > 1 and not levels[-1].size:
        levels.pop()
    return with_late_sinks(Schedule(full.level, tuple(levels)), net, needed, blocks)


def _claim_level(
    ctx: LoweringContext, level: int, neurons: Ints, unclaimed: Bools
) -> Iterator[tuple[Lowering, Block]]:
    """The level's blocks, each with the handler that claims it; takes them out of `unclaimed`."""
    for handler in HANDLERS:
        for block in handler.claim(ctx, level, neurons[unclaimed[neurons]]):
            unclaimed[block.neurons] = False
            yield handler, block
    if (neurons := neurons[unclaimed[neurons]]).size:
        raise AssertionError(f"no handler claimed {ctx.net.label(int(neurons[0]))}")


def _finished(ctx: LoweringContext, states: list[State], spatial: SpatialLayers) -> Model:
    net, options = ctx.net, ctx.options
    graph = Graph(
        name="neat_onnx",
        inputs=[
            *(_port(ctx, port.name, port.shape) for port in net.inputs),
            *(_port(ctx, state.previous, state.origin.shape) for state in states),
        ],
        outputs=[
            *(_port(ctx, port.name, port.shape) for port in net.outputs),
            *(_port(ctx, state.next, state.origin.shape) for state in states),
        ],
        initializer=list(ctx.initializers.values()),
        node=ctx.nodes,
    )
    if options.sequence:
        graph = as_sequence(ctx, graph, states) if ctx.steps is None else over_time(graph)
    model = Model(
        ir_version=IR_OF_OPSET[options.opset],
        opset_import=[OperatorSet(version=options.opset)],
        producer_name=options.producer_name,
        producer_version=options.producer_version or __version__,
        doc_string=options.doc_string,
        graph=apply_passes(graph),
    ).written_as(options.encoding)
    if not options.include_metadata:
        if not options.sequence:
            warn_of_lost_starts(states)
        return model
    return model.model_copy(update={"metadata_props": _metadata(ctx, model, states, spatial)})


def _port(ctx: LoweringContext, name: str, shape: tuple[int, ...]) -> ValueInfo:
    return ValueInfo.of(name, ctx.data_type, [ctx.options.batch, *shape])


def _metadata(
    ctx: LoweringContext, model: Model, states: list[State], spatial: SpatialLayers
) -> list[MetadataEntry]:
    entries: dict[str, Any] = {}
    hidden = _layer_sizes(ctx)
    if hidden is not None:
        entries["layer_sizes"] = str(hidden)
    entries |= spatial_metadata(ctx, spatial)
    carried = state_metadata([] if ctx.options.sequence else states, model)
    entries |= carried
    paired = _entries({key: carried[key] for key in carried if key == STATE_KEY})
    entries |= genome_metadata(ctx, model.model_copy(update={"metadata_props": paired}))
    return _entries(entries)


def _entries(metadata: dict[str, Any]) -> list[MetadataEntry]:
    return [MetadataEntry(key=key, value=value) for key, value in metadata.items()]


def _layer_sizes(ctx: LoweringContext) -> list[int] | None:
    """The sizes of the hidden layers, if every level reads from the one before it only."""
    level, live = ctx.plan.level, ctx.net.live
    used = ctx.bound_in[live.target] != UNBOUND
    if np.any(level[live.source[used]] + 1 != level[live.target[used]]):
        return None
    return [len(neurons) for neurons in ctx.plan.levels[1:-1]]
