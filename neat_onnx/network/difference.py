"""Two networks compared gene by gene: neurons and connections added, gone and changed."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

from neat_onnx.network.genes import NONE
from neat_onnx.network.structure import Structure

Value = float | int | str | bool | None


class Change(BaseModel):
    """A gene that both networks have, with another value."""

    gene: str = Field(description="`neuron 7`, or `3 → 7` for a connection, by ids.")
    field: str = Field(description="The property that differs.")
    before: Value
    after: Value


class Difference(BaseModel):
    """The way from one genome to another; genes are the same if their ids are."""

    neurons_added: list[int] = Field(description="Ids that only the second network has.")
    neurons_gone: list[int] = Field(description="Ids that only the first network has.")
    connections_added: list[str]
    connections_gone: list[str]
    enabled: list[str] = Field(description="Connections that compute in the second network only.")
    disabled: list[str] = Field(description="Connections that compute in the first network only.")
    weights: list[Change] = Field(description="Weights that differ.")
    rounded: int = Field(description="The weights among them that only float32 has rounded.")
    others: list[Change] = Field(description="Every other property that differs.")

    @property
    def is_empty(self) -> bool:
        """Whether the genomes are the same."""
        return not any(self.model_dump().values())


def difference(one: Structure, other: Structure) -> Difference:
    """Compare two networks gene by gene.

    Neurons are matched by their ids; connections by the ids of their ends, their delay, whether
    they read the state, and their order among equals.
    """
    neurons, others = _neurons(one), _neurons(other)
    genes, successors = _connections(one), _connections(other)
    both = [key for key in genes if key in successors]
    weights = list(_changes(genes, successors, both, ("weight",)))
    moved = [key for key in both if genes[key]["enabled"] != successors[key]["enabled"]]
    kept = [key for key in neurons if key in others]
    return Difference(
        neurons_added=[id for id in others if id not in neurons],
        neurons_gone=[id for id in neurons if id not in others],
        connections_added=[_called(key) for key in successors if key not in genes],
        connections_gone=[_called(key) for key in genes if key not in successors],
        enabled=[_called(key) for key in moved if successors[key]["enabled"]],
        disabled=[_called(key) for key in moved if genes[key]["enabled"]],
        weights=weights,
        rounded=sum(float(np.float32(each.before)) == each.after for each in weights),
        others=[
            *_changes(neurons, others, kept, next(iter(neurons.values()), {})),
            *_changes(genes, successors, both, ("gater", "gate delay", "initial gain")),
        ],
    )


def _neurons(net: Structure) -> dict[Any, dict[str, Value]]:
    genes = net.neurons
    kinds = np.full(len(net), "hidden", object)
    kinds[net.output_neurons] = "output"
    kinds[net.input_neurons] = "input"
    columns = {
        "kind": kinds.tolist(),
        "activation": net.activation_names.tolist(),
        "aggregation": net.aggregation_names.tolist(),
        "bias": genes.bias.tolist(),
        "response": genes.response.tolist(),
        "initial value": genes.initial.tolist(),
    }
    return _rows(genes.id.tolist(), columns)


def _connections(net: Structure) -> dict[Any, dict[str, Value]]:
    genes, ids = net.connections, net.neurons.id
    seen: Counter[Any] = Counter()
    keys = []
    named = zip(ids[genes.source], ids[genes.target], genes.delay, genes.reads_state, strict=True)
    for source, target, delay, state in named:
        key = int(source), int(target), int(delay), bool(state)
        keys.append((*key, seen[key]))
        seen[key] += 1
    gaters = [None if gater == NONE else int(ids[gater]) for gater in genes.gater.tolist()]
    columns = {
        "weight": genes.weight.tolist(),
        "enabled": genes.enabled.tolist(),
        "gater": gaters,
        "gate delay": genes.gate_delay.tolist(),
        "initial gain": genes.initial_gain.tolist(),
    }
    return _rows(keys, columns)


def _rows(keys: list[Any], columns: dict[str, list[Value]]) -> dict[Any, dict[str, Value]]:
    values = zip(*columns.values(), strict=True)
    return {
        key: dict(zip(columns, row, strict=True)) for key, row in zip(keys, values, strict=True)
    }


def _changes(
    before: dict[Any, dict[str, Value]],
    after: dict[Any, dict[str, Value]],
    keys: list[Any],
    names: Any,
) -> Iterator[Change]:
    for key in keys:
        for name in names:
            old, new = before[key][name], after[key][name]
            if old != new:
                yield Change(gene=_called(key), field=name, before=old, after=new)


def _called(key: Any) -> str:
    """Name a gene in the words of a person: a neuron by its id, a connection by its ends."""
    if not isinstance(key, tuple):
        return f"neuron {key}"
    source, target, delay, state, copy = key
    text = f"{source} → {target}"
    if delay:
        text += f", {delay} step{'s' * (delay > 1)} later"
    if state:
        text += ", its state"
    return f"{text}, number {copy + 1}" if copy else text
