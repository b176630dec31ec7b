"""neat-python's continuous-time networks (CTRNN): `export_network_json(net)`, type ctrnn.

Such a network is integrated in sub-steps. In each, every node has a *drive*, the activation of its
inputs: the current inputs, and the other nodes as they were one sub-step before. Its *state*
moves towards the drive, by a rate that the sub-step and the node's time constant give:

    state(k) = (1 - rate) · state(k - lag) + rate · drive(k)

The integrators of neat-python differ in rate and lag. Up to 2.0 it fills two buffers in turn, and a
new state replaces not the last one but the one before it (lag 2); its outputs are one sub-step
late. From 2.1 on it is the exponential Euler method. Only the version in the metadata tells.

A node without enabled connections into it stays 0: see `static.py`.
"""

import math
import re
from collections import defaultdict

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import NetworkBuilder, Value
from neat_onnx.libraries.neat_python.functions import name_in_network
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.static import holder_name, holders
from neat_onnx.libraries.neat_python.times import Swaps, Times, sub_steps, swaps_of
from neat_onnx.network.network import Network

name = "neat-python ctrnn"


def ctrnn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(inputs, advance_time, time_step)`."""
    version = integrator_of(genes.version)
    step, advance = times.of(name)
    swaps = swaps_of(step, advance) if version == "2.0.0" else None
    if swaps:
        warn(
            f"neat-python 2.0.0 rounds the time so that some steps, the first of them step "
            f"{swaps.changes[0] + 1}, have one more sub-step: these steps are known by their "
            f"number, which is right for the first {swaps.followed} steps after a reset"
        )
    return _Compiler(genes, version, sub_steps(step, advance), swaps).network()


def integrator_of(version: str | None) -> str:
    """Return the version that brought the integrator of a version: 2.0.0 or 2.1.0."""
    found = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    if not found:
        raise NetworkError(
            "the document does not say which neat-python wrote it, and so how it is integrated",
            where="metadata.neat_python_version",
            hint="Add the version, such as '2.0.0' or '2.1.0'",
        )
    return "2.1.0" if (int(found[1]), int(found[2])) >= (2, 1) else "2.0.0"


class _Compiler:
    """Makes, for each sub-step, a drive and a state of every node.

    `late` tells how many sub-steps before the last one `advance` returns the states of.
    """

    def __init__(
        self, genes: Genes, version: str, lengths: list[float], swaps: Swaps | None
    ) -> None:
        self._genes, self._version, self._lengths = genes, version, lengths
        self._lag, self._late = (1, 0) if version == "2.1.0" else (2, 1)
        self._nodes = {node.key: node for node in genes.nodes if node.key not in genes.silent}
        self._silent = sorted({*genes.missing(strict=False), *genes.silent})
        self._into: dict[int, list[ConnectionGene]] = defaultdict(list)
        for gene in genes.connections:
            self._into[gene.target].append(gene)
        self._made = made = NetworkBuilder([*genes.inputs, *self._nodes, *self._silent])
        self._swap = swaps.neurons(made) if swaps and self._nodes else None
        self._returned = {key for key in genes.outputs if key in self._nodes and self._late}
        count, buffers = len(lengths), (-1, 0) if swaps else ()
        self._state = {
            (key, k): key if k == count and key not in self._returned else made.fresh_id()
            for k in (*buffers, *range(1, count + 1))
            for key in self._nodes
        }

    def network(self) -> Network:
        """Return the network of all of them."""
        made, genes = self._made, self._genes
        for key in self._silent:
            made.neuron(key, "", [])
        for key in self._nodes:
            if self._swap:
                self._add_buffers(key, *self._swap)
            for k in range(1, len(self._lengths) + 1):
                self._add_state(key, k)
        for key in sorted(self._returned):
            self._add_returned(key)
        for key, node in holders(genes).items():
            holder = self._add_genes(holder_name(key), node)
            constant = node.numbers["time_constant"] / self._lengths[0]
            made.connect((holder, 0), key, constant, enabled=False)
        for key in (*genes.inputs, *self._silent):
            for gene in self._into[key]:  # they are disabled
                made.connect((gene.source, 0), key, gene.weight, enabled=False)
        return made.network(genes.inputs, genes.outputs, f"neat-python ctrnn {self._version}")

    def _value(self, key: int, k: int) -> Value:
        """The value of a node after sub-step k; values up to k = 0 are from the step before."""
        if key not in self._nodes:
            return key, 0
        if (key, k) in self._state:
            return self._state[key, k], 0
        steps, k = divmod(k - 1, len(self._lengths))
        return self._state[key, k + 1], -steps

    def _add_state(self, key: int, k: int) -> None:
        kept, rate = self._rates(key, self._lengths[k - 1])
        drive = self._add_genes(self._name(key, "drive", k), self._nodes[key])
        for gene in self._into[key]:
            if gene.enabled or k == len(self._lengths):
                source = self._value(gene.source, k - 1)
                self._made.connect(source, drive, gene.weight, enabled=gene.enabled)
        reads = [(self._value(key, k - self._lag), kept), ((drive, 0), rate)]
        state = self._state[key, k]
        self._made.neuron(state, "" if state == key else self._name(key, "state", k), reads)

    def _add_genes(self, name: str, node: NodeGene) -> int:
        """Add a neuron with the genes of a node; returns its id."""
        return self._made.helper(
            name,
            [],
            activation=name_in_network(node.activation, "activation", f"{node.where}.activation"),
            aggregation=name_in_network(
                node.aggregation, "aggregation", f"{node.where}.aggregation"
            ),
            bias=node.bias,
            response=node.response,
        )

    def _add_buffers(self, key: int, swaps: int, stays: int) -> None:
        """The states that the first sub-step reads, where they may have changed places."""
        last, before = (self._value(key, len(self._lengths) - k) for k in (0, 1))
        for k, (usual, swapped) in ((0, (last, before)), (-1, (before, last))):
            buffer = self._made.neuron(self._state[key, k], f"node {key} buffer {1 + k}", [])
            for (source, _), gater in ((usual, stays), (swapped, swaps)):
                self._made.connect((source, 1), buffer, 1.0, gater=gater, gate_delay=1)

    def _add_returned(self, key: int) -> None:
        """The value of a node that `advance` returns: the state before the last one."""
        last, late = (self._value(key, len(self._lengths) - k) for k in (0, self._late))
        if self._swap is None:
            self._made.neuron(key, "", [(late, 1.0)])
            return
        self._made.neuron(key, "", [])
        for value, gater in zip((last, late), self._swap, strict=True):
            self._made.connect(value, key, 1.0, gater=gater)

    def _rates(self, key: int, length: float) -> tuple[float, float]:
        """The weights of the state before and of the drive, in a sub-step of this length."""
        node = self._nodes[key]
        constant = node.numbers["time_constant"]
        ratio = length / constant if constant else math.nan
        if self._version == "2.1.0" and ratio > -700.0:
            return math.exp(-ratio), -math.expm1(-ratio)
        if self._version == "2.0.0" and math.isfinite(ratio):
            return 1.0 - ratio, ratio
        raise NetworkError(
            f"time_constant {constant:g} of node {key} is too small",
            where=f"{node.where}.time_constant",
        )

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", sub-step {k}" if len(self._lengths) > 1 else "")
