"""Networks from arrays of genes, and with other arrays in the place of theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import listed
from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Connections, Ints, Neurons, owned, read_only
from neat_onnx.network.port import Port
from neat_onnx.network.structure import Structure

Net = TypeVar("Net", bound=Structure)
Column = npt.ArrayLike | None


def from_arrays(
    ends: Mapping[str, npt.ArrayLike],
    functions: Mapping[str, str | Sequence[str]],
    neurons: Mapping[str, Column],
    connections: Mapping[str, Column],
) -> Structure:
    """See `Network.from_arrays`; its arguments are grouped here."""
    place = {name: _flat(name, values) for name, values in ends.items()}
    given = {name: values for name, values in neurons.items() if values is not None}
    ids = np.arange(_count(place)) if neurons["id"] is None else given.pop("id")
    ids = _flat("id", ids)
    columns: dict[str, Any] = {
        name: _column(name, values, len(ids)) for name, values in given.items()
    }
    names: dict[str, Any] = {
        name: [each] * len(ids) if isinstance(each, str) else listed(name, each)
        for name, each in functions.items()
    }
    for name, each in names.items():
        if len(each) != len(ids) or not all(isinstance(text, str) for text in each):
            raise NetworkError(f"{name} is no list of {len(ids)} names", where=name)
    genes, activations, aggregations = Neurons.of(ids, **columns, **names)
    edges: dict[str, Any] = {
        name: _column(name, values, len(place["source"]), _DTYPES.get(name, np.float64))
        for name, values in connections.items()
        if values is not None or name == "weight"
    }
    return Structure(
        inputs=(Port("input", place["inputs"].shape, place["inputs"]),),
        outputs=(Port("output", place["outputs"].shape, place["outputs"]),),
        neurons=genes,
        connections=Connections.of(place["source"], place["target"], **edges),
        activations=activations,
        aggregations=aggregations,
    )


def with_parameters(net: Net, weight: Column, bias: Column, response: Column) -> Net:
    """See `Network.with_parameters`."""
    edges, genes = net.connections, net.neurons
    if weight is not None:
        edges = replace(edges, weight=_column("weight", weight, len(edges)))
    if bias is not None:
        genes = replace(genes, bias=_column("bias", bias, len(genes)))
    if response is not None:
        genes = replace(genes, response=_column("response", response, len(genes)))
    return replace(net, connections=edges, neurons=genes)


_DTYPES: dict[str, type[np.generic]] = {"enabled": np.bool_, "delay": np.int64}


def _count(place: Mapping[str, Ints]) -> int:
    """The number of neurons, of which each one is named, from 0 on."""
    named = np.unique(np.concatenate([*place.values()]))
    if not np.array_equal(named, np.arange(len(named))):
        raise NetworkError(
            f"{len(named)} neurons are named, and they are not 0 to {len(named) - 1}",
            where="source, target, inputs, outputs",
            hint="Give the arguments positions, and the numbers of the genes as id",
        )
    return len(named)


def _flat(name: str, values: Any) -> Ints:
    found = _array(name, values, np.int64)
    return found if found.ndim == 1 else owned(found.flatten())


def _array(name: str, values: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        return read_only(values, dtype)
    except (NetworkError, ValueError, TypeError) as error:
        raise NetworkError(
            f"{name} is no array of {np.dtype(dtype)}: {error}", where=name
        ) from error


def _column(
    name: str, values: Any, count: int, dtype: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """One number for each gene, or one for all."""
    given = _array(name, values, dtype)
    if given.shape not in ((), (count,)):
        raise NetworkError(
            f"{name} has shape {list(given.shape)}, expected [{count}] or one number", where=name
        )
    return given if given.ndim else np.full(count, given)
