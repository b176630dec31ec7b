"""The check that an import is right: its outputs against the model's, on a few samples.

A graph may mix samples, or steps of time, as no network of neurons can: then its import computes
another function, however plausible each of its nodes is. Only running the graph shows that.
"""

from dataclasses import replace

from neat_onnx.errors import ImportAdvice, ModelError, NeatOnnxError, warn
from neat_onnx.genome import Imported
from neat_onnx.model import Model
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.model.wiring import node_count
from neat_onnx.network.genes import Floats
from neat_onnx.passes.constants import weights_among_inputs
from neat_onnx.model.empty_inputs import empty_inputs
from neat_onnx.verification.compare import compare_on, with_ports
from neat_onnx.verification.imported.budget import MAX_NODES, samples_in_time, steps_of
from neat_onnx.verification.imported.evaluators import evaluators_of
from neat_onnx.verification.imported.inner_tensors import first_difference
from neat_onnx.verification.imported.samples import (
    drawn_samples,
    integer_inputs,
    without_inner_nan,
    without_overflow,
)
from neat_onnx.verification.imported.tolerance import slack_of
from neat_onnx.verification.open_batch import loaded
from neat_onnx.verification.player import Player
from neat_onnx.verification.ports import check_ports, is_of_half_precision
from neat_onnx.verification.report import Report
from neat_onnx.verification.rows import ShapeMismatch

UNCHECKED = "the imported network is not compared with the model"
"""How the warning begins that there was no check."""

_NO_TIME = "a run of it takes too long"
_OF_RUNTIMES = ("", "ai.onnx.ml", RUNTIME_DOMAIN)


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
    if nodes > MAX_NODES:
        _warn_unchecked(f"{nodes} nodes take too long")
        return
    model = weights_among_inputs(with_ports(found.network, found.model))
    found = replace(found, model=empty_inputs(model))
    refusal, reasons = None, []
    for runtime in evaluators_of(found):
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
    if not samples_in_time(net, model, player):
        raise _TooLong(_NO_TIME)
    ways = [(player, False), (player.one_by_one(), False)]
    if integer_inputs(model):
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
    slack = slack_of(net, model)

    def compared(x: Floats) -> Report:
        return compare_on(net, model, player, [x], 0, runtime, slack)

    count = samples_in_time(net, model, player)
    if not count:
        raise ModelError(_NO_TIME)
    x = drawn_samples(net, model, steps_of(net, player), count, bits=bits)
    report = compared(x)
    if report.not_finite and not report.passed:
        x = without_overflow(net, player, x)
        report = compared(x)
    if not report.passed:
        ordered = without_inner_nan(found, x, runtime)
        if ordered.shape != x.shape:
            x, report = ordered, compared(ordered)
    if report.passed:
        return None
    what = report.first_error or report.difference()
    return _refused(report.runtime, what, first_difference(found, x, runtime))


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
