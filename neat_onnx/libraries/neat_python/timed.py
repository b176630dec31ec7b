"""Networks of continuous time and of spikes, back as the genes that they were read from.

The readers of ctrnn and iznn make several neurons of every node, and name them after it. The names
are a hint: the genes that they lead to are read again, and have to give the very network.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.libraries.neat_python.draft import node_gene
from neat_onnx.libraries.neat_python.functions import Function, aggregation_called, called
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.sources import network_of
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.network.network import Network

_NAME = re.compile(r"node (-?\d+) ([a-z ]+?)(?: \d)?(?:, (?:sub-step|advance) (\d+))?")
_ROUNDING, _ROUNDING_OF_FLOAT32 = 1e-14, 1e-6
_NUMBERS = ("bias", "response", "initial")
_NO_GENES = (KeyError, ValueError, ZeroDivisionError, OverflowError)


class _Part(NamedTuple):
    """One of the neurons that a reader makes of a node."""

    key: int
    what: str
    copy: int


def timed_genes(net: Network, time_step: float | None) -> Genes | None:
    """Return the genes of a network that was read from a ctrnn or an iznn; None for any other.

    The neurons of a ctrnn do not tell its time step; it is 1 if the caller does not.
    """
    for rounding in (_ROUNDING, _ROUNDING_OF_FLOAT32):  # it may come from a model of float32
        parts = _Parts(net, rounding)
        for made in parts.candidates(1.0 if time_step is None else time_step):
            exact = made.advance_time
            for advance_time in (exact, float(f"{exact:.12g}")):  # 0.3 is not 3 · 0.1
                found = replace(made, advance_time=advance_time)
                if _gives(found, net, rounding):
                    return found
    return None


def _gives(genes: Genes, net: Network, rounding: float) -> bool:
    """Whether genes that are read again are the network, to a rounding of its numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeatOnnxWarning)
            times = Times(genes.time_step, genes.advance_time)
            back = network_of(genes, times)
    except NeatOnnxError:
        return False
    if len(back) != len(net) or len(back.connections) != len(net.connections):
        return False
    numbers = [(getattr(back.neurons, name), getattr(net.neurons, name)) for name in _NUMBERS]
    numbers.append((back.connections.weight, net.connections.weight))
    if not all(np.allclose(one, other, rounding, rounding) for one, other in numbers):
        return False
    exact = {name: getattr(net.neurons, name) for name in _NUMBERS}
    neurons = replace(back.neurons, **exact)
    connections = replace(back.connections, weight=net.connections.weight)
    return replace(back, neurons=neurons, connections=connections) == net


class _Parts:
    """The neurons of a network by the nodes that they are parts of."""

    def __init__(self, net: Network, rounding: float) -> None:
        self.net, self._rounding = net, rounding
        self.at: dict[_Part, int] = {}
        self.node: dict[int, int] = {}
        for position, name in enumerate(net.neuron_names):
            found = _NAME.fullmatch(name)
            if found:
                part = _Part(int(found[1]), found[2], int(found[3] or 1))
                self.at[part] = position
                self.node[position] = part.key
        self.own = {key: at for at, key in enumerate(net.neurons.id.tolist())}
        genes = net.connections
        ends = zip(genes.source.tolist(), genes.target.tolist(), strict=True)
        self.weights = dict(zip(ends, genes.weight.tolist(), strict=True))

    def candidates(self, time_step: float) -> Iterator[Genes]:
        """Yield the genes that the names lead to."""
        makers: list[Callable[[], Genes]] = []
        if any(part.what in ("drive", "genes") for part in self.at):
            makers = [
                lambda: self._ctrnn(time_step, "2.0.0", self._rate),
                lambda: self._ctrnn(time_step, "2.1.0", self._exponent),
            ]
            if self.net.library.endswith("2.1.0"):  # which does not tell where all nodes stay 0
                makers.reverse()
        elif any(part.what == "current" for part in self.at):
            makers = [self._iznn]
        for make in makers:
            try:
                yield make()
            except _NO_GENES:
                continue

    def _tidy(self, number: float) -> float:
        """A number that was computed of rounded ones: of float32, as its digits that are known."""
        return float(f"{number:.7g}") if self._rounding > _ROUNDING else number

    def _keys(self, what: str) -> tuple[list[int], int]:
        """The nodes that have such a part, in order, and how many copies each one has."""
        copies = max((part.copy for part in self.at if part.what == what), default=1)
        return [part.key for part in self.at if part[1:] == (what, copies)], copies

    def _place(self, key: int, what: str, copy: int) -> int:
        part = _Part(key, what, copy)
        return self.at[part] if part in self.at else self.own[key]

    def _weight(self, key: int, one: str, other: str, copy: int) -> float:
        return float(self.weights[self._place(key, one, copy), self._place(key, other, copy)])

    def _rate(self, key: int, copy: int, _: int) -> float:
        return self._weight(key, "drive", "state", copy)

    def _exponent(self, key: int, copy: int, copies: int) -> float:
        """The exponent of a rate 1 - exp(-x), of the one of both that has the more digits of it."""
        rate = self._weight(key, "drive", "state", copy)
        if rate < 0.5:
            return -math.log1p(-rate)
        before = self._place(key, "state", copy - 1 or copies)
        kept = self.weights[before, self._place(key, "state", copy)]
        return -math.log(max(kept, 5e-324))  # 0 where float32 has no such small number

    def _ctrnn(self, step: float, version: str, share: Callable[[int, int, int], float]) -> Genes:
        """The genes of a ctrnn; `share` is the part of the time constant that a sub-step takes."""
        keys, copies = self._keys("drive")
        made = self._begun("ctrnn", step, version)
        shares = {key: [share(key, copy, copies) for copy in (1, copies)] for key in keys}
        first, last = shares[keys[0]] if keys else (1.0, 1.0)
        ratio = last / first
        whole = round(ratio)
        is_whole = abs(ratio - whole) < max(1e-9, 10.0 * self._rounding)
        made.advance_time = step * (copies - 1 + (whole if is_whole else self._tidy(ratio)))
        for key in keys:
            drive = self._place(key, "drive", copies)
            constant = self._tidy(step / shares[key][0])
            made.nodes.append(self._continuous(key, drive, constant))
            self._add_genes(made, drive, key)
        self._add_silent(made, keys)
        return made

    def _continuous(self, key: int, drive: int, constant: float) -> NodeGene:
        if called(self.net.activation_names[drive]) is None:
            raise ValueError(key)
        if aggregation_called(self.net.aggregation_names[drive]) is None:
            raise ValueError(key)
        gene = node_gene(self.net, drive, key)
        return gene._replace(numbers={"time_constant": float(constant)})

    def _iznn(self) -> Genes:
        keys, copies = self._keys("current")
        half = self._weight(keys[0], "current", "first half step", 1)
        made = self._begun("iznn", self._tidy(2.0 * half), "2.0.0")
        made.advance_time = copies * made.time_step
        for key in keys:
            current = self._place(key, "current", copies)
            made.nodes.append(self._spiking(key, current, copies, made.time_step))
            self._add_genes(made, current, key)
        return made

    def _spiking(self, key: int, current: int, copies: int, step: float) -> NodeGene:
        recovery = self._place(key, "recovery", copies)
        before = self._place(key, "recovery", copies - 1 or 1)
        c = self._weight(key, "fired", "potential", copies)
        pulled = self._weight(key, "second half step", "recovery", copies)
        decay = 1.0 - self.weights[before, recovery]
        b = float(self.net.neurons.initial[recovery]) / c if c else pulled / decay
        a = (pulled / b if b else decay) / step
        d = self._weight(key, "fired", "recovery", copies)
        bias = float(self.net.neurons.bias[current])
        numbers = {"a": a, "b": b, "c": c, "d": d}
        return NodeGene(key, bias, activation=Function("izhikevich"), numbers=numbers)

    def _begun(self, kind: str, step: float, version: str) -> Genes:
        ids = self.net.neurons.id
        inputs, outputs = ids[self.net.input_neurons], ids[self.net.output_neurons]
        return Genes(kind, inputs.tolist(), outputs.tolist(), time_step=step, version=version)

    def _add_genes(self, made: Genes, neuron: int, key: int) -> None:
        """Add the connections into a neuron as genes of connections into its node."""
        genes, ids = self.net.connections, self.net.neurons.id
        for at in np.flatnonzero(genes.target == neuron).tolist():
            source = int(genes.source[at])
            begin = self.node.get(source, int(ids[source]))
            gene = ConnectionGene(begin, key, float(genes.weight[at]), bool(genes.enabled[at]))
            made.connections.append(gene)

    def _add_silent(self, made: Genes, keys: list[int]) -> None:
        """Add the nodes that stay 0, and the disabled connections into them."""
        holders, _ = self._keys("genes")
        for key in holders:
            holder = self._place(key, "genes", 1)
            constant = made.time_step * self.weights[holder, self.own[key]]
            made.silent.append(self._continuous(key, holder, constant))
            self._add_genes(made, holder, key)
        known = {*keys, *holders, *made.inputs}
        for key, neuron in self.own.items():
            if key not in known and neuron not in self.node and not self.net.neuron_names[neuron]:
                self._add_genes(made, neuron, key)
