"""A network in a few numbers, for people and for the page."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from neat_onnx.arguments import instance_of, takes
from neat_onnx.network.document import to_document
from neat_onnx.network.genes import NONE
from neat_onnx.network.schedule import schedule
from neat_onnx.network.structure import Structure


class Summary(BaseModel):
    """The properties of a network."""

    model_config = ConfigDict(defer_build=True)

    library: str = Field(description="What wrote it.")
    inputs: int
    outputs: int
    neurons: int = Field(description="All of them, inputs included.")
    hidden: int = Field(description="Those that are neither input nor output.")
    connections: int = Field(description="Enabled ones.")
    disabled: int = Field(description="Connections that are genes only.")
    gated: int = Field(description="Enabled connections with a gater.")
    delayed: int = Field(description="Enabled connections that read an earlier step.")
    levels: int = Field(description="Topological levels after the inputs.")
    activations: dict[str, int] = Field(description="How many neurons use each, inputs left out.")
    aggregations: dict[str, int]
    windows: dict[str, int] = Field(description="Layers that slide a window, by their operator.")
    has_memory: bool = Field(description="Whether one step depends on the steps before it.")
    memory: dict[str, str] = Field(
        default_factory=dict,
        description="Where its memory has names: the output of a graph that feeds each input.",
    )

    def __str__(self) -> str:
        """Describe the network in a few lines, for people."""
        genes = f"{self.connections} connections"
        for name in ("disabled", "gated", "delayed"):
            words = "disabled genes beside them" if name == "disabled" else name
            genes += f", {count} {words}" if (count := getattr(self, name)) else ""
        lines = [
            f"Network of {self.library}: {self.inputs} inputs, {self.hidden} hidden neurons, "
            f"{self.outputs} outputs, {self.levels} levels"
            f"{', with memory' if self.has_memory else ''}",
            f"  {genes}",
        ]
        for title in ("activations", "aggregations", "windows"):
            if table := getattr(self, title):
                shown = ", ".join(f"{name} {count}" for name, count in table.items())
                lines.append(f"  {title}: {shown}")
        return "\n".join(lines)


@takes(net=instance_of(Structure, "a Network"))
def summary(net: Structure) -> Summary:
    """Count the neurons, connections and levels of a network.

    Args:
        net: the network.

    Returns:
        The counts: inputs, neurons, connections, activations, topological levels, memory.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    live = net.live
    computing = ~net.is_input
    hidden = computing.copy()
    hidden[net.output_neurons] = False
    return Summary(
        library=net.library,
        inputs=len(net.input_neurons),
        outputs=len(net.output_neurons),
        neurons=len(net),
        hidden=int(hidden.sum()),
        connections=len(live),
        disabled=len(net.connections) - len(live),
        gated=int(np.sum(live.gater != NONE)),
        delayed=int(np.sum(live.delay > 0)),
        levels=schedule(net).depth,
        activations=_counted(net.activation_names[computing].tolist()),
        aggregations=_counted(net.aggregation_names[computing].tolist()),
        windows=_counted([block.kind for block in net.blocks]),
        has_memory=net.has_memory,
        memory={port.input: port.output for port in net.memory},
    )


def _counted(names: list[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


Value = float | int | str | bool | None


class Change(BaseModel):
    """A gene that both networks have, with another value."""

    model_config = ConfigDict(defer_build=True)

    gene: str = Field(description="`neuron 7`, or `3 → 7` for a connection, by ids.")
    field: str = Field(description="The property that differs.")
    before: Value
    after: Value


class Difference(BaseModel):
    """The way from one genome to another; genes are the same if their ids are."""

    model_config = ConfigDict(defer_build=True)

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
    neurons, genes = _genes_of(one)
    others, successors = _genes_of(other)
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
            *_changes(neurons, others, kept, _OF_NEURONS),
            *_changes(genes, successors, both, ("gater", "gate_delay", "initial_gain")),
        ],
    )


_OF_NEURONS = ("kind", "activation", "aggregation", "bias", "response", "initial")
Genes = dict[Any, dict[str, Any]]


def _genes_of(net: Structure) -> tuple[Genes, Genes]:
    """Return the fields of neurons by their ids, and of connections by what they are matched by."""
    document, ids = to_document(net), net.neurons.id
    neurons = {gene.id: gene.model_dump() | {"kind": "hidden"} for gene in document.neurons}
    for kind, ends in (("output", net.output_neurons), ("input", net.input_neurons)):
        for neuron in ids[ends].tolist():
            neurons[neuron]["kind"] = kind
    connections: Genes = {}
    seen: Counter[Any] = Counter()
    for gene in document.connections:
        key = gene.source, gene.target, gene.delay, gene.reads_state
        connections[*key, seen[key]] = gene.model_dump()
        seen[key] += 1
    return neurons, connections


def _changes(
    before: Genes, after: Genes, keys: list[Any], names: tuple[str, ...]
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
