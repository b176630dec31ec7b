"""A network as the genes of neat-python: nodes, connections, and the kind of network they make.

The genes of a feed-forward network read within the step; the genes of a recurrent one read every
node as it was one step before, and only the inputs at once. A network that mixes both is neither.

The readers of ctrnn and iznn make several neurons of every node, and name them after it. The names
are a hint: the genes that they lead to are read again, and have to give the very network.
"""

import math
import re
import warnings
from dataclasses import replace

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.libraries.genome_graph import Edge
from neat_onnx.libraries.limits import Reasons, firsts
from neat_onnx.libraries.neat_python.functions import Function, aggregation_called, called
from neat_onnx.libraries.neat_python.genes import Genes, NodeGene
from neat_onnx.libraries.neat_python.sources import network_of
from neat_onnx.libraries.neat_python.static import held_genes
from neat_onnx.libraries.neat_python.unrolled import Times
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network

_NAME = re.compile(r"node (-?\d+) ([a-z ]+?)(?: \d)?(?:, (?:sub-step|advance) (\d+))?")
_DIGITS = ((17, 1e-14), (7, 1e-6))
"""Significant digits of numbers of float64, and of a model of float32; and their tolerance."""
_NUMBERS = ("bias", "response", "initial")
_NO_GENES = (KeyError, ValueError, ZeroDivisionError, OverflowError, IndexError)


def genes_of(net: Network, time_step: float | None = None) -> Genes:
    """Return the genes of a network of any kind."""
    genes = _timed_genes(net, time_step)
    if genes is None:
        return _static_genes(net)
    times = genes.time_step, genes.advance_time
    call = "advance(inputs, {1!r}, {0!r})" if genes.kind == "ctrnn" else "advance({0!r})"
    told = f"written as {genes.kind} of neat-python {genes.version}, a step of which is "
    warn(told + call.format(*times))
    return genes


def _static_genes(net: Network) -> Genes:
    """Return the genes of a network, or refuse it with every reason and its neurons."""
    held = held_genes(net) if net.has_memory else {}
    computing = [j for j in np.flatnonzero(~net.is_input).tolist() if j not in held.values()]
    _refuse(net, [j for j in computing if j not in held])
    keys = _keys(net)
    genes = Genes(
        "recurrent" if net.has_memory else "feedforward",
        [keys[j] for j in net.input_neurons.tolist()],
        list(range(len(net.output_neurons))),
        [node_gene(net, held.get(j, j), keys[j]) for j in computing],
        silent={keys[j] for j in held},
    )
    _add_connections(net, genes, keys, {*held.values()})
    _tell(net, genes)
    return genes


def _refuse(net: Network, computing: list[int]) -> None:
    live, computes = net.live, ~net.is_input
    of_input, now = net.is_input[live.source], live.delay == 0
    reasons, hint = Reasons(net, "neat-python"), None
    reasons.connections("a gate", live.gater != NONE)
    reasons.connections("a connection that reads a state", live.reads_state)
    reasons.connections("a delayed input", of_input & ~now)
    reasons.connections("a connection into an input", net.is_input[live.target])
    reasons.connections("a delay of more than 1", live.delay > 1)
    again = ~firsts(live.source, live.target)
    reasons.connections("a second connection between two nodes", again)
    reasons.neurons("an initial value", net.neurons.initial != 0.0)
    places = np.bincount(net.output_neurons, minlength=len(net))
    reasons.neurons("an input as an output", net.is_input & (places > 0))
    reasons.neurons("one neuron as two outputs", places > 1)
    if net.has_memory:
        mixed = "neurons that read others at once beside delayed ones"
        reasons.connections(mixed, now & ~of_input)
        fed = {*live.target.tolist()}
        constant = [j for j in computing if j not in fed and _constant(net, j) != 0.0]
        what = "a neuron that nothing leads to and that is not 0"  # it is 0 there
        reasons.neurons(what, np.isin(np.arange(len(net)), constant))
        hint = "Connect an input to it, with the weight 0" if constant else None
    for name in net.activations:
        if called(name) is None:
            reasons.neurons(f"the activation {name}", computes & (net.activation_names == name))
    for name in net.aggregations:
        if aggregation_called(name) is None:
            reasons.neurons(f"the aggregation {name}", computes & (net.aggregation_names == name))
    reasons.refuse(hint)


def _constant(net: Network, neuron: int) -> float:
    """The value of a neuron that nothing leads to."""
    empty = aggregation_named(net.aggregation_names[neuron]).empty
    z = net.neurons.bias[neuron] + net.neurons.response[neuron] * empty
    return float(activation_named(net.activation_names[neuron])(np.array([z]))[0])


def _keys(net: Network) -> list[int]:
    """The key of each neuron: inputs -1, -2, …, outputs 0, 1, …, others their id or a fresh one."""
    keys: dict[int, int] = {}
    for place, neuron in enumerate(net.input_neurons.tolist()):
        keys[neuron] = -1 - place
    for place, neuron in enumerate(net.output_neurons.tolist()):
        keys[neuron] = place
    outputs, ids = len(net.output_neurons), net.neurons.id.tolist()
    fresh = max([outputs - 1, *(own for j, own in enumerate(ids) if j not in keys)]) + 1
    for neuron, own in enumerate(ids):
        if neuron not in keys:
            keys[neuron] = own if own >= outputs else fresh
            fresh += own < outputs
    changed = sum(keys[neuron] != own for neuron, own in enumerate(ids))
    if changed:
        warn(f"neat-python numbers inputs -1, -2, … and outputs 0, 1, …: {changed} ids change")
    return [keys[neuron] for neuron in range(len(net))]


def node_gene(net: Network, neuron: int, key: int) -> NodeGene:
    """Return the gene of a neuron, its activation's slope divided out of bias and response."""
    own, how = net.neurons, called(net.activation_names[neuron])
    aggregates = aggregation_called(net.aggregation_names[neuron])
    if how is None or aggregates is None:
        raise ValueError(neuron)  # where `_refuse` has not looked
    bias = float(own.bias[neuron]) / how.slope + how.shift
    response = float(own.response[neuron]) / how.slope
    return NodeGene(key, {"bias": bias, "response": response}, how.function, aggregates)


def _add_connections(net: Network, genes: Genes, keys: list[int], without: set[int]) -> None:
    """Add the connections, but for disabled ones that neat-python has no place for."""
    own, live = net.connections, net.live
    taken = set(zip(live.source.tolist(), live.target.tolist(), strict=True))
    ends = zip(own.source.tolist(), own.target.tolist(), strict=True)
    dropped = 0
    for (source, target), weight, enabled in zip(
        ends, own.weight.tolist(), own.enabled.tolist(), strict=True
    ):
        if source in without:
            continue
        if not enabled and ((source, target) in taken or net.is_input[target]):
            dropped += 1
            continue
        taken.add((source, target))
        genes.connections.append(Edge(keys[source], keys[target], weight, enabled))
    if dropped:
        warn(f"{dropped} disabled connections that neat-python has no place for are left out")


def _tell(net: Network, genes: Genes) -> None:
    """Warn of rounding, and of functions that the user has to add."""
    hows = {name: called(name) for name in net.activation_names[~net.is_input].tolist()}
    scaled = sorted(name for name, how in hows.items() if how and how.slope != 1.0)
    if scaled:
        warn(
            f"neat-python's slopes are divided out of bias and response of {', '.join(scaled)}: "
            "the last bit may differ"
        )
    used = {function for node in genes.nodes for function in (node.activation, node.aggregation)}
    custom = sorted(function.name for function in used if function.custom)
    if custom:
        warn(f"add these functions to neat-python's configuration: {', '.join(custom)}")


def _timed_genes(net: Network, time_step: float | None) -> Genes | None:
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
        with warnings.catch_warnings(action="ignore", category=NeatOnnxWarning):
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
                    gene = Edge(self._key[source], key, weight, bool(own.enabled[at]))
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
