"""The genome document in fewer words: neurons alike together, connections beside the graph's.

A disabled connection, or a neuron that nothing reads, is no part of a graph; the other connections
are, and need not be listed.
"""

import json
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import GenomeDocument, filled, matches
from neat_onnx.genome.ranges import with_steps, without_ranges
from neat_onnx.network.genes import NONE, Connections, Ints, owned

VERSION_WITH_STEPS = 2
_MIN_IN_ORDER_PER_MOVED = 4  # connections
MIN_BYTES_SAVED = 1024  # for which a document is of the version that earlier readers refuse


def neurons_alike(changed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries for neurons, those with equal fields in one that has their ids."""
    groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for gene in changed:
        fields = {key: value for key, value in gene.items() if key != "id"}
        groups.setdefault(repr(fields), (fields, []))[1].append(gene["id"])
    return [
        ({"id": ids[0]} if len(ids) == 1 else {"ids": with_steps(ids)}) | fields
        for fields, ids in groups.values()
    ]


def each_neuron(entries: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The fields of every neuron that has some, by id.

    Raises:
        NetworkError: an id, or a list of ids, is none.
    """
    found: dict[int, dict[str, Any]] = {}
    for entry in entries:
        try:
            ids = without_ranges(entry.get("ids", [entry.get("id")]))
        except ValueError as error:
            raise NetworkError(str(error), where="neurons") from None
        if not isinstance(ids, list) or not all(type(each) is int for each in ids):
            raise NetworkError("ids have to be integers", where="neurons")
        fields = {key: value for key, value in entry.items() if key != "ids"}
        found |= {each: {"id": each, **fields} for each in ids}
    return found


class Others(NamedTuple):
    """Positions, in a genome, of connections that are not the graph's in its order.

    Attributes:
        added: connections that the graph does not have.
        moved: connections that it has, and that stand behind later ones.
    """

    added: Ints
    moved: Ints

    def __bool__(self) -> bool:
        return bool(self.added.size or self.moved.size)


def others_of(known: Connections, genes: Connections, count: int) -> Others | None:
    """The connections of a genome beside the graph's.

    Args:
        known: the graph's, by target, then by source.
        genes: all of the genome, in its order.
        count: of neurons.

    Returns:
        None if many are in another order, or not all of the graph's are there.
    """
    keys, wanted = known.target * count + known.source, genes.target * count + genes.source
    order = np.argsort(wanted, kind="stable")
    ordered = wanted[order]
    again = np.arange(len(wanted)) - np.searchsorted(ordered, ordered)  # gaters may differ
    there = np.searchsorted(keys, ordered, "right") - np.searchsorted(keys, ordered)
    held = np.zeros(len(wanted), np.bool_)
    held[order] = again < there
    if np.count_nonzero(held) != len(keys):
        return None
    at = np.flatnonzero(held)
    is_behind = wanted[at] < np.maximum.accumulate(wanted[at]) if len(at) else held[at]
    moved = at[is_behind]
    if len(moved) * _MIN_IN_ORDER_PER_MOVED > len(at) or np.any(
        matched(known, genes, moved, count) == NONE
    ):
        return None
    return Others(np.flatnonzero(~held), moved)


def matched(known: Connections, genes: Connections, positions: Ints, count: int) -> Ints:
    """The position in `known` of some connections of a genome; NONE where there is none, or two."""
    return matches(known, genes.source[positions], genes.target[positions], count)


def with_others(known: Connections, others: Others, ends: Ints, moved: Ints) -> Connections:
    """The connections of the graph, with others at their positions.

    Args:
        known: the graph's.
        others: sorted positions.
        ends: sources and targets of the ones that are added, (k, 2).
        moved: the positions in `known` of the ones that are moved.
    """
    total = len(known) + len(others.added)
    left = np.ones(len(known), np.bool_)
    left[moved] = False
    in_order = np.ones(total, np.bool_)
    in_order[others.added] = in_order[others.moved] = False
    at = np.full(total, NONE, np.int64)
    at[in_order] = np.flatnonzero(left)
    at[others.moved] = moved
    genes, there = filled(known, at), at != NONE
    source, target = np.empty(total, np.int64), np.empty(total, np.int64)
    source[there], target[there] = known.source[at[there]], known.target[at[there]]
    source[others.added], target[others.added] = ends.T
    return replace(genes, source=owned(source), target=owned(target))


def shorter_text(plain: GenomeDocument, compact: GenomeDocument | None) -> str:
    """The document as text: the compact one if it is so much shorter as to be worth a version."""
    text = text_of(plain)
    if compact is None or len(text) < MIN_BYTES_SAVED:
        return text
    other = text_of(compact)
    return other if len(text) - len(other) >= MIN_BYTES_SAVED else text


def text_of(document: GenomeDocument) -> str:
    """The document as JSON, without defaults and spaces; version 2 has ranges with steps."""
    whole = document.model_dump(exclude_defaults=True)
    if document.version == VERSION_WITH_STEPS:
        whole["ids"] = {tensor: with_steps(ids) for tensor, ids in document.ids.items()}
        if document.parts:
            whole["parts"] = {
                tensor: {part: with_steps(ids) for part, ids in parts.items()}
                for tensor, parts in document.parts.items()
            }
        if document.order is not None:
            whole["order"] = with_steps(document.order)
    return json.dumps(whole, separators=(",", ":"))
