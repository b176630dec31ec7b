"""Proof: a network and a model run side by side on sampled inputs, by an independent runtime."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from neat_onnx.errors import ModelError, OptionError
from neat_onnx.model import DataType, Model, load_model
from neat_onnx.network.network import Floats, Network
from neat_onnx.readers import load_network

Runtime = Literal["reference", "onnxruntime"]
Feed = dict[str, np.ndarray[Any, Any]]
Runner = Callable[[Feed], dict[str, Any]]

BOUND = {DataType.FLOAT: 1e-12, DataType.DOUBLE: 1e-24}
_LARGE = 10.0


class Report(BaseModel):
    """What a comparison found. Errors are the model's output minus the network's."""

    passed: bool = Field(description="Whether the normalised MSE is within its bound.")
    mse: float | None = Field(description="Mean squared error; null if a value is not finite.")
    normalised_mse: float | None = Field(
        description="The MSE divided by max(1, mean square of the network's outputs)."
    )
    bound: float = Field(description="What the normalised MSE may be for this type.")
    max_abs_error: float | None
    max_rel_error: float | None = Field(description="Relative to max(1, |output|).")
    samples: int
    steps: int = Field(description="Length of the sequences; 1 without memory.")
    seed: int
    runtime: str = Field(description="What ran the model, with its version.")
    dtype: str
    not_finite: int = Field(description="Output values that are infinite or NaN on either side.")
    first_error: str | None = Field(
        None, description="Where it fails: the first neuron whose value differs."
    )
    rounding: float | None = Field(
        None,
        description="Where it fails in float32: the normalised MSE that rounding the genes alone "
        "gives. If it is as large, the network is that sensitive: export it in float64.",
    )

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        found = "not finite" if self.normalised_mse is None else f"{self.normalised_mse:.3g}"
        where = f"; first at {self.first_error}" if self.first_error else ""
        if self.rounding is not None:
            where += f"; rounding the genes to float32 alone gives {self.rounding:.3g}"
        return (
            f"{verdict}: normalised MSE {found} (bound {self.bound:g}) over {self.samples} samples "
            f"in {self.runtime}{where}"
        )


def verify(
    net: Any,
    model: Any,
    *,
    samples: int = 256,
    seed: int = 0,
    runtime: Runtime = "reference",
) -> Report:
    """Compare a network with a model on sampled inputs: zeros, ones, normal and large ones.

    Args:
        net: a Network, or whatever `load_network` reads.
        model: a Model, or whatever `load_model` reads.
        samples: how many inputs, 4 or more.
        seed: the same seed gives the same samples.
        runtime: "reference" is onnx's reference evaluator; "onnxruntime" has to be installed.

    Raises:
        ModelError: the runtime refuses the model, or inputs and outputs do not fit the network's.
        OptionError: an unknown runtime, one that is not installed, or too few samples.
    """
    net = net if isinstance(net, Network) else load_network(net)
    model = load_model(model)
    if samples < 4:
        raise OptionError(f"{samples} samples are too few", where="samples", hint="Take 4 or more")
    _check_ports(net, model)
    x = sampled(net, samples, seed)
    if model.graph.inputs[0].elem_type is DataType.FLOAT:
        x = x.astype(np.float32).astype(np.float64)  # both sides get the same inputs
    run, name = runner(model, runtime)
    want = net.activate(x)
    results = run_in_batches(net, model, run, x, [port.name for port in net.outputs])
    got = np.concatenate([results[port.name] for port in net.outputs], axis=1)
    report = _compared(want, got, model, seed, name)
    if not report.passed:
        report.rounding = _rounding(net, x, want) if report.dtype == "float32" else None
        from neat_onnx.trace import first_difference  # noqa: PLC0415 (only where it fails)

        report.first_error = first_difference(net, model, x, runtime)
    return report


def sampled(net: Network, samples: int, seed: int) -> Floats:
    """Inputs (samples, I): zeros, ones, then normal ones, the last quarter of them ten times."""
    x = np.random.default_rng(seed).normal(size=(samples, len(net.input_neurons)))
    x[0], x[1] = 0.0, 1.0
    x[-(samples // 4) :] *= _LARGE
    return x


def feed_of(net: Network, model: Model, x: Floats) -> Feed:
    """The inputs (N, I) as the model's graph wants them, by name."""
    element = np.float32 if model.graph.inputs[0].elem_type is DataType.FLOAT else np.float64
    feed, start = {}, 0
    for port in net.inputs:
        stop = start + port.neurons.size
        feed[port.name] = x[:, start:stop].reshape(-1, *port.shape).astype(element)
        start = stop
    return feed


def runner(model: Model, runtime: Runtime) -> tuple[Runner, str]:
    """A function that runs the model on a feed and returns its outputs by name; and who runs it."""
    makers = {"reference": _reference, "onnxruntime": _onnxruntime}
    if runtime not in makers:
        raise OptionError(f"unknown runtime '{runtime}'", hint=f"Runtimes: {', '.join(makers)}")
    return makers[runtime](model)


def _reference(model: Model) -> tuple[Runner, str]:
    import onnx  # noqa: PLC0415 (slow to import)
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415

    evaluator = ReferenceEvaluator(model.to_proto())

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return run, f"onnx.reference {onnx.__version__}"


def _onnxruntime(model: Model) -> tuple[Runner, str]:
    try:
        import onnxruntime  # noqa: PLC0415 (optional)
    except ImportError:
        raise OptionError(
            "onnxruntime is not installed", where="runtime", hint="pip install onnxruntime"
        ) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.to_bytes(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ModelError(f"onnxruntime does not load the model: {error}") from error
    names = [output.name for output in session.get_outputs()]

    def run(feed: Feed) -> dict[str, Any]:
        return dict(zip(names, session.run(names, feed), strict=True))

    return run, f"onnxruntime {onnxruntime.__version__}"


def run_in_batches(
    net: Network, model: Model, run: Runner, x: Floats, tensors: list[str]
) -> dict[str, Floats]:
    """These outputs, each (N, columns), for the inputs (N, I).

    All at once, or one sample after the other if the model's batch is 1.
    """
    shape = model.graph.inputs[0].shape
    parts = np.split(x, len(x)) if shape and shape[0] == 1 else [x]
    results = [run(feed_of(net, model, part)) for part in parts]
    return {
        name: np.concatenate(
            [
                np.asarray(result[name], np.float64).reshape(len(part), -1)
                for result, part in zip(results, parts, strict=True)
            ]
        )
        for name in tensors
    }


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
        error = float(np.mean((rough.activate(x) - want) ** 2) / max(1.0, float(np.mean(want**2))))
    return error if np.isfinite(error) else None


def _check_ports(net: Network, model: Model) -> None:
    for what, ports, entries in (
        ("input", net.inputs, model.graph.inputs),
        ("output", net.outputs, model.graph.outputs),
    ):
        ours = {port.name: port.shape for port in ports}
        theirs = {entry.name: tuple(entry.shape or ())[1:] for entry in entries}
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
        samples=len(want),
        steps=1,
        seed=seed,
        runtime=runtime,
        dtype="float32" if data_type is DataType.FLOAT else "float64",
        not_finite=int(np.sum(~finite)),
    )
