"""Genes that a person changes on the page, one edit after the other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network


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
    if not isinstance(edits, Sequence) or isinstance(edits, str):
        raise OptionError("the edits are no list", where="edits")
    for edit in edits:
        if not isinstance(edit, Mapping):
            raise OptionError("an edit is an object", where="edits")
        net = _connection(net, edit) if "connection" in edit else _neuron(net, edit)
    return net


def _connection(net: Network, edit: Mapping[str, Any]) -> Network:
    genes = net.connections
    place = _place(edit["connection"], len(genes))
    if "weight" in edit:
        return net.with_parameters(weight=_with(genes.weight, place, _number(edit["weight"])))
    enabled = _with(genes.enabled, place, bool(edit.get("enabled")))
    return replace(net, connections=replace(genes, enabled=enabled))


def _neuron(net: Network, edit: Mapping[str, Any]) -> Network:
    place = _place(edit.get("neuron"), len(net))
    if edit.get("pruned"):
        genes = net.connections
        its = (genes.source == place) | (genes.target == place) | (genes.gater == place)
        return replace(net, connections=replace(genes, enabled=genes.enabled & ~its))
    if "bias" in edit:
        return net.with_parameters(bias=_with(net.neurons.bias, place, _number(edit["bias"])))
    if "response" in edit:
        response = _with(net.neurons.response, place, _number(edit["response"]))
        return net.with_parameters(response=response)
    name = str(edit.get("activation"))
    activation_named(name)
    names = net.activations if name in net.activations else (*net.activations, name)
    chosen = _with(net.neurons.activation, place, names.index(name))
    spelling = net.neurons.spelling
    if spelling:  # the library's own name of the activation before
        spelling = tuple("" if k == place else text for k, text in enumerate(spelling))
    neurons = replace(net.neurons, activation=chosen, spelling=spelling)
    return replace(net, activations=names, neurons=neurons)


def _with(values: np.ndarray, place: int, value: float) -> np.ndarray:
    changed = np.array(values)
    changed[place] = value
    return changed


def _place(value: object, size: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not NONE < value < size:
        raise OptionError(f"there is no gene {value}", where="edits")
    return value


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):  # type: ignore[arg-type]
        raise OptionError("a gene is a finite number", where="edits")
    return float(value)  # type: ignore[arg-type]
