"""The genome document in fewer words: neurons alike together, connections beside the graph's.

A disabled connection, or a neuron that nothing reads, is no part of a graph; the other connections
are, and need not be listed.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import GenomeDocument, filled
from neat_onnx.genome.ranges import with_steps, without_ranges
from neat_onnx.network.genes import NONE, Connections, Ints, owned

WITH_STEPS = 2  # the version
LEAST_SAVED = 1024  # bytes for which a document is of the version that earlier readers refuse


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


def each_neuron(entries: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """The fields of every neuron that has some, by id.

    Raises:
        NetworkError: a list of ids is none.
    """
    found: dict[Any, dict[str, Any]] = {}
    for entry in entries:
        if "ids" not in entry:
            found[entry.get("id")] = entry
            continue
        try:
            ids = without_ranges(entry["ids"])
        except ValueError as error:
            raise NetworkError(str(error), where="neurons") from None
        if not isinstance(ids, list) or not all(type(each) is int for each in ids):
            raise NetworkError("ids have to be integers", where="neurons")
        fields = {key: value for key, value in entry.items() if key != "ids"}
        found |= {each: {"id": each, **fields} for each in ids}
    return found


def added_to(known: Connections, genes: Connections, count: int) -> Ints | None:
    """The positions of connections that the graph does not have, among all of them in its order.

    Args:
        known: the graph's, by target, then by source.
        genes: all of the genome, in its order.
        count: of neurons.

    Returns:
        None if they are in another order, or not all of the graph's are there.
    """
    keys, wanted = known.target * count + known.source, genes.target * count + genes.source
    if np.count_nonzero(np.diff(wanted) < 0) > len(wanted) - len(keys):
        return None  # one that is added makes no more than one descent
    order = np.argsort(wanted, kind="stable")
    ordered = wanted[order]
    again = np.arange(len(wanted)) - np.searchsorted(ordered, ordered)  # gaters may differ
    there = np.searchsorted(keys, ordered, "right") - np.searchsorted(keys, ordered)
    held = np.zeros(len(wanted), np.bool_)
    held[order] = again < there
    if not np.array_equal(wanted[held], keys):
        return None
    return np.flatnonzero(~held)


def with_added(known: Connections, added: Ints, ends: Ints) -> Connections:
    """The connections of the graph, with others at the positions `added`.

    Args:
        known: the graph's.
        added: sorted positions, (k,).
        ends: their sources and targets, (k, 2).
    """
    total = len(known) + len(added)
    held = np.ones(total, np.bool_)
    held[added] = False
    at = np.full(total, NONE, np.int64)
    at[held] = np.arange(len(known))
    genes = filled(known, at)
    source, target = np.empty(total, np.int64), np.empty(total, np.int64)
    source[held], target[held] = known.source, known.target
    source[added], target[added] = ends.T
    return replace(genes, source=owned(source), target=owned(target))


def shorter_text(
    plain: GenomeDocument, compact: GenomeDocument | None, least_saved: int = LEAST_SAVED
) -> str:
    """The document as text: the compact one if it is so much shorter as to be worth a version."""
    text = text_of(plain)
    if compact is None or len(text) < least_saved:
        return text
    other = text_of(compact)
    return other if len(text) - len(other) >= least_saved else text


def text_of(document: GenomeDocument) -> str:
    """The document as JSON, without defaults and spaces; version 2 has ranges with steps."""
    whole = document.model_dump(exclude_defaults=True)
    if document.version == WITH_STEPS:
        whole["ids"] = {place: with_steps(ids) for place, ids in document.ids.items()}
        if document.parts:
            whole["parts"] = {
                place: {part: with_steps(ids) for part, ids in parts.items()}
                for place, parts in document.parts.items()
            }
        if document.order is not None:
            whole["order"] = with_steps(document.order)
    return json.dumps(whole, separators=(",", ":"))
