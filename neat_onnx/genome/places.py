"""The neurons of a genome in the network of a graph."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import GenomeDocument
from neat_onnx.lifting.trace import Lifted
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.network import Network


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

    They are found by the names of tensors. Where an optimizer has taken a tensor away, with an
    Identity for instance, its neurons are those of a tensor of the same size, none of which has a
    place, or those that are left in their order: export and import both number by levels. The
    checksum of the structure tells which it is.

    Raises:
        NetworkError: an id is missing, or stands twice.
    """
    listed = dict.fromkeys(each for ids in document.ids.values() for each in ids)
    order = list(listed) if document.order is None else document.order
    position = {each: at for at, each in enumerate(order)}
    if len(position) < len(order) or not position.keys() >= listed.keys():
        raise NetworkError("its ids do not fit together", where="order")
    place = np.full(len(lifted.network), NONE, np.int64)
    missing = dict.fromkeys(listed)
    for tensor, ids in document.ids.items():
        _put(place, missing, position, ids, lifted.tensors.get(tensor))
    yield Places(order, place)
    if missing:
        left = np.flatnonzero((place == NONE) & ~_products(lifted.network))
        if len(left) == len(missing):
            in_order = place.copy()
            in_order[left] = [position[each] for each in missing]
            yield Places(order, in_order)
        for tensor, ids in document.ids.items():
            if missing.keys() >= set(ids) and tensor not in lifted.tensors:
                level = tensor.partition("_")[2]  # Biased_1_max ends in the neurons of Layer_1_max
                others = [
                    (name.partition("_")[2] != level, neurons)
                    for name, neurons in lifted.tensors.items()
                    if name not in document.ids and len(neurons) == len(ids)
                ]
                ordered = (neurons for _, neurons in sorted(others, key=lambda each: each[0]))
                free = (each for each in ordered if np.all(place[each] == NONE))
                _put(place, missing, position, ids, next(free, None))
        yield Places(order, place)


def _put(
    place: Ints,
    missing: dict[int, None],
    position: dict[int, int],
    ids: list[int],
    neurons: Ints | None,
) -> None:
    """Give places to the neurons of a tensor that have none, if it has as many as there are ids."""
    if neurons is None or len(neurons) != len(ids):
        return
    for each, neuron in zip(ids, neurons.tolist(), strict=True):
        if each in missing and place[neuron] == NONE:
            place[neuron] = position[each]
            del missing[each]


def _products(lifted: Network) -> Bools:
    """Which neurons are the product of two values, as only a graph has them for itself, (n,)."""
    live = lifted.live
    found: Bools = lifted.fan_in == 1
    found[live.target[live.gater == NONE]] = False
    found &= lifted.activation_names == "identity"
    return found
