"""Proof: a network and a model run side by side on sampled inputs, by an independent runtime."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model
from neat_onnx.model.draft import with_graph
from neat_onnx.model.ports import with_data_inputs, with_inner_outputs
from neat_onnx.model.rounding import computes_integers, is_quantized
from neat_onnx.model.wiring import without_dead
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes import Session
from neat_onnx.runtimes.player import Player, ShapeMismatch, number_type
from neat_onnx.runtimes.ports import as_named, as_read, check_ports, pairs_of, with_port_sizes
from neat_onnx.verification.judge import Errors, against_rounding, largest, within_bound
from neat_onnx.verification.left_out import Part, held_steps, unordered, without
from neat_onnx.verification.report import Report, Verdict
from neat_onnx.verification.rounding import rounded_runs
from neat_onnx.verification.samples import (
    LONG_SEQUENCES,
    check_sampling,
    sampled_inputs,
    short_sequences,
)

BOUND = {DataType.FLOAT: 1e-12, DataType.DOUBLE: 1e-24, DataType.FLOAT16: 1e-6}
_SAMPLES_ENOUGH = 256


def compare(
    net: Network,
    model: Model,
    *,
    samples: int,
    seed: int,
    runtime: str | Session,
    long: bool = True,
) -> Report:
    """Compare a network with a model; see `neat_onnx.verify`.

    Args:
        runtime: its name, which loads a quantized model as written, since runtimes round elsewhere;
            or a session that has the model, where the first neuron that differs is not looked for.
        long: play the long sequences too, where there is memory.
    """
    check_sampling(samples, seed)
    model.check_outputs()  # nothing is repaired here
    net = as_named(net, model)
    model = with_data_inputs(with_ports(net, model))
    check_ports(net, model)
    player = Player(model, net, runtime, as_written=is_quantized(model.graph))
    long = long and not player.ended
    ways = [player] if player.fixed_batch else [player, player.one_by_one()]
    refusals = []
    for each in ways:  # a model that states a batch may yet run single samples alone
        inputs = sampled_inputs(net, model, samples, seed, long=long, fixed_batch=each.fixed_batch)
        try:
            return _compared(net, model, each, inputs, seed, runtime)
        except ModelError as error:
            refusals.append(error)
    raise refusals[0]


def with_ports(net: Network, model: Model) -> Model:
    """The model with the network's outputs and the states alone, and the nodes that they need.

    It may have tensors inside the graph as outputs, and lack outputs drawn at random, which not
    every runtime can do, and tensors that no output needs, which may be large.
    """
    names = {port.name for port in net.outputs}
    model = with_inner_outputs(with_port_sizes(net, model), sorted(names))
    names.update(pairs_of(net, model).values())
    entries = [entry for entry in model.graph.outputs if entry.name in names]
    return without_dead(with_graph(model, outputs=entries) if entries else model)


def _compared(
    net: Network,
    model: Model,
    player: Player,
    inputs: Sequence[Floats],
    seed: int,
    runtime: str | Session,
) -> Report:
    """The report on these inputs, (T, N, I): short ones, and long ones if any.

    Where both differ, the sequences that no runtime owes are left out.

    Raises:
        ModelError: the runtime cannot run the model.
        ShapeMismatch: it has outputs of another shape, and says so.
    """
    kind, long = number_type(model), inputs[1:]
    facts = {
        "bound": BOUND[kind],
        "samples": inputs[0].shape[1],
        "steps": len(inputs[0]),
        "long_sequences": LONG_SEQUENCES * len(long),
        "long_steps": sum(map(len, long)),
        "seed": int(seed),
        "runtime": player.name,
        "dtype": kind.dtype.name,
        "quantized": is_quantized(model.graph),
    }
    try:
        parts = [both_sides(net, player, x) for x in inputs]
    except ShapeMismatch as error:
        try:
            check_ports(net, model, stated_outputs=True)
        except ModelError as stated:
            raise ShapeMismatch(stated.message, hint=stated.hints) from None
        return _report("different", Errors(None, None, None, None, 0, 0), facts, str(error))
    report = _judged(net, model, parts, facts, runtime)
    if report.passed:
        return report
    lost = [unordered(net, part.x, part.want) for part in parts]
    if not any(map(np.any, lost)) or any(map(np.all, lost)):
        return report
    facts["unordered"] = int(sum(map(np.sum, lost)))
    ordered = [without(part, each) for part, each in zip(parts, lost, strict=True)]
    again = _judged(net, model, ordered, facts, runtime)
    return again if again.passed else report


def both_sides(net: Network, player: Player, x: Floats) -> Part:
    """Run the network on inputs (T, N, I), and play the model on them."""
    want = net.run(x)
    played = player.play(x, [port.name for port in net.outputs])
    got = np.concatenate([played[port.name] for port in net.outputs], axis=-1)
    if got.shape != want.shape:
        raise ShapeMismatch(
            f"the outputs have {got.shape[-1]} values for each sample, "
            f"the network's {want.shape[-1]}",
            hint="Compare a network with the model that was made from it",
        )
    return Part(x, want, got)


def _judged(
    net: Network, model: Model, parts: list[Part], facts: dict[str, Any], runtime: str | Session
) -> Report:
    """The report of the worst part."""
    beyond = [part for part in parts if not within_bound(part.want, part.got, facts["bound"])]
    if not beyond:
        return _report("equal", largest(part.errors for part in parts), facts)
    rounding = None
    if not computes_integers(model):  # whose arithmetic rounds nothing
        passed, parts, rounding = _within_rounding(net, model, parts, facts)
        if passed:
            verdict: Verdict = "equal within float32" if facts["dtype"] == "float32" else "equal"
            return _report(verdict, largest(part.errors for part in parts), facts, None, rounding)
    where = None
    if isinstance(runtime, str):
        from neat_onnx.verification.first_difference import first_difference  # noqa: PLC0415 (only where it fails)

        where = first_difference(net, model, beyond[0].x, runtime)
    return _report("different", largest(part.errors for part in parts), facts, where, rounding)


def _within_rounding(
    net: Network, model: Model, parts: list[Part], facts: dict[str, Any]
) -> tuple[bool, list[Part], float | None]:
    """Whether rounding makes errors as large; the parts as far as it is finite; its own error."""
    element = np.dtype(facts["dtype"]).type
    runs = [list(rounded_runs(net, part.x, element)) for part in parts]
    parts, runs, cut = held_steps(parts, runs)
    found = [
        against_rounding(part.want, part.got, rounded, facts["bound"])
        for part, rounded in zip(parts, runs, strict=True)
    ]
    others = all(each.within for each in found[1:]) and cut.enough_held
    if others and facts["samples"] < _SAMPLES_ENOUGH and not found[0].within:
        more = _of_enough_samples(net, model, facts["seed"], element)
        found[0] = against_rounding(parts[0].want, parts[0].got, runs[0], facts["bound"], more)
    sizes = [each.normalised_mse for each in found if each.normalised_mse is not None]
    facts |= {"overflow_step": cut.step, "left_out": cut.sequences}
    return others and found[0].within, parts, max(sizes, default=None)


def _of_enough_samples(
    net: Network, model: Model, seed: int, element: type[np.floating[Any]]
) -> tuple[Floats, list[Floats]]:
    """Outputs of as many short sequences as are compared unless fewer are wished, and rounded."""
    x = as_read(net, model, short_sequences(net, _SAMPLES_ENOUGH, seed))
    want = net.run(x)
    (part,), (runs,), _ = held_steps([Part(x, want, want)], [list(rounded_runs(net, x, element))])
    return part.want, runs


def _report(
    verdict: Verdict,
    errors: Errors,
    facts: dict[str, Any],
    first_error: str | None = None,
    rounding: float | None = None,
) -> Report:
    return Report(
        verdict=verdict,
        passed=verdict != "different",
        first_error=first_error,
        rounding=rounding,
        **errors._asdict(),
        **facts,
    )
