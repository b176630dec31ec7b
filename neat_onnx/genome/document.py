"""The genome document: what a genome has beside the genes that its graph computes with."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer

from neat_onnx.errors import NeatOnnxError, NetworkError
from neat_onnx.files import parse_json
from neat_onnx.network.document import ConnectionDocument, NeuronDocument
from neat_onnx.network.genes import Ints
from neat_onnx.parsing import Document, parse

GENOME, NETWORK = "neat_onnx.genome", "neat_onnx.network"
NEURON_DEFAULTS: dict[str, Any] = {
    name: field.default for name, field in NeuronDocument.model_fields.items() if name != "id"
}
CONNECTION_FIELDS = tuple(ConnectionDocument.model_fields)[2:]
"""The fields of a connection behind its two ends."""
_FEW, _PER_NEURON = 1 << 16, 16  # integers that runs may stand for, of any graph and per neuron
_MIN_RUN = 3
DIGITS = 12
"""Hexadecimal digits that a checksum is written with, and the fewest that count."""
_RUN = re.compile(r"(-?\d{1,19})\.\.(-?\d{1,19})", re.ASCII)


def with_runs(values: list[Any]) -> list[Any]:
    """The list with three or more consecutive integers as one text, `"3..9"`."""
    found: list[Any] = []
    start = 0
    while start < len(values):
        first, stop = values[start], start + 1
        if type(first) is int:
            while stop < len(values) and values[stop] == first + stop - start:
                stop += 1
        long = stop - start >= _MIN_RUN
        found += [f"{first}..{values[stop - 1]}"] if long else values[start:stop]
        start = stop
    return found


def without_runs(values: Any) -> Any:
    """The list with the integers that its texts stand for.

    Raises:
        ValueError: a text is no run.
    """
    if not isinstance(values, list):
        return values
    found: list[Any] = []
    for each in values:
        if not isinstance(each, str):
            found.append(each)
            continue
        ends = _RUN.fullmatch(each)
        if ends is None:
            raise ValueError(f"{each[:60]!r} is no run of integers")
        first, last = map(int, ends.groups())
        if last < first:
            raise ValueError(f"the run '{each}' has no integers")
        found += range(first, last + 1)
    return found


_Runs = BeforeValidator(without_runs), PlainSerializer(with_runs)
_Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Ids = Annotated[list[_Id], *_Runs]
"""A list of ids, in which `"3..9"` stands for 3, 4, ..., 9."""


Checksum = Annotated[str, Field(pattern=f"^[0-9a-f]{{{DIGITS},64}}$")]
"""The first hexadecimal digits of a SHA-256."""


class NeuronFields(Document):
    """Fields of neurons that are alike in them."""

    ids: Ids = Field(description="The neurons.", min_length=1)
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
    """What a genome has beside the genes that its graph computes with."""

    version: Literal[1] = 1
    library: str = Field("neat-onnx", description="Where the network came from, for people.")
    structure: Checksum = Field(description="That of the graph's genes but their numbers.")
    numbers: Checksum = Field(description="That of the numbers of the graph's genes.")
    written: Checksum = Field(description="That of the floats in the file, as exported.")
    whole: Checksum | None = Field(
        None,
        description="The checksum of the file without this document, where import cannot tell the "
        "genes from the graph: then the embedded network is the genome.",
    )
    ids: dict[str, Ids] = Field(
        description="For each tensor of neurons, the id of the neuron in each column."
    )
    order: Ids | None = Field(
        None, description="All ids in genome order, where that of `ids` is another."
    )
    neurons: list[NeuronFields] = Field(
        default_factory=list,
        description="Fields that are not as the graph has them; of neurons that no output needs, "
        "all that are not as by default in network JSON.",
    )
    connections: Annotated[list[int | list[_Id] | ConnectionDocument], *_Runs] | None = Field(
        None,
        description="All connections in genome order, where they are not the graph's in its "
        "order: the position of one among the graph's, a connection as in network JSON, or "
        "[source, target] of a plain one whose weight is 0.",
    )
    genes: dict[str, ConnectionFields] = Field(
        default_factory=dict,
        description="By position in the genome, fields of connections of the graph that are not "
        "as the graph has them.",
    )
    apart: list[Ids] = Field(
        default_factory=list,
        description="The neurons, in C order, of each layer with a window of which some neurons "
        "are computed by other nodes.",
    )


def genome_document(text: str, size: int) -> GenomeDocument:
    """Return the genome document of a file.

    Args:
        text: its JSON.
        size: the number of neurons and connections of the graph, that of a genome's runs is
            limited by.

    Raises:
        NetworkError: it is no such document, or its runs stand for far more neurons than there are.
    """
    value = parse_json(text)
    if _integers_of_runs(value) > _FEW + _PER_NEURON * size:
        raise NetworkError("its runs stand for too many neurons for the graph", where=GENOME)
    return parse(GenomeDocument, value, NetworkError)


@dataclass(frozen=True)
class ListedIds:
    """The ids in the tensors of a genome document, which need not be valid: a function that gives
    those in a tensor, by its name and size, or None if it has others.
    """

    tensors: dict[str, Any]

    def __call__(self, name: str, size: int) -> Ints | None:
        given = self.tensors.get(name)
        if not isinstance(given, list):
            return None
        count = sum(type(each) is int for each in given) + _integers_of_runs(given)
        try:
            return np.array(without_runs(given), np.int64) if count == size else None
        except (ValueError, OverflowError):
            return None


def listed_ids(text: str) -> ListedIds:
    """Return the ids in tensors of the JSON of a genome document; none if it is no such thing."""
    try:
        value = parse_json(text)
    except NeatOnnxError:
        value = None
    listed = value.get("ids") if isinstance(value, dict) else None
    return ListedIds(listed if isinstance(listed, dict) else {})


def _integers_of_runs(value: Any) -> int:
    """How many integers the runs in a JSON value stand for."""
    count, left = 0, [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str) and (ends := _RUN.fullmatch(each)):
            count += max(int(ends[2]) - int(ends[1]) + 1, 0)
    return count
