"""The genome document: what a genome has beside the genes that its graph computes with."""

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from neat_onnx.errors import NeatOnnxError, NetworkError
from neat_onnx.files import parse_json
from neat_onnx.network.document import ConnectionDocument, NeuronDocument
from neat_onnx.network.genes import Ints
from neat_onnx.parsing import Document, parse

GENOME, NETWORK = "neat_onnx.genome", "neat_onnx.network"
DIGITS = 12
"""Hexadecimal digits that a checksum is written with, and the fewest that count."""
NEURON_DEFAULTS: dict[str, Any] = {
    name: field.default for name, field in NeuronDocument.model_fields.items() if name != "id"
}
_FEW, _PER_NEURON = 1 << 16, 16  # integers that runs may stand for, of any graph and per neuron
_MIN_RUN = 3
_RUN = re.compile(r'"(-?\d{1,19})\.\.(-?\d{1,19})"', re.ASCII)


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
    found: list[Any] = []
    for each in values if isinstance(values, list) else ():
        if not isinstance(each, str):
            found.append(each)
            continue
        ends = _RUN.fullmatch(f'"{each}"')
        run = range(int(ends[1]), int(ends[2]) + 1) if ends else ()
        if not run:
            raise ValueError(f"{each[:60]!r} is no run of integers")
        found += run
    return found if isinstance(values, list) else values


def _integers_of_runs(value: Any) -> int:
    """How many integers the runs in a JSON value stand for."""
    runs = _RUN.findall(json.dumps(value))
    return sum(max(int(last) - int(first) + 1, 0) for first, last in runs)


_Runs = BeforeValidator(without_runs)
_Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Ids = Annotated[list[_Id], _Runs]
"""A list of ids, in which `"3..9"` stands for 3, 4, ..., 9."""
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
    written: Checksum
    whole: Checksum | None = None
    ids: dict[str, Ids]
    order: Ids | None = None
    neurons: list[NeuronFields] = Field(default_factory=list)
    connections: Annotated[list[int | list[_Id] | ConnectionDocument], _Runs] | None = None
    genes: dict[str, ConnectionFields] = Field(default_factory=dict)


def genome_document(text: str, size: int) -> GenomeDocument:
    """Return the genome document of a file.

    Args:
        text: its JSON.
        size: the number of neurons and connections of the graph, which limits its runs.

    Raises:
        NetworkError: it is no such document, or its runs stand for far more neurons than there are.
    """
    value = parse_json(text)
    if _integers_of_runs(value) > _FEW + _PER_NEURON * size:
        raise NetworkError("its runs stand for too many neurons for the graph", where=GENOME)
    return parse(GenomeDocument, value, NetworkError)


def ids_of_tensors(text: str) -> Callable[[str, int], Ints | None]:
    """What gives the ids of the neurons in a tensor, by its name and size; None if it has others.

    Args:
        text: the JSON of a genome document, which need not be valid.
    """
    try:
        value = parse_json(text)
    except NeatOnnxError:
        value = None
    listed = value.get("ids") if isinstance(value, dict) else None

    def ids(name: str, size: int) -> Ints | None:
        given = listed.get(name) if isinstance(listed, dict) else None
        if not isinstance(given, list):
            return None
        count = sum(type(each) is int for each in given) + _integers_of_runs(given)
        try:
            return np.array(without_runs(given), np.int64) if count == size else None
        except (ValueError, OverflowError):
            return None

    return ids
