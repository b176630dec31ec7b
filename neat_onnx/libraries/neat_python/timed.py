"""Networks of continuous time and of spikes, back as the genes that they were read from.

The readers of ctrnn and iznn make several neurons of every node, and name them after it. The names
are a hint: the genes that they lead to are read again, and have to give the very network.
"""

import math
import re
import warnings
from dataclasses import replace

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.libraries.neat_python.draft import node_gene
from neat_onnx.libraries.neat_python.functions import Function
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.sources import network_of
from neat_onnx.libraries.neat_python.static import held_genes
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.network.network import Network

_NAME = re.compile(r"node (-?\d+) ([a-z ]+?)(?: \d)?(?:, (?:sub-step|advance) (\d+))?")
_DIGITS = ((17, 1e-14), (7, 1e-6))
"""Significant digits of numbers of float64, and of a model of float32; and their tolerance."""
_NUMBERS = ("bias", "response", "initial")
_NO_GENES = (KeyError, ValueError, ZeroDivisionError, OverflowError, IndexError)


def timed_genes(net: Network, time_step: float | None) -> Genes | None:
    """Return the genes of a network that was read from a ctrnn or an iznn; None for any other.

    The neurons of a ctrnn do not tell its time step; it is 1 if the caller does not.
    """
    parts = _Parts(net, 1.0 if time_step is None else time_step)
    for digits, rounding in _DIGITS:
        try:
            made = parts.genes(digits, rounding)
        except _NO_GENES:
            return None
        exact = made.advance_time
        for advance_time in (exact, float(f"{exact:.12g}")):  # 0.3 is not 3 · 0.1
            made.advance_time = advance_time
            if _gives(made, net, rounding):
                return made
    return None


def _gives(genes: Genes, net: Network, rounding: float) -> bool:
    """Whether genes that are read again are the network, to a rounding of its numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeatOnnxWarning)
            back = network_of(genes, Times(genes.time_step, genes.advance_time))
    except NeatOnnxError:
        return False
    if len(back) != len(net) or len(back.connections) != len(net.connections):
        return False
    numbers = [(getattr(back.neurons, name), getattr(net.neurons, name)) for name in _NUMBERS]
    numbers.append((back.connections.weight, net.connections.weight))
    if not all(np.allclose(one, other, rounding, rounding) for one, other in numbers):
        return False
    neurons = replace(back.neurons, **{name: getattr(net.neurons, name) for name in _NUMBERS})
    connections = replace(back.connections, weight=net.connections.weight)
    return replace(back, neurons=neurons, connections=connections) == net


class _Parts:
    """The neurons of a network by the nodes that they are parts of.

    A part is named by the key of its node, what it is, and the number of the sub-step or advance.
    """

    def __init__(self, net: Network, step: float) -> None:
        self._net, self._step = net, step
        self._at: dict[tuple[int, str, int], int] = {}
        self._key = dict(enumerate(net.neurons.id.tolist()))
        self._own = {key: at for at, key in self._key.items()}
        for position, name in enumerate(net.neuron_names):
            if found := _NAME.fullmatch(name):
                self._key[position] = int(found[1])
                self._at[int(found[1]), found[2], int(found[3] or 1)] = position
        own = net.connections
        ends = zip(own.source.tolist(), own.target.tolist(), strict=True)
        self._weights: dict[tuple[int, int], float] = dict(
            zip(ends, own.weight.tolist(), strict=True)
        )

    def genes(self, digits: int, rounding: float) -> Genes:
        """Return the genes that the names lead to, with numbers of so many significant digits."""
        net, held = self._net, held_genes(self._net)
        ids, step = net.neurons.id, self._step
        is_spiking = any(what == "current" for _, what, _ in self._at)
        genes_at = "current" if is_spiking else "drive"
        copies = max((copy for _, what, copy in self._at if what == genes_at), default=1)
        keys = [key for key, what, copy in self._at if (what, copy) == (genes_at, copies)]
        if not keys and not any(self._weights[at, own] for own, at in held.items()):
            raise KeyError(genes_at)

        def tidy(number: float) -> float:
            return float(f"{number:.{digits}g}")

        made = Genes(
            "iznn" if is_spiking else "ctrnn",
            ids[net.input_neurons].tolist(),
            ids[net.output_neurons].tolist(),
            version="2.1.0" if net.library.endswith("2.1.0") else "2.0.0",
        )
        targets = {self._at[key, genes_at, copies]: key for key in keys}
        if is_spiking:
            step = tidy(2.0 * self._weight(keys[0], "current", "first half step", 1))
            made.advance_time = copies * step
            made.nodes = [self._spiking(key, at, copies, step) for at, key in targets.items()]
        else:
            shares = [self._share(key, 1, copies, made.version) for key in keys]
            last = self._share(keys[0], copies, copies, made.version) if keys else 1.0
            ratio = last / shares[0] if keys else 1.0
            is_whole = abs(ratio - round(ratio)) < max(1e-9, 10.0 * rounding)
            made.advance_time = step * (copies - 1 + (round(ratio) if is_whole else tidy(ratio)))
            constants = {at: tidy(step / one) for at, one in zip(targets, shares, strict=True)}
            constants |= {at: tidy(step * self._weights[at, own]) for own, at in held.items()}
            named = targets | {at: self._key[own] for own, at in held.items()}
            for at, constant in constants.items():
                gene = node_gene(net, at, named[at])
                numbers = {**gene.numbers, "time_constant": constant}
                made.nodes.append(gene._replace(numbers=numbers))
            made.silent = {self._key[own] for own in held}
        made.time_step = step
        rest = {at: key for key, at in self._own.items() if not net.neuron_names[at]}
        rest = {at: key for at, key in rest.items() if key not in keys}
        self._add_connections(made, targets | rest, set(held.values()))
        return made

    def _add_connections(self, made: Genes, targets: dict[int, int], without: set[int]) -> None:
        """Add the connections into neurons as genes of connections into their nodes."""
        own = self._net.connections
        for neuron, key in targets.items():
            for at in np.flatnonzero(own.target == neuron).tolist():
                source, weight = int(own.source[at]), float(own.weight[at])
                if source not in without:
                    gene = ConnectionGene(self._key[source], key, weight, bool(own.enabled[at]))
                    made.connections.append(gene)

    def _place(self, key: int, what: str, copy: int) -> int:
        return self._at[key, what, copy] if (key, what, copy) in self._at else self._own[key]

    def _weight(self, key: int, one: str, other: str, copy: int) -> float:
        return self._weights[self._place(key, one, copy), self._place(key, other, copy)]

    def _share(self, key: int, copy: int, copies: int, version: str | None) -> float:
        """The part of the time constant that a sub-step takes.

        In 2.1.0 the weights are 1 - exp(-share) and exp(-share), of which one has more digits.
        """
        rate = self._weight(key, "drive", "state", copy)
        if version == "2.0.0":
            return rate
        if rate < 0.5:
            return -math.log1p(-rate)
        before = self._place(key, "state", copy - 1 or copies)
        kept = self._weights[before, self._place(key, "state", copy)]
        return -math.log(max(kept, 5e-324))  # 0 where float32 has no such small number

    def _spiking(self, key: int, current: int, copies: int, step: float) -> NodeGene:
        recovery = self._place(key, "recovery", copies)
        before = self._place(key, "recovery", copies - 1 or 1)
        c = self._weight(key, "fired", "potential", copies)
        pulled = self._weight(key, "second half step", "recovery", copies)
        decay = 1.0 - self._weights[before, recovery]
        b = float(self._net.neurons.initial[recovery]) / c if c else pulled / decay
        a = (pulled / b if b else decay) / step
        d = self._weight(key, "fired", "recovery", copies)
        numbers = {"bias": float(self._net.neurons.bias[current]), "a": a, "b": b, "c": c, "d": d}
        return NodeGene(key, numbers, Function("izhikevich"))
