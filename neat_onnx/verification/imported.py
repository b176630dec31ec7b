"""The check that an import is right: its outputs against the model's, on a few samples.

A graph may mix samples, or steps of time, as no network of neurons can: then its import computes
another function, however plausible each of its nodes is. Only running the graph shows that.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from neat_onnx.errors import ImportAdvice, ModelError, NeatOnnxError, warn
from neat_onnx.genome import Imported
from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.model.wiring import node_count, producers
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.passes.constants import weights_among_inputs
from neat_onnx.passes.draft import Draft
from neat_onnx.passes.empty_inputs import empty_inputs
from neat_onnx.passes.recurrent_layers import is_recurrent
from neat_onnx.verification.compare import as_read, compare_on, with_ports
from neat_onnx.verification.judge import Slack, measure
from neat_onnx.verification.open_batch import loaded
from neat_onnx.verification.player import Player, showing
from neat_onnx.verification.ports import check_ports, is_of_half_precision
from neat_onnx.verification.rows import ShapeMismatch
from neat_onnx.verification.samples import short_sequences

UNCHECKED = "the imported network is not compared with the model"
"""How the warning begins that there was no check."""

_SAMPLES, _STEPS = 8, 4  # a few of each kind of input, and steps enough to carry a state on
_MAX_NODES = 2_000
_MAX_NODE_RUNS = 40_000  # a node takes onnx's reference evaluator some 20 µs
_TENSORS_PER_NODE_RUN = 4  # that are handed over in the same time
_MAX_ELEMENTS_POOLED = 1 << 17  # of a sample; each takes the evaluator some 0.7 µs
_MAX_PRODUCTS = 1 << 24  # of weights and values, by numpy
_MAX_PRODUCTS_OF_FIXED_BATCH = 1 << 30  # the same, where a run has to be of so many samples
_MAX_CONNECTIONS_ROUNDED = 1 << 17  # more take too long to run rounded
_NODES_WITHIN_BOUND = 64  # rounding of such a graph is within the bound: errors grow with the nodes
_MAX_NODES_TRACED = 1_000  # in search of a first difference: a run for each
_SLACK_OF_ONE_OUTPUT = 1e4  # times the bound, where all outputs together are within it
_MIN_DIFFERENCE = 1e-6  # the normalised MSE from which on a tensor is not the same any more
_NO_TIME = "a run of it takes too long"
_RUNTIMES = ("reference", "onnxruntime")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_BY_ELEMENT = 13  # the opset from which on Hardmax is along one axis
_OF_RUNTIMES = ("", "ai.onnx.ml", RUNTIME_DOMAIN)
_SOFTMAXES = ("Softmax", "LogSoftmax", "Hardmax")
_LEFT_OUT = frozenset(
    {"activations", "activation_alpha", "activation_beta", "clip", "input_forget"}
)


class _TooLong(ModelError):
    """A run of the model takes too long, in any runtime."""


def check_import(found: Imported) -> None:
    """Compare an imported network with its model on a few samples.

    The model is run by onnx's reference evaluator; where that does not run it, or finds it
    different, by onnxruntime, if that is installed: the evaluator is not always right. Neither
    rewrites the graph, and one that does not run several samples runs each alone. Graphs that
    neither runs, or not in a few seconds, are left unchecked, with a warning, as are graphs of half
    precision.

    Raises:
        ModelError: they differ.
    """
    if is_of_half_precision(found.model):
        return
    nodes = node_count(found.model.graph)
    if nodes > _MAX_NODES:
        _warn_unchecked(f"{nodes} nodes take too long")
        return
    model = weights_among_inputs(with_ports(found.network, found.model))
    found = replace(found, model=empty_inputs(model))
    refusal, reasons = None, []
    for runtime in _runtimes(found):
        try:
            refusal = _found_by(found, runtime)
        except ShapeMismatch as error:
            refusal = _refused(runtime, error.message, "graph.outputs")
        except _TooLong as error:
            reasons.append(error.message)
            break
        except NeatOnnxError as error:  # it does not run the model, or is not installed
            reasons.append(error.message)
            continue
        if refusal is None:
            return
    if refusal is not None:
        raise refusal
    if not _has_own_operators(model):
        _warn_unchecked(reasons[0])


def _warn_unchecked(reason: str) -> None:
    warn(f"{UNCHECKED}: {reason}")


def _has_own_operators(model: Model) -> bool:
    """Whether operators are in it that their user registered, which no runtime has."""
    return any(node.domain not in _OF_RUNTIMES for node in model.graph.node)


def _found_by(found: Imported, runtime: str) -> ModelError | None:
    """The difference that a runtime finds, in the first way in which it runs the model.

    Some do not run several samples at once, and integers may be places that have to be there.

    Raises:
        ModelError: it runs the model in none.
        _TooLong: there is no time to run it.
        ShapeMismatch: it runs several samples at once, and does not give a row for each: one by one
            they would not show that they are mixed.
    """
    net, model = found.network, found.model
    check_ports(net, model)
    player = loaded(net, model, runtime, as_written=True)
    if not _count(net, model, player):
        raise _TooLong(_NO_TIME)
    ways = [(player, False), (player.one_by_one(), False)]
    if _integers(model):
        ways += [(each, True) for each, _ in ways]
    for each, bits in ways[:-1]:
        try:
            return _difference(found, each, runtime, bits=bits)
        except ModelError as error:
            if isinstance(error, ShapeMismatch) and not each.fixed_batch:
                raise
    each, bits = ways[-1]
    return _difference(found, each, runtime, bits=bits)


def _difference(found: Imported, player: Player, runtime: str, *, bits: bool) -> ModelError | None:
    """The error that tells of a difference, None if there is none.

    Args:
        bits: integers are 0 and 1.

    Raises:
        ModelError: there is no time to find it, or the runtime does not run the model.
    """
    net, model = found.network, found.model
    count = _count(net, model, player)
    if not count:
        raise ModelError(_NO_TIME)
    x = _samples(net, model, _steps(net, player), count)
    if bits:
        x = _with_bits(net, model, x)
    x = _held(net, model, x)
    report = compare_on(net, model, player, [x], 0, runtime, _slack(net, model))
    if report.not_finite and not report.passed:
        x = _computed(net, player, x)
        report = compare_on(net, model, player, [x], 0, runtime, _slack(net, model))
    if not report.passed:
        held = _ordered(found, x, runtime)
        if held.shape != x.shape:
            x, report = held, compare_on(net, model, player, [held], 0, runtime, _slack(net, model))
    if report.passed:
        return None
    what = report.first_error or report.difference()
    return _refused(report.runtime, what, _first_difference(found, x, runtime))


def _refused(runtime: str, what: str, where: str) -> ModelError:
    return ModelError(
        f"the imported network does not compute what the model does in {runtime}: {what}",
        where=where,
        hint=[
            ImportAdvice(
                "If the graph mixes the samples of its batch, it is no network: import with {} if "
                "the first axis is features",
                {"batch_axis": None},
            ),
            ImportAdvice("Leave this check out with {}", {"check": False}),
        ],
    )


def _computed(net: Network, player: Player, x: Floats) -> Floats:
    """The sequences in which the runtime's numbers do not overflow; all of them if most do.

    Large inputs are the few that overflow. Infinities of the others are the model's own, as of a
    mask.
    """
    played = player.play(x, [port.name for port in net.outputs]).values()
    finite = np.all([np.isfinite(values).all(axis=(0, 2)) for values in played], axis=0)
    return x[:, finite] if 2 * np.count_nonzero(finite) >= finite.size else x


def _integers(model: Model) -> set[str]:
    """The inputs that are integers."""
    kinds = {entry.name: entry.elem_type.name.lower() for entry in model.graph.inputs}
    return {name for name, kind in kinds.items() if kind in _INTEGERS}


def _with_bits(net: Network, model: Model, x: Floats) -> Floats:
    """The inputs (T, N, I), with 0 or 1 for each integer."""
    whole = _integers(model)
    chosen = np.concatenate([np.full(port.neurons.size, port.name in whole) for port in net.inputs])
    return np.where(chosen, np.abs(np.floor(x)) % 2, x)


def _held(net: Network, model: Model, x: Floats) -> Floats:
    """The sequences whose outputs the model's integers hold; all of them if they hold none.

    Where a product is beyond its type, integers begin anew at the other end, and numbers do not.
    """
    kinds = {entry.name: entry.elem_type.name.lower() for entry in model.graph.outputs}
    if not any(kinds[port.name] in _INTEGERS for port in net.outputs):
        return x
    want, start, held = net.run(x), 0, np.ones(x.shape[1], np.bool_)
    for port in net.outputs:
        part = want[..., start : start + port.neurons.size]
        start += port.neurons.size
        if kinds[port.name] in _INTEGERS:
            limits = np.iinfo(kinds[port.name])
            held &= np.all((part >= limits.min) & (part <= limits.max), axis=(0, 2))
    return x[:, held] if held.any() else x


def _slack(net: Network, model: Model) -> Slack:
    """How far a model of many operations may be off.

    A network adds up in one sum, or in float64, the numbers that many nodes of a graph round one
    after the other; and to run a large network rounded takes too long. A number near 0 is often
    a difference of large ones, which a graph rounds.
    """
    whole = max(1.0, (len(model.graph.node) / _NODES_WITHIN_BOUND) ** 2)
    if len(net.connections) > _MAX_CONNECTIONS_ROUNDED:
        whole = max(whole, float(np.bincount(net.connections.target, minlength=1).max()))
    return Slack(whole, _SLACK_OF_ONE_OUTPUT * whole)


def _runtimes(found: Imported) -> tuple[str, ...]:
    draft = Draft(found.model)
    misread = any(_is_misread(node, draft) for node in found.model.graph.node)
    is_slow = misread or _pooled(found.lifted.network) > _MAX_ELEMENTS_POOLED
    return _RUNTIMES[1:] if is_slow else _RUNTIMES


def _pooled(net: Network) -> int:
    """How many elements pools read: onnx's reference evaluator takes them one by one."""
    pools = (block for block in net.blocks if block.is_pool)
    return sum(block.neurons.size * math.prod(block.window.kernel) for block in pools)


def _is_misread(node: Node, draft: Draft) -> bool:
    """Whether onnx's reference evaluator is known to compute a node otherwise than ONNX says."""
    given = node.given_attributes
    if "broadcast" in given and "axis" in given:  # of opset 6: by the axis, not from the last on
        return True
    if node.op_type in _SOFTMAXES and draft.model.opset < _BY_ELEMENT:  # of all axes from `axis` on
        axis, shape = given.get("axis", 1), draft.facts(node.input[0]).shape
        return axis != -1 and (shape is None or axis != len(shape) - 1)
    return is_recurrent(node) and not _LEFT_OUT.isdisjoint(given)


def _steps(net: Network, player: Player) -> int:
    return _STEPS if net.has_memory or player.takes_sequences else 1


def _count(net: Network, model: Model, player: Player) -> int:
    """How many samples there is time for."""
    steps, links = _steps(net, player), len(net.connections) + 1
    if player.rows_of_a_run * links * steps > _MAX_PRODUCTS_OF_FIXED_BATCH:
        return 0
    calls = _MAX_NODE_RUNS // (_node_runs(model.graph) * steps) if player.fixed_batch else _SAMPLES
    return min(_SAMPLES, calls, _MAX_PRODUCTS // (links * steps))


def _samples(net: Network, model: Model, steps: int, count: int) -> Floats:
    """Inputs (T, N, I)."""
    x = np.concatenate([short_sequences(net, _SAMPLES, seed) for seed in range(steps)])[:steps]
    order = [2, _SAMPLES - 1, 0, 1, *range(3, _SAMPLES - 1)]  # a plain one and a large one first
    return as_read(net, model, x[:, order[:count]])


def _node_runs(graph: Graph) -> int:
    """How many nodes take as long as the graph, whose outputs are looked at one by one.

    A node of many outputs takes as long as several.
    """
    tensors = sum(len(node.output) for node in graph.node)
    return node_count(graph) + tensors // _TENSORS_PER_NODE_RUN + 2 * len(graph.outputs) - 1


def _first_difference(found: Imported, x: Floats, runtime: str) -> str:
    """The first node, in the graph's order, whose output differs from the neurons' values."""
    nodes = producers(found.model.graph)
    for name, want, got in _traced(found, x, runtime):
        error = measure(want, got).normalised_mse
        if error is None or error > _MIN_DIFFERENCE:
            return f"from tensor '{name}' of node {nodes[name].label} on"
    return "graph.outputs"


def _ordered(found: Imported, x: Floats, runtime: str) -> Floats:
    """The sequences without NaN, which has no place in an order, inside; all if each has some.

    Runtimes differ in which is the largest of numbers with NaN among them. Only NaN that network
    and model have in the same place counts.
    """
    held = np.ones(x.shape[1], np.bool_)
    for _, want, got in _traced(found, x, runtime):
        held &= ~np.any(np.isnan(want) & np.isnan(got), axis=(0, 2))
    return x[:, held] if held.any() else x


def _traced(found: Imported, x: Floats, runtime: str) -> Iterator[tuple[str, Floats, Floats]]:
    """Tensors inside the graph that neurons give: (name, the neurons' values, the model's).

    Both are (T, N, elements), of tensors that have a row for each sample.
    """
    model, lifted = found.model, found.lifted
    outputs = {entry.name for entry in model.graph.outputs}
    produced = [name for node in model.graph.node for name in node.output if name not in outputs]
    places = {name: lifted.tensors[name] for name in produced if name in lifted.tensors}
    if len(produced) > _MAX_NODES_TRACED:
        return
    try:
        player = Player(showing(model, list(places)), lifted.network, runtime, as_written=True)
    except ModelError:  # tensors of another type than that of the numbers are among them
        return
    values = Program(lifted.network, dense=False).neuron_values(x)
    for name, neurons in places.items():
        want = values[:, neurons].swapaxes(1, 2)
        try:
            got = player.play(x, [name])[name]
        except ModelError:
            continue
        if got.shape == want.shape:
            yield name, want, got
