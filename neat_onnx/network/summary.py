"""A network in a few numbers, for people and for the page."""

from collections import Counter

import numpy as np
from pydantic import BaseModel, Field

from neat_onnx.arguments import instance_of, takes
from neat_onnx.network.genes import NONE
from neat_onnx.network.schedule import schedule
from neat_onnx.network.structure import Structure


class Summary(BaseModel):
    """The properties of a network."""

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
        for count, kind in (
            (self.disabled, "disabled genes beside them"),
            (self.gated, "gated"),
            (self.delayed, "delayed"),
        ):
            genes += f", {count} {kind}" if count else ""
        lines = [
            f"Network of {self.library}: {self.inputs} inputs, {self.hidden} hidden neurons, "
            f"{self.outputs} outputs, {self.levels} levels"
            f"{', with memory' if self.has_memory else ''}",
            f"  {genes}",
        ]
        tables = {
            "activations": self.activations,
            "aggregations": self.aggregations,
            "windows": self.windows,
        }
        for title, table in tables.items():
            if table:
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
