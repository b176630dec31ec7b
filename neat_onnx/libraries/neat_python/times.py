"""Networks whose step is an amount of time: the caller's times, and a copy of nodes a sub-step."""

import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from neat_onnx.arguments import is_number
from neat_onnx.errors import OptionError
from neat_onnx.libraries.genome_graph import NetworkBuilder, Value
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes
from neat_onnx.network.network import Network

MAX_SUB_STEPS = 1000  # each one is a copy of every neuron
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Times:
    """The caller's times: of a step of the integration, and of one step of the network."""

    time_step: Any = None
    advance_time: Any = None

    def refuse(self) -> None:
        """Raise OptionError if any was given: the network's own steps are no amount of time."""
        for name, value in vars(self).items():
            if value is not None:
                raise OptionError(f"{name} is for ctrnn and iznn networks", where=name)

    def of(self, kind: str) -> tuple[float, float]:
        """Both times, for a network of this kind."""
        if self.time_step is None:
            raise OptionError(
                f"JSON of {kind} networks does not say their time step",
                where="time_step",
                hint="Give time_step, and advance_time if one step of the network is to be longer "
                "(command line: --time-step, --advance-time)",
            )
        for name, value in vars(self).items():
            is_positive = is_number(value) and 0.0 < value <= sys.float_info.max
            if value is not None and not is_positive:
                raise OptionError(f"{name} should be a positive number, got {value!r}", where=name)
        advance = self.time_step if self.advance_time is None else self.advance_time
        return float(self.time_step), float(advance)


def sub_steps(time_step: float, advance_time: float) -> list[float]:
    """The lengths of the sub-steps in `advance_time`; the last is shorter if they do not fit.

    0.3 is three times 0.1, although their doubles are not.
    """
    ratio = advance_time / time_step
    if ratio > MAX_SUB_STEPS:
        raise OptionError(
            f"advance_time {advance_time:g} is more than {MAX_SUB_STEPS} times time_step "
            f"{time_step:g}",
            where="advance_time",
            hint="Run the network for several steps instead",
        )
    count = max(1, round(ratio))
    if not math.isclose(ratio, count, rel_tol=_ROUNDING):
        count = max(1, math.ceil(ratio))
    return [time_step] * (count - 1) + [advance_time - (count - 1) * time_step]


class Unrolled:
    """The neurons of nodes in each sub-step of a step, and the parts that a node consists of.

    Attributes:
        made: the neurons so far.
        count: the number of sub-steps.
        ids: of the neurons that others read, by the key of the node, the part and the sub-step.
    """

    word = "sub-step"

    def __init__(self, genes: Genes, taken: list[int], count: int) -> None:
        self._genes, self.count = genes, count
        self.made = NetworkBuilder([*genes.inputs, *taken])
        self.ids: dict[tuple[int, str, int], int] = {}
        self.into: dict[int, list[ConnectionGene]] = defaultdict(list)
        for gene in genes.connections:
            self.into[gene.target].append(gene)

    def value(self, key: int, part: str, k: int) -> Value:
        """The value of a part after sub-step k; values up to k = 0 are from the step before."""
        if (key, part, 1) not in self.ids:  # an input, or a node that stays 0
            return key, 0
        if (key, part, k) in self.ids:
            return self.ids[key, part, k], 0
        steps, k = divmod(k - 1, self.count)
        return self.ids[key, part, k + 1], -steps

    def connect_genes(self, key: int, target: int, part: str, k: int) -> None:
        """Add the connections into a node; disabled ones in the last sub-step alone."""
        for gene in self.into[key]:
            if gene.enabled or k == self.count:
                source = self.value(gene.source, part, k - 1)
                self.made.connect(source, target, gene.weight, enabled=gene.enabled)

    def neuron(self, key: int, part: str, k: int, reads: Any, **gene: Any) -> None:
        """Add the neuron of a part that others read."""
        own = self.ids[key, part, k]
        self.made.neuron(own, "" if own == key else self.name(key, part, k), reads, **gene)

    def helper(self, key: int, part: str, k: int, reads: Any, **gene: Any) -> int:
        """Add the neuron of another part; returns its id."""
        return self.made.helper(self.name(key, part, k), reads, **gene)

    def name(self, key: int, part: str, k: int) -> str:
        """The name of a part of a node in a sub-step."""
        return f"node {key} {part}" + (f", {self.word} {k}" if self.count > 1 else "")

    def network(self, library: str) -> Network:
        """The network of all of them."""
        return self.made.network(self._genes.inputs, self._genes.outputs, library)
