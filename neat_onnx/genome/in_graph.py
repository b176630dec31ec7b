"""The neurons of a genome in the network of a graph, by the names of tensors.

An optimizer may have given a tensor another name, or none that holds the same neurons. The checksum
of genes tells whether neurons that were found in another way are the right ones.
"""

from collections.abc import Collection, Mapping

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import GenomeDocument
from neat_onnx.lifting.core import Lifted
from neat_onnx.network.cells import part_at, part_name
from neat_onnx.network.genes import Ints

_JOINING = ("Concat", "Gather")  # kinds of tensors that a level reads
_Ids = Mapping[str, list[int]]
"""By tensor, or part inside a node, the ids of its neurons."""


def lifted_neurons(document: GenomeDocument, lifted: Lifted) -> dict[int, int]:
    """Return the lifted neuron of each id, in the order in which the document lists them.

    Raises:
        NetworkError: the graph has no such tensors, or other numbers of neurons in them.
    """
    lifted_of: dict[int, int] = {}
    listed: _Ids = document.ids | {
        part_name(tensor, part): ids
        for tensor, parts in document.parts.items()
        for part, ids in parts.items()
    }
    missing = {}
    for tensor, ids in listed.items():
        neurons = lifted.tensors.get(tensor)
        if neurons is None:
            neurons = _read_by_identity(tensor, len(ids), listed, lifted)
        if neurons is None or len(neurons) != len(ids):
            missing[tensor] = ids
        else:
            lifted_of.update(zip(ids, neurons.tolist(), strict=True))
    if missing:
        lifted_of |= _of_other_names(document, missing, lifted, lifted_of)
    if len(set(lifted_of.values())) != sum(map(len, listed.values())):
        raise NetworkError("its ids do not fit the graph", where="ids")
    return {each: lifted_of[each] for ids in listed.values() for each in ids}


def _read_by_identity(
    name: str, count: int, listed: Collection[str], lifted: Lifted
) -> Ints | None:
    """The neurons of the tensor that an Identity read, which an optimizer took away.

    Names are a kind and a level, as Biased_2_max and Layer_2_max, and the last one before is of the
    same level, unless it is the inputs of that level; a name that was taken has one more number.
    """
    _, _, level = name.partition("_")
    for wanted in filter(None, (level, level.rpartition("_")[0])):
        alike = [
            neurons
            for tensor, neurons in lifted.tensors.items()
            if tensor.partition("_")[2] == wanted and tensor not in listed
            if len(neurons) == count and tensor.partition("_")[0] not in _JOINING
        ]
        if alike:
            return alike[-1]
    return None


def _of_other_names(
    document: GenomeDocument, missing: _Ids, lifted: Lifted, lifted_of: Mapping[int, int]
) -> dict[int, int]:
    """The lifted neurons of tensors that the graph does not have.

    Where as many neurons as these are left, they are in the order of the genome. Else each tensor
    is the first of its size all of whose neurons are left.

    Raises:
        NetworkError: there is none of the size.
    """
    left = np.setdiff1d(np.arange(len(lifted.network)), list(lifted_of.values()))
    ids = [each for some in missing.values() for each in some]
    if len(left) == len(ids):
        if document.order is not None:
            wanted = set(ids)
            ids = [each for each in document.order if each in wanted]
        return dict(zip(ids, left.tolist(), strict=True))
    found: dict[int, int] = {}
    for tensor, some in missing.items():
        unnamed = (each for each in lifted.tensors.values() if len(each) == len(some))
        neurons = next((each for each in unnamed if np.all(np.isin(each, left))), None)
        if neurons is None:
            name = " of ".join(repr(each) for each in part_at(tensor)[::-1] if each)
            raise NetworkError(f"the graph has no {len(some)} neurons in {name}", where="ids")
        left = np.setdiff1d(left, neurons)
        found.update(zip(some, neurons.tolist(), strict=True))
    return found
