"""Certificates issued, and repeated."""

import platform
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError, warn
from neat_onnx.model import MetadataEntry, Model
from neat_onnx.network.network import Network
from neat_onnx.verification.certificate import (
    CERTIFICATE,
    Certificate,
    CertificateMismatch,
    Run,
    seal,
    sha256,
)
from neat_onnx.verification.compare import compare
from neat_onnx.verification.judge import ROUNDING_FACTOR
from neat_onnx.verification.report import Report, Verdict
from neat_onnx.version import __version__

_SLACK = 4.0  # another machine rounds its exponentials another way
_KINDS = ["zeros", "ones", "normal", "10 × normal"]


def issue(
    net: Network,
    model: Model,
    *,
    samples: int,
    seed: int,
    runtimes: tuple[str, ...],
    options: dict[str, Any],
) -> Certificate:
    """Compare in each runtime, and write down the results; see `neat_onnx.certify`."""
    if not runtimes:
        raise OptionError("no runtime is given", where="runtimes", hint="Give at least one")
    reports = {
        name: compare(net, model, samples=samples, seed=seed, runtime=name) for name in runtimes
    }
    any_report = next(iter(reports.values()))
    binary, exact = model_hashes(model)
    document = {
        "format": "neat-onnx certificate",
        "version": 1,
        "network_sha256": network_hash(net),
        "model_sha256": binary,
        "model_json_sha256": exact,
        "options": options,
        "dtype": any_report.dtype,
        "bound": any_report.bound,
        "bound_reason": _reason(any_report),
        "sampling": {
            "kinds": _KINDS,
            **any_report.model_dump(
                include={"seed", "samples", "steps", "long_sequences", "long_steps"}
            ),
        },
        "versions": {
            "neat_onnx": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "runs": [_run(name, report) for name, report in reports.items()],
        "verdict": _worst([report.verdict for report in reports.values()]),
    }
    return Certificate.model_validate({**document, "sha256": seal(document)})


def repeat(certificate: Certificate, net: Network, model: Model) -> Report:
    """Compare again as the certificate says; see `neat_onnx.replay`."""
    binary, exact = model_hashes(model)
    same_model = binary == certificate.model_sha256 and (
        exact in (certificate.model_json_sha256, binary)
    )
    for what, same in (
        ("network", network_hash(net) == certificate.network_sha256),
        ("model", same_model),
    ):
        if not same:
            raise CertificateMismatch(
                f"this is not the {what} of the certificate",
                where=f"{what}_sha256",
                hint=f"The {what} was changed, or belongs to another certificate",
            )
    said = _worst([run.verdict for run in certificate.runs])
    if said != certificate.verdict:
        raise CertificateMismatch(
            f"the certificate says '{certificate.verdict}', and its runs '{said}'", where="verdict"
        )
    reports = [_repeated(certificate, run, net, model) for run in certificate.runs]
    worst = _worst([report.verdict for report in reports])
    return next(report for report in reports if report.verdict == worst)


def _repeated(certificate: Certificate, run: Run, net: Network, model: Model) -> Report:
    """Repeat one runtime's comparison, and compare it with the certificate."""
    sampling = certificate.sampling
    report = compare(net, model, samples=sampling.samples, seed=sampling.seed, runtime=run.runtime)
    said = {"bound": certificate.bound, "dtype": certificate.dtype}
    said |= {"passed": run.verdict != "different", "not_finite": run.not_finite}
    done = {**report.model_dump(), "kinds": _KINDS}
    for name, value in {**said, **sampling.model_dump()}.items():
        if done[name] != value:
            raise CertificateMismatch(
                f"the certificate says {name} {value!r}, repeated it is {done[name]!r}",
                where=f"runs.{run.runtime}",
            )
    limit = max(_SLACK**2 * (run.normalised_mse or 0.0), certificate.bound)
    said_finite, finite = run.normalised_mse is not None, report.normalised_mse is not None
    if said_finite is not finite or (report.normalised_mse or 0.0) > limit:
        raise CertificateMismatch(
            f"the certificate says a normalised MSE of {_number(run.normalised_mse)}, repeated it "
            f"is {_number(report.normalised_mse)}",
            where=f"runs.{run.runtime}",
        )
    return report


def _number(size: float | None) -> str:
    return "no finite number" if size is None else f"{size:.3g}"


def certified(model: Model, certificate: Certificate) -> Model:
    """The model with its certificate in the metadata; the hashes of the model leave it out."""
    entries = [entry for entry in model.metadata_props if entry.key != CERTIFICATE]
    held = MetadataEntry(key=CERTIFICATE, value=certificate.model_dump_json())
    return model.model_copy(update={"metadata_props": [*entries, held]})


def without_stale_certificate(model: Model, before: Model) -> Model:
    """Return a rewritten model without the certificate in its metadata, with a warning.

    Args:
        model: the model after a rewrite; one without a certificate is returned as it is.
        before: the model that was rewritten: where nothing has changed, the certificate stays.
    """
    if CERTIFICATE not in model.metadata or _hash(model) == _hash(before):
        return model
    warn("the certificate in the metadata is left out: it is of the model before it was rewritten")
    kept = [entry for entry in model.metadata_props if entry.key != CERTIFICATE]
    return model.model_copy(update={"metadata_props": kept})


def network_hash(net: Network) -> str:
    """Hash a network: its JSON document with sorted keys, without source and empty spellings."""
    document = net.without_source().to_document().model_dump(mode="json", exclude={"source"})
    for neuron in document["neurons"]:
        if not neuron["spelling"]:
            del neuron["spelling"]
    return sha256(document)


def model_hashes(model: Model) -> tuple[str, str]:
    """Hash a model as binary ONNX holds it, and as JSON ONNX does, each without its certificate.

    The first is the same for every file that says the same to a runtime. The second also sees the
    bits of a float64 weight in JSON that float32 does not hold.
    """
    return _hash(Model.from_proto(model.to_proto())), _hash(model)


def _hash(model: Model) -> str:
    document = model.to_document(encoding="numbers")
    entries = [entry for entry in document.get("metadata_props", []) if entry["key"] != CERTIFICATE]
    return sha256({**document, "metadata_props": entries})


def _run(name: str, report: Report) -> dict[str, Any]:
    fields = set(Run.model_fields) - {"runtime", "version"}
    return {"runtime": name, "version": report.runtime, **report.model_dump(include=fields)}


def _reason(report: Report) -> str:
    text = f"{report.dtype} rounds each of some hundred operations by half a unit in the last place"
    if report.rounding is None:
        return text
    return (
        f"{text}; this network, rounded, is off by {report.rounding:.3g} by itself, of which "
        f"{ROUNDING_FACTOR:g} times (in the root) are allowed"
    )


def _worst(verdicts: list[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("different", "equal within float32", "equal")
    return next(verdict for verdict in order if verdict in verdicts)
