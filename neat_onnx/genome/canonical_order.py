"""An order of a graph's neurons that does not depend on the order of its nodes.

Neurons of the genome have a place. Import makes others beside them, for the sums and products that
a graph needs, and an optimizer that sorts nodes anew would change their order. Their genes and
their wiring distinguish them, by colour refinement (Weisfeiler and Leman, 1968): the colour of a
neuron is a hash of its own genes, then, again and again, of the colours of its neighbours. Neurons
that stay alike may change places, as the genes are the same either way.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.model import DataType
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.network import Network

Hashes = npt.NDArray[np.uint64]
Names = npt.NDArray[np.object_]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ENDS = ("source", "target", "gater")
_MAX_ROUNDS = 64  # connections that a colour looks along: a chain of n neurons would take n rounds


def canonical_order(net: Network, placed: Ints, data_type: DataType) -> Ints:
    """Return all neurons of a network: those that have a place, in their order, then the others.

    Args:
        net: the network of a graph.
        placed: (k,), the neurons that have a place.
        data_type: the type of the graph's numbers, to which genes are rounded.
    """
    others = np.setdiff1d(np.arange(len(net)), placed)
    if not others.size:
        return placed
    colour = _own(net, data_type)
    colour[placed] = _mixed(np.arange(len(placed), dtype=np.uint64))
    edges = _Edges(net, others, data_type)
    known = 0
    for _ in range(_MAX_ROUNDS):
        if (count := len(np.unique(colour[others]))) == known:
            break
        known = count
        colour[others] = edges.refined(colour)[others]
    return np.concatenate([placed, others[np.argsort(colour[others], kind="stable")]])


class _Edges:
    """The connections of a network that begin, end or are gated at some of its neurons."""

    def __init__(self, net: Network, neurons: Ints, data_type: DataType) -> None:
        genes = net.connections
        among = np.zeros(len(net) + 1, np.bool_)  # the last place is that of NONE
        among[neurons] = True
        kept = np.flatnonzero(among[genes.source] | among[genes.target] | among[genes.gater])
        self._ends = [getattr(genes, name)[kept] for name in _ENDS]
        plain = (genes.delay, genes.reads_state, genes.gate_delay, genes.enabled)
        numbers = (genes.weight, genes.initial_gain)
        columns = [column[kept].astype(np.uint64) for column in plain]
        self._genes = _joined([*columns, *(_bits(column[kept], data_type) for column in numbers)])

    def refined(self, colour: Hashes) -> Hashes:
        """The colours, with those around each neuron mixed in."""
        colours = np.append(colour, _GOLDEN)  # of NONE
        whole = _joined([self._genes, *(colours[ends] for ends in self._ends)])
        found = colours.copy()
        for role, ends in enumerate(self._ends):
            np.add.at(found, ends, _mixed(whole + np.uint64(role)))
        return _mixed(found[:NONE])


def _own(net: Network, data_type: DataType) -> Hashes:
    """A colour for each neuron's own genes and ports."""
    genes = net.neurons
    names = [
        np.unique(each.astype(str), return_inverse=True)[1].astype(np.uint64)
        for each in function_names(net, data_type)
    ]
    numbers = [_bits(each, data_type) for each in (genes.bias, genes.response, genes.initial)]
    found = _joined([*names, *numbers])
    for number, port in enumerate((*net.inputs, *net.outputs), start=1):
        place = np.arange(port.neurons.size, dtype=np.uint64)
        np.add.at(found, port.neurons.ravel(), _mixed(place + np.uint64(number << 32)))
    return found


def function_names(net: Network, data_type: DataType) -> tuple[Names, Names]:
    """The names of each neuron's activation and aggregation, with the constants of formulas as
    the file holds them.
    """
    known = [_as_held(name, data_type) for name in net.activations]
    return np.array(known, object)[net.neurons.activation], net.aggregation_names


def _as_held(name: str, data_type: DataType) -> str:
    if data_type is not DataType.FLOAT or not name.startswith(FORMULA):
        return name
    return f"{FORMULA}{activation_named(name).expression.single}"


def rounded(values: Floats, data_type: DataType) -> Any:
    """Values as the file holds them, 0 for -0."""
    if data_type is DataType.FLOAT:
        return values.astype(np.float32) + np.float32(0)
    return values + 0.0


def _bits(values: Floats, data_type: DataType) -> Hashes:
    return np.ascontiguousarray(rounded(values, data_type), np.float64).view(np.uint64)


def _joined(columns: list[Hashes]) -> Hashes:
    """One hash for each row of columns."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = _mixed(found ^ column)
    return found


def _mixed(values: Hashes) -> Hashes:
    """Hashes of numbers: the steps of splitmix64 (Steele, Lea and Flood, 2014)."""
    found = values + _GOLDEN
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        found = (found ^ (found >> np.uint64(shift))) * factor
    return found ^ (found >> np.uint64(31))
