"""Lower: a Network to a Model. The core of export, which names no operator.

Schedule, ask the planners which neurons they claim, open the graph, lower block by block and check
that every neuron is bound to a column of a tensor, close the graph, and finish the model.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.genome.write import genome_metadata
from neat_onnx.lowering.checks import check_activations, check_network, open_options
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.profile import in_profile
from neat_onnx.lowering.registry import Claim, Plan, planners
from neat_onnx.model import MetadataEntry, Model, OperatorSet
from neat_onnx.model.graph import ir_version
from neat_onnx.model.wiring import drop_dead
from neat_onnx.network.genes import marked
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing, schedule, with_late_sinks
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.export import families  # fills the registry
from neat_onnx.options import ExportOptions
from neat_onnx.version import __version__


@np.errstate(all="ignore")  # what is not finite is refused where an initializer is made
def export_network(net: Network, options: ExportOptions) -> Model:
    """The ONNX model of `net`. See `neat_onnx.export`."""
    if net.source is not None:
        from neat_onnx.lowering.provenance import source_with  # noqa: PLC0415 - of imports alone

        if (model := source_with(net, options)) is not None:
            return model
        net = net.without_source()
    options = options.model_copy(update=open_options(net, options))
    check_network(net, options)
    ctx = LoweringContext(net, options, _levels(net))
    plans = _claimed(ctx)
    check_activations(ctx)
    ctx.layered = _is_layered(ctx)
    claims = [claim for plan in plans for claim in plan.claims]
    claims.sort(key=lambda claim: claim.block.level)
    frame = families.frame_of(ctx, claims)
    frame.open()
    for claim in claims:
        claim.lower(ctx, claim.block)
        if not ctx.places.are_bound(claim.block.neurons):
            raise AssertionError(f"{claim.lower} left neurons of its block unbound")
    return _finished(ctx, frame, plans)


def _levels(net: Network, one_level: Sequence[SpatialBlock] = ()) -> Schedule:
    """The schedule of the neurons that matter, those that nothing reads on the last level."""
    needed = contributing(net, one_level)
    full = schedule(net, one_level)
    levels = [level[needed[level] | net.is_input[level]] for level in full.levels]
    while len(levels) > 1 and not levels[-1].size:
        levels.pop()
    return with_late_sinks(Schedule(full.level, tuple(levels)), net, needed, one_level)


def _claimed(ctx: LoweringContext) -> list[Plan]:
    """Each planner's answer; claims of one level may move the neurons of others."""
    free = marked(len(ctx.net), *ctx.schedule.levels[1:])
    plans: list[Plan] = []
    for planner in planners():
        plan = planner(ctx, free)
        plans.append(plan)
        found = [claim.one_level for claim in plan.claims if claim.one_level is not None]
        if found:
            ctx.one_level += found
            ctx.schedule = _levels(ctx.net, ctx.one_level)
            free[np.concatenate(ctx.schedule.levels[1:])] = True
        for claim in (each for some in (plans if found else [plan]) for each in some.claims):
            free[claim.block.neurons] = False
    if np.any(free):
        raise AssertionError(f"nobody claimed {ctx.net.label(int(np.argmax(free)))}")
    return [replace(plan, claims=[_on_its_level(ctx, claim) for claim in plan.claims])
            for plan in plans]  # fmt: skip


def _on_its_level(ctx: LoweringContext, claim: Claim) -> Claim:
    """The claim with its block on the level that the schedule has it on, if it is of one level."""
    if claim.one_level is None:
        return claim
    level = int(ctx.schedule.level[claim.block.neurons[0]])
    return replace(claim, block=replace(claim.block, level=level))


def _finished(ctx: LoweringContext, frame: families.Frame, plans: list[Plan]) -> Model:
    options, graph = ctx.options, frame.close()
    others = sorted({node.domain for node in graph.node} - {""})
    versions = [OperatorSet(version=options.opset)]
    model = Model(
        ir_version=ir_version(options.opset),
        opset_import=versions + [OperatorSet(domain=domain, version=1) for domain in others],
        producer_name=options.producer_name,
        producer_version=options.producer_version or __version__,
        doc_string=options.doc_string,
        graph=drop_dead(graph),
    )
    model = families.in_stated_ports(ctx, model.written_as(options.encoding))
    model = in_profile(model, options)
    if not options.include_metadata:
        frame.check_without_metadata(model)
        return model
    found: dict[str, str] = {}
    if ctx.layered:
        found["layer_sizes"] = str([len(neurons) for neurons in ctx.schedule.levels[1:-1]])
    for plan in plans:
        found |= plan.metadata(ctx, plan.claims) if plan.metadata else {}
    found |= frame.metadata(model)
    found |= genome_metadata(ctx, model, found)
    entries = [MetadataEntry(key=key, value=value) for key, value in found.items()]
    return model.model_copy(update={"metadata_props": entries})


def _is_layered(ctx: LoweringContext) -> bool:
    """Whether every level reads from the one before it only."""
    level, live = ctx.schedule.level, ctx.net.live
    written = marked(len(ctx.net), *ctx.schedule.levels)
    follows = level[live.source] + 1 == level[live.target]
    return bool(np.all(follows | ~written[live.target]))
