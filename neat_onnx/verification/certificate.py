"""A certificate: a comparison of a network with a model, written down so that others can repeat it.

It names both by hashes of their content, not of their files' bytes; and it holds a hash of its
own fields, so that a changed one is noticed before anything is run. A certificate is no signature:
who can write one can write another. It is a proof that can be repeated.
"""

import hashlib
import json
import os
from typing import Any, Literal

from pydantic import Field

from neat_onnx.errors import DocumentError
from neat_onnx.files import parse_json, read_bytes, write_bytes
from neat_onnx.model import Model, load_model
from neat_onnx.model.model import is_model
from neat_onnx.parsing import Document, parse
from neat_onnx.schema_links import LINK_KEY, with_link
from neat_onnx.verification.report import Verdict

CERTIFICATE = "neat_onnx.certificate"
"""The metadata key that holds a model's own certificate."""
_HINT = "Is it a certificate? `neat-onnx certify` writes them"


class CertificateMismatch(DocumentError):
    """A certificate is changed, or contradicts a network, a model or a result."""


class Sampling(Document):
    """How the inputs were sampled; see docs/fidelity.md."""

    seed: int = Field(ge=0, description="The seed of the random inputs.")
    samples: int = Field(ge=4, description="The number of inputs, or of short sequences.")
    steps: int = Field(ge=1, description="The length of the short sequences.")
    long_sequences: int = Field(ge=0, description="The number of long sequences.")
    long_steps: int = Field(ge=0, description="The length of the long sequences.")
    kinds: list[str] = Field(description="The kinds of inputs.")


class Run(Document):
    """One runtime's outputs against the network's."""

    runtime: str = Field(description="The runtime's name, as `verify` takes it.")
    version: str = Field(description="The runtime with its version.")
    verdict: Verdict = Field(description="What `verify` said.")
    mse: float | None = Field(
        ge=0, description="Mean squared error; null if a value is not finite."
    )
    normalised_mse: float | None = Field(
        ge=0, description="MSE / max(1, mean square of the outputs)."
    )
    max_abs_error: float | None = Field(ge=0, description="The largest absolute error.")
    max_rel_error: float | None = Field(ge=0, description="Relative to max(1, |output|).")
    not_finite: int = Field(ge=0, description="Output values that are infinite or NaN.")
    overflow_step: int | None = Field(ge=0, description="The first step that float32 cannot hold.")
    rounding: float | None = Field(ge=0, description="The normalised MSE of rounding by itself.")


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
    dtype: Literal["float16", "float32", "float64"] = Field(
        description="The type of the model's numbers."
    )
    bound: float = Field(gt=0, description="The normalised MSE that is equal, for this type.")
    bound_reason: str = Field(description="Why that bound.")
    sampling: Sampling = Field(description="How the inputs were sampled.")
    versions: dict[str, str] = Field(description="What measured it: packages and Python.")
    runs: list[Run] = Field(min_length=1, description="Each runtime that was run.")
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
        source: a Certificate, a path, JSON as text or bytes, a JSON document, or a model that holds
            one in its metadata.

    Returns:
        The certificate, unchanged since it was issued.

    Raises:
        DocumentError: it is not a certificate, or one that was changed.
    """
    document = _document(source)
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


def _document(source: Any) -> Any:
    """The JSON value of a certificate, wherever it stands."""
    if isinstance(source, Certificate):
        return source.model_dump(mode="json")
    if isinstance(source, str) and source.lstrip().startswith("{"):
        source = source.encode()
    content = read_bytes(source) if isinstance(source, str | os.PathLike) else source
    if isinstance(content, bytes) and content.lstrip().startswith(b"{"):
        source = parse_json(content)
    elif isinstance(content, bytes):  # external data is found by a path, and a pipe read once
        source = load_model(source if source is not content and os.path.isfile(source) else content)
    if is_model(source):
        source = load_model(source)
    if isinstance(source, Model):
        text = source.metadata.get(CERTIFICATE)
        if text is None:
            raise DocumentError(
                "the model holds no certificate", hint="`neat-onnx export --certify` writes one"
            )
        return parse_json(text)
    return source


def seal(document: dict[str, Any]) -> str:
    """Hash the fields of a certificate's document, all but the hash itself and `$schema`."""
    aside = ("sha256", LINK_KEY)
    return sha256({key: value for key, value in document.items() if key not in aside})


def sha256(document: Any) -> str:
    """Hash a JSON value: as text with sorted keys, without spaces, in ASCII."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
