"""Lift: a Model to a Network. The core of import, which names no operator.

Constants and inputs are bound, then each node is lifted in order by the function registered for its
operator. At the end every signal that was materialized becomes a neuron, or the activation of one.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from neat_onnx.errors import ModelError, NeatOnnxWarning, all_obstacles, warn
from neat_onnx.lifting.axes import (
    Axes,
    axes_of_inputs,
    input_axes,
    with_shared_rows,
)
from neat_onnx.lifting.context import INPUT, LiftingContext
from neat_onnx.lifting.dispatch import lift_node
from neat_onnx.lifting.feature_counts import feature_counts
from neat_onnx.lifting.float32_attributes import float32_attributes
from neat_onnx.lifting.initial_values import resolution_of
from neat_onnx.lifting.known_operators import is_liftable, require_lifts
from neat_onnx.lifting.outputs import (
    choice_hint,
    chosen_outputs,
    computed_outputs,
    distinct_outputs,
    drawn_from,
    empty_outputs,
    outputs_left_out,
)
from neat_onnx.lifting.ports import (
    close_output,
    input_ports,
    open_input,
    open_state,
    output_ports,
    require_time,
)
from neat_onnx.lifting.samples import batch_sizes, common_size
from neat_onnx.lifting.states import fed_states, memory_ports
from neat_onnx.lifting.ways_out import either_way, single_sample_advice
from neat_onnx.model import Model
from neat_onnx.model.budget import Budget, LimitReached
from neat_onnx.model.inner_outputs import with_inner_outputs
from neat_onnx.model.single_sample import takes_single_sample
from neat_onnx.model.states import initial_states, is_own_pair
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import require_wiring
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.passes import SIMPLE, Pass, canonicalize
from neat_onnx.passes.checks.types import check_types
from neat_onnx.passes.computed_branches import computed_branches
from neat_onnx.passes.draft import with_graph
from neat_onnx.passes.fixed_batches import fixed_batches
from neat_onnx.passes.function_bodies import function_bodies
from neat_onnx.passes.local_functions import local_functions
from neat_onnx.passes.seldom import seldom_forms, simple_inside
from neat_onnx.passes.sequence_axes import sequence_axes
from neat_onnx.passes.sequence_states import with_open_states

BatchAxis = Literal["auto"] | None


@dataclass(frozen=True)
class Lifted:
    """The network that a graph computes, and where its neurons are.

    Attributes:
        network: ids are positions; neurons stand in the order of `lifting/numbering.py`.
        tensors: for each tensor that neurons could be found for, their positions, flat.
    """

    network: Network
    tensors: dict[str, Ints]


def lift(
    model: Model, batch_axis: BatchAxis = "auto", outputs: Sequence[str] | None = None
) -> Lifted:
    """The network that a model's graph is, without a look at its metadata.

    Args:
        model: the model.
        batch_axis: "auto" finds the batch, see `axes`; where every size is fixed and the first axis
            turns out to be no batch, or the metadata says that there is none, every axis is
            features. With None every axis is; one of no fixed size that would be the batch has
            one element then.
        outputs: names of the outputs to import; None takes those that are computed from inputs, or
            where all are random, the tensors that they are drawn from.

    Raises:
        ModelError: the graph has something that neurons cannot compute; says which node.
    """
    if takes_single_sample(model):
        batch_axis = None
    model = distinct_outputs(local_functions(model))
    Budget().take("nodes", len(model.graph.node))
    model, pairs = fed_states(fixed_batches(model))
    model = sequence_axes(float32_attributes(_simple(model, pairs, outputs)), input_axes)
    try:
        return _of_simple(model, pairs, batch_axis)
    except ModelError as error:
        if batch_axis is None or pairs or isinstance(error, LimitReached):
            raise
        from neat_onnx.lifting.batches_apart import of_separate_samples  # noqa: PLC0415 - seldom

        if net := of_separate_samples(model, lambda each: _with_its_outputs(each, None).network):
            return Lifted(net, {})
        raise


def _with_its_outputs(model: Model, batch_axis: BatchAxis = "auto") -> Lifted:
    """The network with all outputs of a graph, of which none is left out."""
    return lift(model, batch_axis, [entry.name for entry in model.graph.outputs])


def _of_simple(model: Model, pairs: dict[str, str], batch_axis: BatchAxis) -> Lifted:
    """The network of a graph in simple form."""
    _require_lifts(model, pairs, batch_axis)
    check_types(model)
    kept = {entry.name for entry in model.graph.outputs}
    pairs = {previous: following for previous, following in pairs.items() if following in kept}
    if batch_axis is None:
        return _lifted(model, pairs, batch_axis)
    fixed = all(is_fixed(entry.shape) for entry in model.graph.inputs)
    return _of_fixed_sizes(model, pairs) if fixed else _of_open_sizes(model, pairs)


def _require_lifts(model: Model, pairs: dict[str, str], batch_axis: BatchAxis) -> None:
    """Refuse a graph with operators that cannot be lifted, and tell of other obstacles as well."""
    try:
        require_lifts(model.graph)
    except ModelError as error:
        lacking = sum(not is_liftable(node) for node in model.graph.node)
        try:
            _lifted(model, pairs, batch_axis)
        except ModelError as others:
            if len(others.obstacles) > lacking:
                raise others from None
        if batch_axis == "auto" and (advice := single_sample_advice(model, _with_its_outputs)):
            error.hints = (advice, *(each for each in error.hints if not isinstance(each, str)))
        raise error from None


def _of_open_sizes(model: Model, pairs: dict[str, str]) -> Lifted:
    """The network of a graph with a batch; where inputs of one row have none, all samples share
    these.
    """
    try:
        return _lifted(model, pairs, "auto")
    except LimitReached:
        raise
    except ModelError as error:
        inputs = with_shared_rows(model.graph.inputs, pairs)
        if inputs == model.graph.inputs:
            raise
        try:
            return _lifted(with_graph(model, inputs=inputs), pairs, "auto")
        except ModelError:
            raise error from None


def _of_fixed_sizes(model: Model, pairs: dict[str, str]) -> Lifted:
    """The network of a graph with a batch; where there is none, with every axis as features."""
    if lifted := _with_open_states(model, pairs):
        return lifted
    sizes = batch_sizes(model.graph, axes_of_inputs(model.graph.inputs))
    ways: tuple[BatchAxis, BatchAxis] = ("auto", None)
    reason = ""
    if len(sizes) > 1:
        ways = (None, "auto")
        reason = f"the inputs have {' and '.join(sorted(map(str, sizes)))} samples"
    try:
        lifted, axis = _lifted(model, pairs, ways[0]), ways[0]
    except LimitReached:
        raise
    except ModelError as error:
        try:
            lifted, axis = _lifted(model, pairs, ways[1]), ways[1]
        except ModelError as other:
            raise either_way(error, other) from None
        reason = reason or "; ".join(error.first_obstacles or error.faults)
    if axis is None:
        warn(f"the first axis is no batch, every axis is taken for features: {reason}")
    return lifted


def _with_open_states(model: Model, pairs: dict[str, str]) -> Lifted | None:
    """The network of a graph in which states [layers, 1, H] have the batch second, if any has."""
    opened = with_open_states(model, pairs)
    sizes = batch_sizes(opened.graph, axes_of_inputs(opened.graph.inputs))
    if opened is model or {size for size in sizes if isinstance(size, int)} != {1}:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", NeatOnnxWarning)
            return _lifted(opened, pairs, "auto")
    except LimitReached:
        raise
    except (ModelError, NeatOnnxWarning):
        return None


def _simple(model: Model, pairs: dict[str, str], outputs: Sequence[str] | None) -> Model:
    """The model in the operators that have lifts, with the outputs that are to be imported."""
    as_read = model
    if outputs is not None:
        model = chosen_outputs(model, outputs, pairs)
    require_wiring(model.graph)
    given = model.graph
    model = _decided(canonicalize(model, SIMPLE), feature_counts)
    if outputs is None:
        left_out = outputs_left_out(model.graph, pairs.values())
        if names := drawn_from(left_out, given):
            return _simple(with_inner_outputs(as_read, names), pairs, names)
        model = computed_outputs(model, left_out)
    return _of_known_operators(model)


def _decided(model: Model, counted: Pass = lambda model: model) -> Model:
    """A simple model without the branches and loops that its inputs decide, in simple form.

    Args:
        model: the model.
        counted: asked before in each round.
    """
    while (known := _next_form(model, counted)) is not model:
        model = canonicalize(known, SIMPLE)
    return model


def _next_form(model: Model, counted: Pass) -> Model:
    known = seldom_forms(computed_branches(counted(model)))
    return simple_inside(model, _simple_body) if known is model else known


def _simple_body(model: Model) -> Model:
    """The model of a graph inside a node, in the operators that have lifts."""
    return _of_known_operators(_decided(canonicalize(model, SIMPLE)))


def _of_known_operators(model: Model) -> Model:
    """The model with operators that have lifts in place of those that ONNX defines by them."""
    known = function_bodies(model, is_liftable)
    return model if known is model else canonicalize(known, SIMPLE)


def _lifted(model: Model, pairs: dict[str, str], batch_axis: BatchAxis) -> Lifted:
    """The network of the graph; where a choice needs it, with whole formulas, or guarded."""
    axes = axes_of_inputs(model.graph.inputs)
    if batch_axis is None:
        axes = dict.fromkeys(axes, ())
    samples = common_size(batch_sizes(model.graph, axes))
    ctx = LiftingContext(model, not any(axes.values()), samples)
    try:
        return _lifted_in(ctx, pairs, axes)
    except ModelError as error:
        if not ctx.undecided:
            raise
        known = model, ctx.features_only, ctx.samples
        for whole in (True, False):
            again = LiftingContext(*known, whole=whole, guarded=not whole)
            try:
                return _lifted_in(again, pairs, axes)
            except ModelError:
                continue
        raise error from None


@np.errstate(all="ignore")  # a number that is not finite is refused where it is used
def _lifted_in(ctx: LiftingContext, pairs: dict[str, str], axes: dict[str, Axes]) -> Lifted:
    model = ctx.model
    ctx.operands.update({tensor.name: tensor.values for tensor in model.graph.initializer})
    initial = initial_states(model)
    ctx.states.update(pairs)
    inputs = []
    for entry in model.graph.inputs:
        if entry.name in pairs:
            open_state(ctx, entry, axes[entry.name], initial.get(entry.name))
        else:
            inputs.append(open_input(ctx, entry, axes[entry.name], INPUT))
    require_time(ctx, axes)
    _lift_all(ctx)
    for previous, following in pairs.items():
        ctx.feed(previous, following, activations=not is_own_pair(previous, following))
    sizes, fed = batch_sizes(model.graph, axes), set(pairs.values())
    closed = [
        close_output(ctx, entry, sizes) for entry in model.graph.outputs if entry.name not in fed
    ]
    empty = empty_outputs({name: signals.size for name, _, signals in closed})
    outputs = [entry for entry in closed if entry[0] not in empty]
    resolved = resolution_of(ctx)
    network = resolved.network(
        input_ports(ctx, resolved, inputs, axes),
        output_ports(ctx, resolved, outputs, max(map(len, axes.values()), default=0)),
    )
    memory = tuple(memory_ports(ctx, pairs, axes, resolved))
    return Lifted(replace(network, memory=memory) if memory else network, resolved.tensors())


def _lift_all(ctx: LiftingContext) -> None:
    """Lift every node, in order.

    Raises:
        ModelError: it tells of every node that cannot be lifted, but not of those that read them.
        LimitReached: a node asks for more than the limits allow.
    """
    obstacles: list[ModelError] = []
    missing: set[str] = set()
    for node in ctx.model.graph.node:
        if missing.isdisjoint(node.input) or not is_liftable(node):
            try:
                lift_node(ctx, node)
                continue
            except LimitReached:
                raise
            except ModelError as error:
                obstacles.append(error.with_traceback(None))  # its frames hold arrays
        missing.update(filter(None, node.output))
    if obstacles:
        raise all_obstacles(obstacles, choice_hint(ctx.model.graph, missing))
