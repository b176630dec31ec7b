"""The genome document: what a genome has beside the genes that its graph computes with."""

from typing import Annotated, Any, Literal

from pydantic import Field

from neat_onnx.errors import NetworkError
from neat_onnx.files import parse_json
from neat_onnx.network.document import ConnectionDocument, NeuronDocument
from neat_onnx.parsing import Document, parse

GENOME, NETWORK = "neat_onnx.genome", "neat_onnx.network"
DIGITS = 12
"""Hexadecimal digits that a checksum is written with, and the fewest that count."""
NEURON_DEFAULTS: dict[str, Any] = {
    name: field.default for name, field in NeuronDocument.model_fields.items() if name != "id"
}
_Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Ids = list[_Id]
Checksum = Annotated[str, Field(pattern=f"^[0-9a-f]{{{DIGITS},64}}$")]
"""The first hexadecimal digits of a SHA-256."""


class NeuronFields(Document):
    """Fields of neurons that are alike in them."""

    ids: Annotated[Ids, Field(min_length=1)]
    activation: str | None = None
    aggregation: str | None = None
    bias: float | None = None
    response: float | None = None
    initial: float | None = None
    name: str | None = None
    spelling: str | None = None


class ConnectionFields(Document):
    """Fields of a connection of the graph; see network JSON."""

    weight: float | None = None
    delay: int | None = None
    reads_state: bool | None = None
    gate_delay: int | None = None
    initial_gain: float | None = None


class GenomeDocument(Document):
    """What a genome has beside the genes that its graph computes with; docs/genome-format.md says
    what each key means.
    """

    version: Literal[1] = 1
    library: str = "neat-onnx"
    structure: Checksum
    numbers: Checksum
    whole: Checksum | None = None
    functions: Checksum | None = None
    ids: dict[str, Ids]
    order: Ids = Field(default_factory=list)
    neurons: list[NeuronFields] = Field(default_factory=list)
    connections: list[int | Ids | ConnectionDocument] = Field(default_factory=list)
    genes: dict[str, ConnectionFields] = Field(default_factory=dict)


def genome_document(text: str) -> GenomeDocument:
    """Return the genome document of a file, of its JSON.

    Raises:
        NetworkError: it is no such document.
    """
    return parse(GenomeDocument, parse_json(text), NetworkError)
