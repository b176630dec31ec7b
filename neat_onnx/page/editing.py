"""Genes that a person changes on the page, one edit after the other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.arguments import NUMBER, is_whole
from neat_onnx.errors import OptionError
from neat_onnx.network.activations import activation_named
from neat_onnx.network.network import Network

_FIELDS = {"connection": ("weight", "enabled"), "neuron": ("bias", "response", "activation")}


def edited(net: Network, edits: object) -> Network:
    """Return a network with genes changed.

    Args:
        net: the network that was read; edits name its neurons and connections by position.
        edits: a list of objects of JSON: {"connection", "weight" | "enabled"}, or {"neuron",
            "bias" | "response" | "activation" | "pruned"}. A pruned neuron keeps its genes, and
            each of its connections, and those that it gates, are disabled.

    Raises:
        OptionError: an edit is none of these, or names a gene that is not there.
        NetworkError: there is no such activation.
    """
    for edit in edits if isinstance(edits, list) else [edits]:
        net = _edited(net, edit)
    return net


def _edited(net: Network, edit: Any) -> Network:
    kind = next((each for each in _FIELDS if isinstance(edit, Mapping) and each in edit), None)
    if kind is None:
        raise OptionError("an edit names a connection or a neuron", where="edits")
    place = edit[kind]
    part: Any = net.connections if kind == "connection" else net.neurons
    if not is_whole(place) or not 0 <= place < len(part):
        raise OptionError(f"there is no {kind} {place}", where="edits")
    if kind == "neuron" and edit.get("pruned"):
        edges = net.connections
        its = (edges.source == place) | (edges.target == place) | (edges.gater == place)
        return replace(net, connections=replace(edges, enabled=edges.enabled & ~its))
    field = next((each for each in _FIELDS[kind] if each in edit), None)
    if field is None:
        raise OptionError(f"nothing of {kind} {place} is changed", where="edits")
    value = edit[field]
    others: dict[str, Any] = {}
    if field == "activation":
        activation_named(str(value))
        names = net.activations if value in net.activations else (*net.activations, value)
        value, net = names.index(value), replace(net, activations=names)
        spelling = [*net.neurons.spelling]  # the library's own names
        spelling[place : place + 1] = [""] * bool(spelling)
        others["spelling"] = tuple(spelling)
    elif field != "enabled" and not NUMBER.fits(value):
        raise OptionError("a gene is a finite number", where="edits")
    column = np.array(getattr(part, field))
    column[place] = value
    changed: dict[str, Any] = {f"{kind}s": replace(part, **{field: column}, **others)}
    return replace(net, **changed)
