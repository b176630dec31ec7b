"""The neurons of a genome in the network of a graph."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import GenomeDocument
from neat_onnx.lifting.core import Lifted
from neat_onnx.network.genes import NONE, Ints


@dataclass(frozen=True)
class Places:
    """Places of neurons in a genome.

    Attributes:
        ids: the ids of the genome, in its order.
        place: the place of each neuron of the graph, NONE for those that the genome has not.
    """

    ids: list[int]
    place: Ints


def places_of(document: GenomeDocument, lifted: Lifted) -> Iterator[Places]:
    """Yield where the neurons of a graph may stand in the genome, the likeliest first.

    Raises:
        NetworkError: an id is missing, or stands twice.
    """
    listed = dict.fromkeys(each for ids in document.ids.values() for each in ids)
    order = list(listed) if document.order is None else document.order
    position = {each: at for at, each in enumerate(order)}
    if len(position) < len(order) or not position.keys() >= listed.keys():
        raise NetworkError("its ids do not fit together", where="order")
    place = np.full(len(lifted.network), NONE, np.int64)
    found: set[int] = set()
    for tensor, ids in document.ids.items():
        neurons = lifted.tensors.get(tensor)
        if neurons is None or len(neurons) != len(ids):
            continue
        for each, neuron in zip(ids, neurons.tolist(), strict=True):
            if each not in found and place[neuron] == NONE:
                place[neuron] = position[each]
                found.add(each)
    yield Places(order, place)
