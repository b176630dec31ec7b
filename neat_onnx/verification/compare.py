"""Proof: a network and a model run side by side on sampled inputs, by an independent runtime."""

from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError, OptionError
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.core import leading_axes
from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.states import state_pairs
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.verification.report import Report
from neat_onnx.verification.runtimes import Player, Runtime

BOUND = {DataType.FLOAT: 1e-12, DataType.DOUBLE: 1e-24}
_LARGE = 10.0
_FEWEST = 4
STEPS = 16


def compare(net: Network, model: Model, *, samples: int, seed: int, runtime: Runtime) -> Report:
    """See `neat_onnx.verify`."""
    model = repaired(model)
    if samples < _FEWEST:
        raise OptionError(f"{samples} samples are too few", where="samples", hint="Take 4 or more")
    _check_ports(net, model)
    x = sampled(net, samples, seed)
    if model.graph.inputs[0].elem_type is DataType.FLOAT:
        x = x.astype(np.float32).astype(np.float64)  # both sides get the same inputs
    player = Player(model, net, runtime)
    want = net.run(x)
    played = player.play(x, [port.name for port in net.outputs])
    got = np.concatenate([played[port.name] for port in net.outputs], axis=-1)
    report = _compared(want, got, model, seed, player.name)
    if not report.passed:
        report.rounding = _rounding(net, x, want) if report.dtype == "float32" else None
        from neat_onnx.verification.trace import first_difference  # noqa: PLC0415 (only where it fails)

        report.first_error = first_difference(net, model, x, runtime)
    return report


def sampled(net: Network, samples: int, seed: int) -> Floats:
    """Inputs (T, samples, I): zeros, ones, then normal ones, the last quarter of them ten times."""
    steps = STEPS if net.has_memory else 1
    x = np.random.default_rng(seed).normal(size=(steps, samples, len(net.input_neurons)))
    x[:, 0], x[:, 1] = 0.0, 1.0
    x[:, -(samples // 4) :] *= _LARGE
    return x


def _rounding(net: Network, x: Floats, want: Floats) -> float | None:
    """The normalised MSE of the network itself, once its genes are rounded to float32."""

    def rounded(values: Floats) -> Floats:
        return values.astype(np.float32).astype(np.float64)

    genes, links = net.neurons, net.connections
    rough = replace(
        net,
        neurons=replace(genes, bias=rounded(genes.bias), response=rounded(genes.response)),
        connections=replace(links, weight=rounded(links.weight)),
    )
    with np.errstate(all="ignore"):
        error = float(np.mean((rough.run(x) - want) ** 2) / max(1.0, float(np.mean(want**2))))
    return error if np.isfinite(error) else None


def _check_ports(net: Network, model: Model) -> None:
    pairs = state_pairs(model)
    leading = leading_axes(model.graph.inputs[0].shape or ()) if model.graph.inputs else 1
    carried = {*pairs, *pairs.values()}

    def features(entries: list[ValueInfo]) -> dict[str, Any]:
        return {
            entry.name: tuple(entry.shape or ())[leading:]
            for entry in entries
            if entry.name not in carried
        }

    for what, ports, entries in (
        ("input", net.inputs, model.graph.inputs),
        ("output", net.outputs, model.graph.outputs),
    ):
        ours, theirs = {port.name: port.shape for port in ports}, features(entries)
        if ours != theirs:
            raise ModelError(
                f"the model's {what}s are {_listed(theirs)}, the network's {_listed(ours)}",
                hint="Compare a network with the model that was made from it",
            )


def _listed(ports: dict[str, Any]) -> str:
    return ", ".join(f"'{name}' {list(shape)}" for name, shape in ports.items()) or "none"


def _compared(want: Floats, got: Floats, model: Model, seed: int, runtime: str) -> Report:
    data_type = model.graph.inputs[0].elem_type
    finite = np.isfinite(want) & np.isfinite(got)
    agreed = finite | (want == got) | (np.isnan(want) & np.isnan(got))
    error = np.where(finite, got - np.where(finite, want, 0.0), 0.0)
    reference = np.where(finite, want, 0.0)
    with np.errstate(over="ignore"):
        mse = float(np.mean(error**2))
        normalised = mse / max(1.0, float(np.mean(reference**2)))
    bound = BOUND[data_type]
    whole = bool(np.all(agreed)) and np.isfinite(normalised)
    relative = np.abs(error) / np.maximum(1.0, np.abs(reference))
    return Report(
        passed=whole and normalised <= bound,
        mse=mse if whole else None,
        normalised_mse=normalised if whole else None,
        bound=bound,
        max_abs_error=float(np.max(np.abs(error))) if whole else None,
        max_rel_error=float(np.max(relative)) if whole else None,
        samples=want.shape[1],
        steps=len(want),
        seed=seed,
        runtime=runtime,
        dtype="float32" if data_type is DataType.FLOAT else "float64",
        not_finite=int(np.sum(~finite)),
    )
