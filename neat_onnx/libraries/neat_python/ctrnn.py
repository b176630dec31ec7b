"""neat-python's continuous-time networks (CTRNN): `export_network_json(net)`, type ctrnn.

Such a network is integrated in sub-steps. In each, every node has a *drive*, the activation of its
inputs: the current inputs, and the other nodes as they were one sub-step before. Its *state*
moves towards the drive, by a rate that the sub-step and the node's time constant give:

    state(k) = (1 - rate) · state(k - lag) + rate · drive(k)

The integrators of neat-python differ in rate and lag. Up to 2.0 it fills two buffers in turn, and a
new state replaces not the last one but the one before it (lag 2); its outputs are one sub-step
late. From 2.1 on it is the exponential Euler method. Only the version in the metadata tells.

A node without enabled connections into it stays 0. Where its genes are known, they stand on a
neuron beside it, as another node's on its drive; a disabled connection from there to the node has
its time constant, in time steps, as the weight.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import NetworkBuilder, Value
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene, function_name
from neat_onnx.libraries.neat_python.static import silent_functions, silent_ids
from neat_onnx.libraries.neat_python.times import Swaps, Times, sub_steps, swaps_of
from neat_onnx.network.network import Network

name = "neat-python ctrnn"


@dataclass(frozen=True)
class _Integrator:
    """How neat-python of some version integrates.

    Attributes:
        version: the version.
        lag: see the module's text.
        late: how many sub-steps before the last one it returns the states of.
        rates: of a sub-step's length and a time constant: 1 - rate, and the rate.
    """

    version: str
    lag: int
    late: int
    rates: Callable[[float, float], tuple[float, float]]


_LEAP_FROG = _Integrator(
    "2.0.0", lag=2, late=1, rates=lambda dt, constant: (1.0 - dt / constant, dt / constant)
)
_EXPONENTIAL = _Integrator(
    *("2.1.0", 1, 0),
    rates=lambda dt, constant: (math.exp(-dt / constant), -math.expm1(-dt / constant)),
)


def read(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(inputs, advance_time, time_step)`."""
    integrator = _integrator(genes.version)
    step, advance = times.of(name)
    lengths = sub_steps(step, advance)
    swaps = swaps_of(step, advance) if integrator is _LEAP_FROG else None
    if swaps:
        warn(
            f"neat-python 2.0.0 rounds the time so that some steps, the first of them step "
            f"{swaps.changes[0] + 1}, have one more sub-step: these steps are known by their "
            f"number, which is right for the first {swaps.followed} steps after a reset"
        )
    return _Compiler(genes, integrator, lengths, swaps).network()


def _integrator(version: str | None) -> _Integrator:
    found = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    if not found:
        raise NetworkError(
            "the document does not say which neat-python wrote it, and so how it is integrated",
            where="metadata.neat_python_version",
            hint="Add the version, such as '2.0.0' or '2.1.0'",
        )
    return _EXPONENTIAL if (int(found[1]), int(found[2])) >= (2, 1) else _LEAP_FROG


class _Compiler:
    """Makes, for each sub-step, a drive and a state of every node."""

    def __init__(
        self,
        genes: Genes,
        integrator: _Integrator,
        lengths: list[float],
        swaps: Swaps | None,
    ) -> None:
        self._integrator, self._lengths = integrator, lengths
        self._inputs, self._outputs = genes.inputs, genes.outputs
        self._nodes = {node.key: node for node in genes.nodes}
        self._into: dict[int, list[ConnectionGene]] = defaultdict(list)
        for gene in genes.connections:
            self._into[gene.target].append(gene)
        self._silent = sorted(silent_ids(genes))
        self._silent_genes = sorted(genes.silent, key=lambda node: node.key)
        self._made = made = NetworkBuilder([*self._inputs, *self._nodes, *self._silent])
        self._sub_steps = range(1, len(lengths) + 1)
        self._late = {key for key in self._outputs if key in self._nodes and integrator.late}
        self._swap = swaps.neurons(made) if swaps and self._nodes else None
        before = (-1, 0) if swaps else ()
        self._state = {
            (key, k): self._state_id(key, k)
            for k in (*before, *self._sub_steps)
            for key in self._nodes
        }

    def network(self) -> Network:
        """The network of all of them."""
        made = self._made
        for key in self._silent:
            made.neuron(key, "", [])
        for key in self._nodes:
            if self._swap:
                self._add_buffers(key, *self._swap)
            for k in self._sub_steps:
                self._add_state(key, k)
        for key in sorted(self._late):
            self._add_returned(key)
        holders = self._add_holders()
        for key in (*self._inputs, *self._silent):
            for gene in self._into[key]:  # they are disabled
                target = holders.get(key, key)
                made.connect((gene.source, 0), target, gene.weight, enabled=False)
        return made.network(
            self._inputs, self._outputs, f"neat-python ctrnn {self._integrator.version}"
        )

    def _state_id(self, key: int, k: int) -> int:
        """The node's own id for its last state, unless `advance` returns another one."""
        own = k == len(self._lengths) and key not in self._late
        return key if own else self._made.fresh_id()

    def _value(self, key: int, k: int) -> Value:
        """The value of a node after sub-step k; values up to k = 0 are from the step before."""
        if key not in self._nodes:
            return key, 0
        if (key, k) in self._state:
            return self._state[key, k], 0
        steps, k = divmod(k - 1, len(self._lengths))
        return self._state[key, k + 1], -steps

    def _add_state(self, key: int, k: int) -> None:
        kept, rate = self._rates(key, k)
        before = self._value(key, k - self._integrator.lag)
        reads = [(before, kept), ((self._add_drive(key, k), 0), rate)]
        state = self._state[key, k]
        self._made.neuron(state, "" if state == key else self._name(key, "state", k), reads)

    def _add_drive(self, key: int, k: int) -> int:
        node = self._nodes[key]
        names = function_name(node, "activation"), function_name(node, "aggregation")
        drive = self._add_genes(self._name(key, "drive", k), node, names)
        for gene in self._into[key]:
            if gene.enabled or k == len(self._lengths):
                source = self._value(gene.source, k - 1)
                self._made.connect(source, drive, gene.weight, enabled=gene.enabled)
        return drive

    def _add_genes(self, name: str, node: NodeGene, names: tuple[str, str]) -> int:
        """Add a neuron with the genes of a node and these functions; returns its id."""
        return self._made.helper(
            name,
            [],
            activation=names[0],
            aggregation=names[1],
            bias=node.bias,
            response=node.response,
        )

    def _add_holders(self) -> dict[int, int]:
        """Add the genes of nodes that stay 0; returns the ids of their neurons, by node."""
        found: dict[int, int] = {}
        for node in self._silent_genes:
            names = silent_functions(node)
            if names is None or node.key not in self._silent or node.key in found:
                continue
            found[node.key] = self._add_genes(f"node {node.key} genes", node, names)
            constant = node.numbers["time_constant"] / self._lengths[0]
            self._made.connect((found[node.key], 0), node.key, constant, enabled=False)
        return found

    def _add_buffers(self, key: int, swaps: int, stays: int) -> None:
        """The states that the first sub-step reads, where they may have changed places."""
        last, before = (self._value(key, len(self._lengths) - k) for k in (0, 1))
        for k, (usual, swapped) in ((0, (last, before)), (-1, (before, last))):
            buffer = self._made.neuron(self._state[key, k], f"node {key} buffer {1 + k}", [])
            for (source, _), gater in ((usual, stays), (swapped, swaps)):
                self._made.connect((source, 1), buffer, 1.0, gater=gater, gate_delay=1)

    def _add_returned(self, key: int) -> None:
        """The value of a node that `advance` returns: the state before the last one."""
        last, late = (self._value(key, len(self._lengths) - k) for k in (0, self._integrator.late))
        if self._swap is None:
            self._made.neuron(key, "", [(late, 1.0)])
            return
        self._made.neuron(key, "", [])
        for value, gater in zip((last, late), self._swap, strict=True):
            self._made.connect(value, key, 1.0, gater=gater)

    def _rates(self, key: int, k: int) -> tuple[float, float]:
        constant = self._nodes[key].numbers["time_constant"]
        try:
            kept, rate = self._integrator.rates(self._lengths[k - 1], constant)
        except (ZeroDivisionError, OverflowError):
            kept = rate = math.inf
        if not math.isfinite(kept) or not math.isfinite(rate):
            raise NetworkError(
                f"time_constant {constant:g} of node {key} is too small",
                where=f"{self._nodes[key].where}.time_constant",
            )
        return kept, rate

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", sub-step {k}" if len(self._lengths) > 1 else "")
