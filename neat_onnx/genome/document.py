"""The genome document: what a genome has beside the genes that its graph computes with."""

import re
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
_RUN = re.compile(r'([\[,]\s*)"(-?\d{1,19})\.\.(-?\d{1,19})"(?!\s*:)', re.ASCII)
"""In JSON: a text is of a list, if a bracket or a comma comes before it and no colon after it."""
_FEWEST_IN_RUN, _MOST_IN_RUNS = 4, 1 << 22  # integers: of one run, of all in a document

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
    ids: dict[str, Ids]
    order: Ids | None = None
    neurons: list[NeuronFields] = Field(default_factory=list)
    connections: list[int | Ids | ConnectionDocument] | None = None
    genes: dict[str, ConnectionFields] = Field(default_factory=dict)


def genome_document(text: str) -> GenomeDocument:
    """Return the genome document of a file, of its JSON.

    Raises:
        NetworkError: it is no such document.
    """
    count = sum(max(int(last) - int(first) + 1, 0) for _, first, last in _RUN.findall(text))
    if count > _MOST_IN_RUNS:
        raise NetworkError(f"its runs are {count} integers, more than {_MOST_IN_RUNS}")
    return parse(GenomeDocument, parse_json(_RUN.sub(_spelled_out, text)), NetworkError)


def _spelled_out(run: re.Match[str]) -> str:
    return run[1] + ",".join(map(str, range(int(run[2]), int(run[3]) + 1)))


def with_runs(document: Any) -> Any:
    """The JSON value, in whose lists four or more consecutive integers are a text: `"3..9"`."""
    left = _MOST_IN_RUNS

    def spelled(value: Any) -> Any:
        nonlocal left
        if isinstance(value, dict):
            return {key: spelled(each) for key, each in value.items()}
        if not isinstance(value, list):
            return value
        found: list[Any] = []
        start = 0
        while start < len(value):
            first, stop = value[start], start + 1
            while type(first) is int and stop < len(value) and value[stop] == first + stop - start:
                stop += 1
            if _FEWEST_IN_RUN <= stop - start <= left:
                left -= stop - start
                found.append(f"{first}..{value[stop - 1]}")
            else:
                found += map(spelled, value[start:stop])
            start = stop
        return found

    return spelled(document)
