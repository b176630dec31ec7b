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

from neat_onnx.errors import OptionError
from neat_onnx.libraries.genome_graph import NetworkBuilder, Value
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.times import Times, sub_steps
from neat_onnx.network.network import Network

name = "neat-python iznn"

_THRESHOLD = 30.0


def iznn_network(genes: Genes, times: Times) -> Network:
    """Return the network, one step of which is `net.advance(time_step)` until it is over."""
    genes.missing(strict=True)
    step, advance = times.of(name)
    advances = len(sub_steps(step, advance))
    if not math.isclose(advance, advances * step, rel_tol=1e-12):
        raise OptionError(
            f"advance_time {advance:g} is no whole number of time steps of {step:g}",
            where="advance_time",
            hint="An iznn network advances by whole time steps",
        )
    compiler = _Compiler(genes, step, advances)
    for k in range(1, advances + 1):
        for node in genes.nodes:
            compiler.add(node, k)
    return compiler.made.network(genes.inputs, genes.outputs, name)


class _Compiler:
    """Makes, for each advance by dt within a step, the plain neurons of every spiking one."""

    def __init__(self, genes: Genes, dt: float, advances: int) -> None:
        self._dt, self._advances = dt, advances
        self._into: dict[int, list[ConnectionGene]] = defaultdict(list)
        for gene in genes.connections:
            self._into[gene.target].append(gene)
        keys = [node.key for node in genes.nodes]
        self.made = NetworkBuilder([*genes.inputs, *keys])
        self._ids = {
            (key, what, k): key if (what, k) == ("fired", advances) else self.made.fresh_id()
            for k in range(1, advances + 1)
            for key in keys
            for what in ("fired", "potential", "recovery")
        }

    def _value(self, key: int, what: str, k: int) -> Value:
        """The value after advance k; that of k = 0 is the last one of the step before."""
        if (key, what, 1) not in self._ids:
            return key, 0
        return (self._ids[key, what, k], 0) if k else (self._ids[key, what, self._advances], 1)

    def add(self, node: NodeGene, k: int) -> None:
        """Add one advance of one neuron."""
        key, half = node.key, self._dt / 2.0
        a, b, c, d = (node.numbers[name] for name in "abcd")
        current = self._helper(key, "current", k, [], bias=node.bias)
        for gene in self._into[key]:
            if gene.enabled or k == self._advances:
                source = self._value(gene.source, "fired", k - 1)
                self.made.connect(source, current[0], gene.weight, enabled=gene.enabled)
        recovery, v = (self._value(key, what, k - 1) for what in ("recovery", "potential"))
        for part in ("first", "second"):
            square = self._helper(key, f"{part} square", k, [(v, 1.0)], activation="square")
            reads = [(square, 0.04 * half), (v, 1.0 + 5.0 * half), (recovery, -half)]
            v = self._helper(
                key, f"{part} half step", k, [*reads, (current, half)], bias=140.0 * half
            )
        spike = self._value(key, "fired", k)
        quiet = self._helper(key, "quiet", k, [(spike, -1.0)], bias=1.0)
        self._neuron(key, "fired", k, [(v, 1.0)], activation="step", bias=-_THRESHOLD)
        self._neuron(key, "potential", k, [(spike, c)], initial=c)
        self.made.connect(v, self._ids[key, "potential", k], 1.0, gater=quiet[0])
        decay = self._dt * a
        reads = [(recovery, 1.0 - decay), (v, decay * b), (spike, d)]
        self._neuron(key, "recovery", k, reads, initial=b * c)

    def _neuron(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> None:
        own = self._ids[key, what, k]
        self.made.neuron(own, "" if own == key else self._name(key, what, k), reads, **gene)

    def _helper(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> Value:
        return self.made.helper(self._name(key, what, k), reads, **gene), 0

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", advance {k}" if self._advances > 1 else "")
