"""A certificate: a comparison of a network with a model, written down so that others can repeat it.

It names both by hashes of their content, not of their files' bytes; and it holds a hash of its
own fields, so that a changed one is noticed before anything is run. A certificate is no signature:
who can write one can write another. It is a proof that can be repeated.
"""

import hashlib
import json
import os
import platform
from typing import Any, Literal

import numpy as np
from pydantic import Field

from neat_onnx.errors import DocumentError, OptionError
from neat_onnx.files import parse_json, read_bytes, write_bytes
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.parsing import Document, parse
from neat_onnx.schema_links import LINK_KEY, with_link
from neat_onnx.verification.report import Report, Verdict
from neat_onnx.version import __version__

_SLACK = 4.0  # another machine rounds its exponentials another way
_REPEATED = (
    "bound", "dtype", "passed", "not_finite", "samples", "steps", "long_sequences", "long_steps",
)  # fmt: skip
_HINT = "Is it a certificate? `neat-onnx certify` writes them"


class CertificateMismatch(DocumentError):
    """A certificate is changed, or contradicts a network, a model or a result."""


class Certificate(Document):
    """A comparison of one network with one model, to be repeated with `neat_onnx.replay`."""

    format: Literal["neat-onnx certificate"] = Field(description="What the document is.")
    version: Literal[1] = Field(description="The version of this format.")
    network_sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Of the network document.")
    model_sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="Of the model as binary ONNX holds it."
    )
    model_json_sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="Of the model as JSON ONNX holds it, to the last bit."
    )
    options: dict[str, Any] = Field(description="The export options that were given, if known.")
    versions: dict[str, str] = Field(description="What measured it: packages and Python.")
    runs: dict[str, Report] = Field(
        min_length=1, description="What `verify` reported, by the name of the runtime."
    )
    verdict: Verdict = Field(description="The worst verdict of all runs.")
    sha256: str = Field(description="Of all other fields, as JSON with sorted keys.")

    def to_json(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"

    def save(self, path: Any, schema: bool = False) -> None:
        """Write the certificate as JSON, whole or not at all.

        Args:
            path: the file, which is replaced if it exists.
            schema: name the JSON Schema under `$schema`, so that editors check the document.

        Raises:
            DocumentError: the file cannot be written.
        """
        text = self.to_json()
        write_bytes(path, (with_link(text, "certificate") if schema else text).encode())


def load_certificate(source: Any) -> Certificate:
    """Read a certificate.

    Args:
        source: a Certificate, a path, JSON as text or bytes, or a JSON document.

    Returns:
        The certificate, unchanged since it was issued.

    Raises:
        DocumentError: it is not a certificate, or one that was changed.
    """
    if isinstance(source, Certificate):
        document: Any = source.model_dump(mode="json")
    elif isinstance(source, str) and source.lstrip().startswith("{"):
        document = parse_json(source.encode())
    elif isinstance(source, str | os.PathLike | bytes):
        content = source if isinstance(source, bytes) else read_bytes(source)
        if not content.strip():
            raise DocumentError("the file is empty", hint=_HINT)
        document = parse_json(content)
    else:
        document = source
    if not isinstance(document, dict):
        raise DocumentError("not a certificate: it is no JSON object")
    certificate = parse(Certificate, document, DocumentError, hint=_HINT)
    if certificate.sha256 != seal(document):
        raise CertificateMismatch(
            "the certificate was changed: its hash is not that of its fields",
            where="sha256",
            hint="Issue another one with `neat-onnx certify`",
        )
    return certificate


def seal(document: dict[str, Any]) -> str:
    """Hash the fields of a certificate's document, all but the hash itself and `$schema`."""
    aside = ("sha256", LINK_KEY)
    return sha256({key: value for key, value in document.items() if key not in aside})


def sha256(document: Any) -> str:
    """Hash a JSON value: as text with sorted keys, without spaces, in ASCII."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


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
    from neat_onnx.verification.compare import compare  # noqa: PLC0415 - not to read one

    if not runtimes:
        raise OptionError("no runtime is given", where="runtimes", hint="Give at least one")
    runs = {
        name: compare(net, model, samples=samples, seed=seed, runtime=name) for name in runtimes
    }
    binary, exact = model_hashes(model)
    document = {
        "format": "neat-onnx certificate",
        "version": 1,
        "network_sha256": network_hash(net),
        "model_sha256": binary,
        "model_json_sha256": exact,
        "options": options,
        "versions": {
            "neat_onnx": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "runs": {name: report.model_dump() for name, report in runs.items()},
        "verdict": _worst(runs),
    }
    return Certificate.model_validate({**document, "sha256": seal(document)})


def repeat(certificate: Certificate, net: Network, model: Model) -> Report:
    """Compare again as the certificate says; see `neat_onnx.replay`."""
    from neat_onnx.verification.compare import compare  # noqa: PLC0415 - not to read one

    binary, exact = model_hashes(model)
    same = binary == certificate.model_sha256
    same &= exact in (certificate.model_json_sha256, binary)
    for what, holds in (
        ("network", network_hash(net) == certificate.network_sha256),
        ("model", same),
    ):
        if not holds:
            raise CertificateMismatch(
                f"this is not the {what} of the certificate",
                where=f"{what}_sha256",
                hint=f"The {what} was changed, or belongs to another certificate",
            )
    said = _worst(certificate.runs)
    if said != certificate.verdict:
        raise CertificateMismatch(
            f"the certificate says '{certificate.verdict}', and its runs '{said}'", where="verdict"
        )
    found = {
        name: compare(net, model, samples=run.samples, seed=run.seed, runtime=name)
        for name, run in certificate.runs.items()
    }
    for name, run in certificate.runs.items():
        _check_repeated(name, run, found[name])
    worst = _worst(found)
    return next(report for report in found.values() if report.verdict == worst)


def _check_repeated(name: str, said: Report, done: Report) -> None:
    """Compare a report with the one of a certificate.

    Raises:
        CertificateMismatch: they differ by more than another machine explains.
    """
    for field in _REPEATED:
        if getattr(done, field) != getattr(said, field):
            raise CertificateMismatch(
                f"the certificate says {field} {getattr(said, field)!r}, repeated it is "
                f"{getattr(done, field)!r}",
                where=f"runs.{name}",
            )
    known, error = said.normalised_mse, done.normalised_mse
    limit = max(_SLACK**2 * (known or 0.0), said.bound)
    if (known is None) is not (error is None) or (error or 0.0) > limit:
        sizes = ["no finite number" if each is None else f"{each:.3g}" for each in (known, error)]
        text = f"the certificate says a normalised MSE of {sizes[0]}, repeated it is {sizes[1]}"
        raise CertificateMismatch(text, where=f"runs.{name}")


def network_hash(net: Network) -> str:
    """Hash a network: its JSON document with sorted keys, without source and empty spellings."""
    document = net.without_source().to_document().model_dump(mode="json", exclude={"source"})
    for neuron in document["neurons"]:
        if not neuron["spelling"]:
            del neuron["spelling"]
    return sha256(document)


def model_hashes(model: Model) -> tuple[str, str]:
    """Hash a model as binary ONNX holds it, and as JSON ONNX does.

    The first is the same for every file that says the same to a runtime. The second also sees the
    bits of a float64 weight in JSON that float32 does not hold.
    """
    held = Model.from_proto(model.to_proto())
    binary, exact = (sha256(each.to_document(encoding="numbers")) for each in (held, model))
    return binary, exact


def _worst(runs: dict[str, Report]) -> Verdict:
    order: tuple[Verdict, ...] = ("different", "equal within float32", "equal")
    found = {report.verdict for report in runs.values()}
    return next(verdict for verdict in order if verdict in found)
