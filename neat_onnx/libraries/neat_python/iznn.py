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
from collections.abc import Mapping
from typing import Any

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.genome_graph import Genes, Value
from neat_onnx.libraries.neat_python.documents import Connection, Document, Node, parse_document
from neat_onnx.libraries.neat_python.times import Times, sub_steps
from neat_onnx.network.network import Network

name = "neat-python iznn"

_THRESHOLD = 30.0


class _Node(Node):
    a: float
    b: float
    c: float
    d: float


class _Document(Document):
    nodes: list[_Node]


def read(document: Mapping[str, Any], times: Times) -> Network:
    """The network, one step of which is `net.advance(time_step)` until advance_time is over."""
    parsed = parse_document(_Document, document)
    _check_ends(parsed)
    step, advance = times.of(name)
    lengths = sub_steps(step, advance)
    if not math.isclose(advance, len(lengths) * step, rel_tol=1e-12):
        raise OptionError(
            f"advance_time {advance:g} is no whole number of time steps of {step:g}",
            where="advance_time",
            hint="An iznn network advances by whole time steps",
        )
    return _Compiler(parsed, step, len(lengths)).network()


def _check_ends(document: _Document) -> None:
    """Raise NetworkError for a connection or an output without its node."""
    nodes = {node.id for node in document.nodes if node.type != "input"}
    inputs = set(document.topology.input_keys)
    for index, gene in enumerate(document.connections):
        where = f"connections[{index}]"
        if gene.source not in nodes | inputs:
            raise NetworkError(f"no node {gene.source}", where=f"{where}.from")
        if gene.target in inputs:
            raise NetworkError(f"it ends in node {gene.target}, an input", where=f"{where}.to")
        if gene.target not in nodes:
            raise NetworkError(f"no node {gene.target}", where=f"{where}.to")
    for index, key in enumerate(document.topology.output_keys):
        if key not in nodes:
            raise NetworkError(f"no node {key}", where=f"topology.output_keys[{index}]")


class _Compiler:
    """Makes, for each advance within a step, the plain neurons of every spiking one.

    Args:
        document: the network.
        dt: time that one advance takes.
        advances: how many of them there are in one step.
    """

    def __init__(self, document: _Document, dt: float, advances: int) -> None:
        self._document, self._dt, self._advances = document, dt, advances
        self._nodes = {node.id: node for node in document.nodes if node.type != "input"}
        self._into: dict[int, list[Connection]] = defaultdict(list)
        for gene in document.connections:
            self._into[gene.target].append(gene)
        self._genes = Genes([*document.topology.input_keys, *self._nodes])
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
        topology = self._document.topology
        return self._genes.network(topology.input_keys, topology.output_keys, name)

    def _id(self, key: int, what: str, k: int) -> int:
        own = what == "fired" and k == self._advances
        return key if own else self._genes.fresh_id()

    def _value(self, key: int, what: str, k: int) -> Value:
        """The value after advance k; that of k = 0 is the last one of the step before."""
        if key not in self._nodes:
            return key, 0
        return (self._ids[key, what, k], 0) if k else (self._ids[key, what, self._advances], 1)

    def _add(self, node: _Node, key: int, k: int) -> None:
        """One advance of one neuron."""
        half = self._dt / 2.0
        current = self._helper(key, "current", k, [], bias=node.bias)
        for gene in self._into[key]:
            if gene.enabled or k == self._advances:
                source = self._value(gene.source, "fired", k - 1)
                self._genes.connect(source, current[0], gene.weight, enabled=gene.enabled)
        recovery = self._value(key, "recovery", k - 1)
        v = self._value(key, "potential", k - 1)
        for part in ("first", "second"):
            square = self._helper(key, f"{part} square", k, [(v, 1.0)], activation="square")
            reads = [(square, 0.04 * half), (v, 1.0 + 5.0 * half), (recovery, -half)]
            v = self._helper(
                key, f"{part} half step", k, [*reads, (current, half)], bias=140.0 * half
            )
        self._fire(node, key, k, v, recovery)

    def _fire(self, node: _Node, key: int, k: int, v: Value, recovery: Value) -> None:
        """The spike, if v is above the threshold, and the values of v and u after it."""
        spike = self._value(key, "fired", k)
        quiet = self._helper(key, "quiet", k, [(spike, -1.0)], bias=1.0)
        self._neuron(key, "fired", k, [(v, 1.0)], activation="step", bias=-_THRESHOLD)
        self._neuron(key, "potential", k, [(spike, node.c)], initial=node.c)
        self._genes.connect(v, self._ids[key, "potential", k], 1.0, gater=quiet[0])
        decay = self._dt * node.a
        reads = [(recovery, 1.0 - decay), (v, decay * node.b), (spike, node.d)]
        self._neuron(key, "recovery", k, reads, initial=node.b * node.c)

    def _neuron(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> None:
        own = self._ids[key, what, k]
        self._genes.neuron(own, "" if own == key else self._name(key, what, k), reads, **gene)

    def _helper(self, key: int, what: str, k: int, reads: Any, **gene: Any) -> Value:
        return self._genes.helper(self._name(key, what, k), reads, **gene), 0

    def _name(self, key: int, what: str, k: int) -> str:
        return f"node {key} {what}" + (f", advance {k}" if self._advances > 1 else "")
