"""The genome document: the difference between a network and the one that its graph lifts to."""

from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from neat_onnx.genome.ranges import Ids
from neat_onnx.network.genes import NONE, Connections, Ints, is_none, owned
from neat_onnx.network.network import Network
from neat_onnx.parsing import Document

GENOME, NETWORK = "neat_onnx.genome", "neat_onnx.network"

NEURON_FIELDS = ("bias", "response", "initial")
CONNECTION_FIELDS = (
    "weight",
    "enabled",
    "delay",
    "reads_state",
    "gater",
    "gate_delay",
    "initial_gain",
)


class GenomeDocument(Document):
    """The facts of a network that its graph does not hold."""

    version: int = Field(
        1,
        ge=1,
        le=2,
        description="2 where `added`, `moved`, `zeros`, `apart`, `ids` in `neurons` or a range "
        "with a step is used.",
    )
    library: str = "neat-onnx"
    ids: dict[str, Ids] = Field(
        description="For each tensor of neurons, the id of the neuron in each column."
    )
    parts: dict[str, dict[str, Ids]] = Field(
        default_factory=dict,
        description="For the output of a node that is several neurons an element, the ids of the "
        "neurons of each part inside the node.",
    )
    order: Ids | None = Field(
        None,
        description="All ids in genome order, where `ids`, then `parts`, are not in that order.",
    )
    neurons: list[dict[str, Any]] = Field(
        default_factory=list,
        description="For neurons in a tensor or a part, the fields that differ from the graph's; "
        "for others, every field. Each has an `id`, or in version 2 `ids` of neurons alike.",
    )
    connections: list[list[int]] | None = Field(
        None, description="All connections as [source, target], where they are not the graph's."
    )
    added: dict[str, list[int]] = Field(
        default_factory=dict,
        description="In version 2, in place of `connections`: [source, target] of those that the "
        "graph does not have, by position; the others are the graph's, in their order.",
    )
    moved: dict[str, list[int]] = Field(
        default_factory=dict,
        description="In version 2, beside `added`: [source, target] of connections of the graph "
        "that stand at another position, by position.",
    )
    zeros: bool = Field(
        False,
        description="In version 2, the entries of weight 0 in the kernels of convolutions are "
        "connections of the graph too.",
    )
    apart: list[Ids] = Field(
        default_factory=list,
        description="In version 2: for each convolution or pool of the graph, in the order of its "
        "neurons, of which some elements are no neurons here, the ids of the neurons that have "
        "these places; an empty list if that is not known.",
    )
    genes: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By position: for connections that the graph has, the fields that differ from "
        "its own; for others, every field.",
    )


ROUNDS_TO_ZERO = 2.0**-150  # in float32: a weight up to this does not come back from such a file


def backwards(lifted_of: Ints, count: int) -> Ints:
    """The neuron of the genome that each of so many lifted ones is, NONE where it is none.

    Args:
        lifted_of: the lifted neuron of each neuron of the genome, NONE where it has none.
        count: of the lifted neurons.
    """
    back = np.full(count, NONE, np.int64)
    placed = np.flatnonzero(lifted_of != NONE)
    back[lifted_of[placed]] = placed
    return back


def carried_over(lifted: Network, lifted_of: Ints, *, zeros: bool = False) -> Connections:
    """The lifted connections between neurons that have a place in the genome, as positions there.

    They are in canonical order: by target, then by source, then by delay.

    Args:
        lifted_of: the lifted neuron of each neuron of the genome, NONE where it has none.
        zeros: connections of weight 0 are among them.
    """
    back = backwards(lifted_of, len(lifted) + 1)  # the last place is that of NONE
    genes = lifted.connections
    source, target = owned(back[genes.source]), owned(back[genes.target])
    gater = genes.gater if is_none(genes.gater) else owned(back[genes.gater])
    inside = (source != NONE) & (target != NONE) & ((gater != NONE) | (genes.gater == NONE))
    if not zeros:
        inside &= np.abs(genes.weight) > ROUNDS_TO_ZERO
    found = Connections.of(
        source,
        target,
        genes.weight,
        gater=gater,
        **{
            name: getattr(genes, name)
            for name in CONNECTION_FIELDS
            if name not in ("weight", "gater")
        },
    )
    if not np.all(inside):
        found = found.take(inside)
    key = found.target * len(lifted_of) + found.source
    if np.any(key[1:] <= key[:-1]):
        found = found.take(np.lexsort((found.gate_delay, found.gater, found.delay, key)))
    return found


def matches(known: Connections, source: Ints, target: Ints, count: int) -> Ints:
    """For each (source, target), the position of the one known connection of this pair, or NONE."""
    keys, wanted = known.target * count + known.source, target * count + source
    if not len(keys):
        return np.full(len(wanted), NONE, np.int64)
    first = np.searchsorted(keys, wanted)
    last = np.searchsorted(keys, wanted, side="right")
    return np.where(last - first == 1, first, NONE)


def filled(known: Connections, at: Ints) -> Connections:
    """The known connections at these positions; a plain one of weight NaN where there is none."""
    zeros = np.zeros(len(at), np.int64)
    plain = Connections.of(zeros, zeros, np.full(len(at), np.nan))
    found = at != NONE
    columns = {name: getattr(plain, name).copy() for name in CONNECTION_FIELDS}
    for name, column in columns.items():
        column[found] = getattr(known, name)[at[found]]
        owned(column)
    return replace(plain, **columns)
