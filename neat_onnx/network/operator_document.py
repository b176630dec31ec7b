"""Hints at operators in network JSON: the neurons that each reads, by their ids."""

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from neat_onnx.network.genes import Ints, network_error
from neat_onnx.network.operator_hint import OperatorHint
from neat_onnx.parsing import Document


class OperatorDocument(Document):
    """An operator that neurons may be written as: a hint, checked against their genes when used."""

    model: str = Field(description="A JSON ONNX model of the operator alone, as text.")
    neurons: list[int] = Field(description="Ids of its inputs, one after the other, in C order.")


def operator_document(hint: OperatorHint, ids: Ints) -> OperatorDocument:
    """The document of a hint; `ids` are the ids of all neurons."""
    return OperatorDocument.model_construct(model=hint.model, neurons=ids[hint.neurons].tolist())


def read_operator(
    document: OperatorDocument, position: Mapping[int, int], index: int
) -> OperatorHint:
    """The hint of a document; `position` is that of each id.

    Raises:
        NetworkError: an id that does not exist.
    """
    missing = next((each for each in document.neurons if each not in position), None)
    if missing is not None:
        raise network_error("operators", index, f"no neuron has the id {missing}")
    neurons = np.array([position[neuron] for neuron in document.neurons], np.int64)
    return OperatorHint(document.model, neurons)
