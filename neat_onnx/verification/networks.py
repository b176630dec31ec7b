"""Two networks compared: by their genes, then by the numbers that they compute."""

import numpy as np
from pydantic import BaseModel, Field

from neat_onnx.network.network import Network
from neat_onnx.network.summary import Difference, difference
from neat_onnx.parsing import Plain
from neat_onnx.verification.samples import check_sampling, short_sequences

_MAX_LINES = 12


class NetworkDiff(BaseModel, metaclass=Plain):
    """The difference between two networks: of their genes, then of their outputs."""

    genes: Difference = Field(description="Genes added, gone and changed, matched by their ids.")
    samples: int = Field(description="Inputs that both were run on; 0 where their ports differ.")
    steps: int = Field(description="Steps of each: 16 where one has memory, else 1.")
    max_error: float | None = Field(
        description="The largest difference of an output; None where the networks have other "
        "numbers of inputs or outputs, NaN where one output is not finite and the other is."
    )
    mse: float | None = Field(description="The mean of the squared differences, likewise.")

    @property
    def is_empty(self) -> bool:
        """Whether there is none: the same genes."""
        return self.genes.is_empty

    def __str__(self) -> str:
        """Describe it in lines, genes first."""
        found = self.genes
        lines = [
            f"{name.replace('_', ' ')}: {_shortened(genes)}"
            for name, genes in found
            if name not in ("weights", "rounded", "others") and genes
        ]
        changes = [*found.others, *found.weights]
        for each in changes[:_MAX_LINES]:
            lines.append(f"{each.gene}: {each.field} {each.before} to {each.after}")
        if len(changes) > _MAX_LINES:
            lines.append(f"and {len(changes) - _MAX_LINES} more changed numbers")
        lines = lines or ["the same genes"]
        return "\n".join([*lines, self._function()])

    def _function(self) -> str:
        if self.max_error is None:
            return "outputs: not compared, since the numbers of inputs or outputs differ"
        if self.max_error == 0.0:
            return f"outputs: the same on {self.samples} samples"
        return (
            f"outputs: up to {self.max_error:.3g} apart on {self.samples} samples, "
            f"mean squared {self.mse:.3g}"
        )


def _shortened(genes: list[int] | list[str]) -> str:
    shown = "; ".join(map(str, genes[:_MAX_LINES]))
    return f"{shown}; and {len(genes) - _MAX_LINES} more" if len(genes) > _MAX_LINES else shown


def compare_networks(one: Network, other: Network, samples: int, seed: int) -> NetworkDiff:
    """See `neat_onnx.diff`."""
    check_sampling(samples, seed)
    genes = difference(one, other)
    ports = [(len(net.input_neurons), len(net.output_neurons)) for net in (one, other)]
    if ports[0] != ports[1]:
        return NetworkDiff(genes=genes, samples=0, steps=0, max_error=None, mse=None)
    x = short_sequences(other if other.has_memory else one, samples, seed)
    want, got = one.run(x), other.run(x)
    with np.errstate(all="ignore"):
        error = np.where(want == got, 0.0, np.abs(got - want))
        error[np.isnan(want) & np.isnan(got)] = 0.0
        worst, mse = float(error.max()), float(np.mean(error * error))
        return NetworkDiff(genes=genes, samples=samples, steps=len(x), max_error=worst, mse=mse)
