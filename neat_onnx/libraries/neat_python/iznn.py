"""neat-python's spiking networks (IZNN): `export_network_json(net)`, type iznn.

Each neuron is Izhikevich's: a potential v and a recovery u, driven by a current I, which is the
bias and the weighted spikes of the advance before or the inputs. One advance by dt is two half
steps of v with the same u, and then one step of u with the new v:

    v += dt/2 · (0.04 v² + 5 v + 140 - u + I)      (twice)
    u += dt · a · (b v - u)

Where v > 30 then, it fires: v = c and u += d. At the start v = c and u = b c.

neat-python also resets a neuron, without a spike, where v², v or u overflows; from there on, this
network is not neat-python's. Far from the usual potentials each half step about squares v, and u
carries that on after a spike: with dt = 1 a single current of 1e100 leads there in the next
advance, one of 1e20 in four, one of 1e5 in nine.
"""

import math
from collections import defaultdict
from typing import Any

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.genome_graph import NetworkBuilder, Value
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.times import Times, sub_steps
from neat_onnx.network.network import Network

name = "neat-python iznn"

_THRESHOLD = 30.0


def read(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(time_step)` until it is over."""
    _check_ends(genes)
    step, advance = times.of(name)
    lengths = sub_steps(step, advance)
    if not math.isclose(advance, len(lengths) * step, rel_tol=1e-12):
        raise OptionError(
            f"advance_time {advance:g} is no whole number of time steps of {step:g}",
            where="advance_time",
            hint="An iznn network advances by whole time steps",
        )
    return _Compiler(genes, step, len(lengths)).network()


def _check_ends(genes: Genes) -> None:
    """Refuse a connection or an output without its node."""
    nodes, inputs = {node.key for node in genes.nodes}, set(genes.inputs)
    for index, gene in enumerate(genes.connections):
        where = f"connections[{index}]"
        if gene.source not in nodes | inputs:
            raise NetworkError(f"no node {gene.source}", where=f"{where}.from")
        if gene.target in inputs:
            raise NetworkError(f"it ends in node {gene.target}, an input", where=f"{where}.to")
        if gene.target not in nodes:
            raise NetworkError(f"no node {gene.target}", where=f"{where}.to")
    for index, key in enumerate(genes.outputs):
        if key not in nodes:
            raise NetworkError(f"no node {key}", where=f"topology.output_keys[{index}]")


class _Compiler:
    """Makes, for each advance by dt within a step, the plain neurons of every spiking one."""

    def __init__(self, genes: Genes, dt: float, advances: int) -> None:
        self._genes, self._dt, self._advances = genes, dt, advances
        self._nodes = {node.key: node for node in genes.nodes}
        self._into: dict[int, list[ConnectionGene]] = defaultdict(list)
        for gene in genes.connections:
            self._into[gene.target].append(gene)
        self._made = NetworkBuilder([*genes.inputs, *self._nodes])
        self._ids = {
            (key, what, k): self._id(key, what, k)
            for k in range(1, advances + 1)
            for key in self._nodes
            for what in ("fired", "potential", "recovery")
        }

    def network(self) -> Network:
        """The network of all of them."""
        for k in range(1, self._advances + 1):
            for key, node in self._nodes.items():
                self._add(node, key, k)
        return self._made.network(self._genes.inputs, self._genes.outputs, name)

    def _id(self, key: int, what: str, k: int) -> int:
        own = what == "fired" and k == self._advances
        return key if own else self._made.fresh_id()

    def _value(self, key: int, what: str, k: int) -> Value:
        """The value after advance k; that of k = 0 is the last one of the step before."""
        if key not in self._nodes:
            return key, 0
        return (self._ids[key, what, k], 0) if k else (self._ids[key, what, self._advances], 1)

    def _add(self, node: NodeGene, key: int, k: int) -> None:
        """One advance of one neuron."""
        half = self._dt / 2.0
        current = self._helper(key, "current", k, [], bias=node.bias)
        for gene in self._into[key]:
            if gene.enabled or k == self._advances:
                source = self._value(gene.source, "fired", k - 1)
                self._made.connect(source, current[0], gene.weight, enabled=gene.enabled)
        recovery = self._value(key, "recovery", k - 1)
        v = self._value(key, "potential", k - 1)
        for part in ("first", "second"):
            square = self._helper(key, f"{part} square", k, [(v, 1.0)], activation="square")
            reads = [(square, 0.04 * half), (v, 1.0 + 5.0 * half), (recovery, -half)]
            v = self._helper(
                key, f"{part} half step", k, [*reads, (current, half)], bias=140.0 * half
            )
        self._fire(node, key, k, v, recovery)

    def _fire(self, node: NodeGene, key: int, k: int, v: Value, recovery: Value) -> None:
        """The spike, if v is above the threshold, and the values of v and u after it."""
        a, b, c, d = (node.numbers[name] for name in "abcd")
        spike = self._value(key, "fired", k)
        quiet = self._helper(key, "quiet", k, [(spike, -1.0)], bias=1.0)
        self._neuron(key, "fired", k, [(v, 1.0)], activation="step", bias=-_THRESHOLD)
        self._neuron(key, "potential", k, [(spike, c)], initial=c)
        self._made.connect(v, self._ids[key, "potential", k], 1.0, gater=quiet[0])
        decay = self._dt * a
        reads = [(recovery, 1.0 - decay), (v, decay * b), (spike, d)]
        self._neuron(key, "recovery", k, reads, initial=b * c)

    def _neuron(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> None:
        own = self._ids[key, what, k]
        self._made.neuron(own, "" if own == key else self._name(key, what, k), reads, **gene)

    def _helper(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> Value:
        return self._made.helper(self._name(key, what, k), reads, **gene), 0

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", advance {k}" if self._advances > 1 else "")
