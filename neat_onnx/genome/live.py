"""The live genes of a network: those that its outputs depend on, in one form for equal functions.

Export computes them from the genome, import from the graph, and both get the same:

- a disabled connection, one that multiplies by 0 into a sum, and a neuron on which no output
  depends are no live genes;
- parallel connections into a sum are one, of the sum of their weights;
- a mean is a sum of weights divided by their number, and any aggregation of one input is a sum;
- the response of a sum, and the slope of an activation f(c · z), are factors of its weights;
- neurons that only the graph has, as for a product that several connections share, are replaced by
  what they read.

Which neuron reads which, by which functions, is the structure; the rest are the numbers. Each has a
checksum, which docs/genome-format.md defines.
"""

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from neat_onnx.genome.formulas import IDENTITY, form_of
from neat_onnx.model import DataType
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct, marked, stable_order
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Edges, contributing

_CLOSE = {DataType.FLOAT: 1e-6, DataType.DOUBLE: 1e-13}  # a few roundings


def rounded(values: Floats, data_type: DataType) -> Floats:
    """The numbers that a graph of this type has for these."""
    if data_type is not DataType.FLOAT:
        return values
    return values.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Connections:
    """Connections as columns (m,), with the first of the network's that each stands for."""

    edge: Ints
    source: Ints
    target: Ints
    gater: Ints
    delay: Ints
    gate_delay: Ints
    reads_state: Bools
    weight: Floats
    gain: Floats

    def take(self, which: Any) -> "_Connections":
        if which.dtype == np.bool_ and which.all():
            return self  # as of most networks: a copy of a million takes a while
        return _Connections(*(column[which] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class _Functions:
    """What each neuron of a network computes: f(slope · z + shift), z = bias + response · sum.

    Attributes:
        sums: whether the aggregation is a sum, whose weights response and slope are factors of.
        bias, response, slope, shift: numbers, (n,).
        texts: of f, (n,).
        moved: whether the activation is a formula without a name whose slope is not 1 or shift not
            0, (n,).
        by_state: whether only the state of the neuron is read, so that no graph has its activation,
            which is the identity here, (n,).
    """

    sums: Bools
    bias: Floats
    response: Floats
    slope: Floats
    shift: Floats
    texts: list[str]
    moved: Bools
    by_state: Bools

    @classmethod
    def of(
        cls, net: Network, genes: _Connections, data_type: DataType, known: DataType
    ) -> "_Functions":
        """Read the functions of a network, its numbers rounded to the type `known`."""
        neurons, names, fan_in = net.neurons, net.aggregation_names, net.fan_in
        builtin = np.array([aggregation_named(name).builtin for name in net.aggregations], np.bool_)
        means, few = names == "mean", (fan_in <= 1) & builtin[neurons.aggregation]
        sums = (names == "sum") | means | few
        bias, response = rounded(neurons.bias, known), rounded(neurons.response, known)
        response = np.where(means, response * (1.0 / np.maximum(fan_in, 1)), response)
        of_none = (names == "product") & (fan_in == 0)
        bias = np.where(of_none, rounded(neurons.bias + neurons.response, known), bias)
        forms = [form_of(name, data_type) for name in net.activations]
        codes = neurons.activation
        slope, shift = (np.array([each[k] for each in forms], np.float64)[codes] for k in (0, 1))
        texts = [forms[code].formula for code in codes.tolist()]
        by_state = np.zeros(len(net), np.bool_)
        if genes.reads_state.any():
            adds = genes.take((genes.weight != 0.0) | ~sums[genes.target])
            adds = adds.take(_needed(net, adds)[adds.target])
            others = adds.source[~adds.reads_state], adds.gater[adds.gater != NONE]
            by_state = marked(len(net), adds.source[adds.reads_state])
            by_state &= ~marked(len(net), *others, net.output_neurons)
            for neuron in distinct(adds.source[adds.reads_state]).tolist():
                if by_state[neuron] or texts[neuron] == IDENTITY or shift[neuron] != 0.0:
                    slope[neuron], shift[neuron] = 1.0, 0.0
                    texts[neuron] = IDENTITY if by_state[neuron] else forms[codes[neuron]].whole
        unnamed = np.array([name.startswith(FORMULA) for name in net.activations], np.bool_)
        moved = unnamed[codes] & ((slope != 1.0) | (shift != 0.0))
        return cls(sums, bias, response, slope, shift, texts, moved, by_state)

    @cached_property
    def factor(self) -> Floats:
        """Response and slope in one, (n,)."""
        return self.response * self.slope

    @cached_property
    def offset(self) -> Floats:
        """What is added before f, (n,)."""
        return self.bias * self.slope + self.shift


@dataclass(frozen=True, eq=False)
class LiveGenes:
    """The live genes of a network whose neurons have places in a genome.

    Attributes:
        ports: the name and the places of each input, then of each output.
        neuron: the live neurons but inputs, by place, (n,).
        place: their places, (n,).
        functions: for each, the formula of its activation without slope, and its aggregation.
        bias, response: of each, times the slope; the response of a sum is 1.
        slope: of its activation f(slope · z + b).
        moved: whether the activation is a formula without a name, of a line.
        late: the neurons that are read with a delay, by place.
        late_place, initial: their places, and their values before the first step.
        state: the values of their states before, times the slope.
        genes: the live connections between places, by target and source; the weights into a sum
            are added, and not multiplied by anything.
        weight: the weights times the factors of their targets, (m,).
    """

    ports: list[Any]
    neuron: Ints
    place: Ints
    functions: list[tuple[str, str]]
    bias: Floats
    response: Floats
    slope: Floats
    moved: Bools
    late: Ints
    late_place: Ints
    initial: Floats
    state: Floats
    genes: _Connections
    weight: Floats

    @cached_property
    def structure(self) -> str:
        """The checksum of all but the numbers."""
        genes = self.genes
        text = json.dumps([self.ports, self.place.tolist(), self.functions])
        digest = hashlib.sha256(text.encode())
        for column in (genes.source, genes.target, genes.gater, genes.delay, genes.gate_delay):
            digest.update(column.astype("<i8").tobytes())
        digest.update(genes.reads_state.astype("u1").tobytes())
        return digest.hexdigest()

    def is_rounded(self, other: "LiveGenes", data_type: DataType) -> bool:
        """Whether another has the same structure, and numbers that differ by rounding alone."""
        if self.structure != other.structure:
            return False
        close = _CLOSE.get(data_type, 0.0)
        ours, theirs = (
            np.concatenate(
                [each.bias, each.response, each.initial, each.state, each.weight, each.genes.gain]
            )
            for each in (self, other)
        )
        return np.allclose(ours, theirs, rtol=close, atol=0.0)


@np.errstate(all="ignore")
def live_genes(
    net: Network, place: Ints, data_type: DataType, *, rounds: bool = False
) -> LiveGenes:
    """The live genes of a network.

    Args:
        net: the network.
        place: the place in the genome of each neuron, NONE for those that only a graph has, (n,).
        data_type: the type of the graph's numbers.
        rounds: round the genes to it first, as export does before it multiplies them.

    Raises:
        LookupError: a live neuron has no place, and is no sum that could be replaced.
    """
    known = data_type if rounds else DataType.DOUBLE
    genes = _enabled(net, data_type)
    functions = _Functions.of(net, genes, data_type, known)
    if functions.by_state.any():
        genes = replace(genes, reads_state=genes.reads_state & ~functions.by_state[genes.source])
    genes = _through(net, genes, place, functions)
    genes = _added(genes, place, functions, net, data_type)
    weight = (
        rounded(genes.weight, known) * np.where(functions.sums, functions.factor, 1.0)[genes.target]
    )
    weight = weight / np.where(genes.reads_state, functions.slope[genes.source], 1.0)
    adds = (rounded(weight, data_type) != 0.0) | ~functions.sums[genes.target]
    genes, weight = genes.take(adds), weight[adds]
    needed = contributing(net) | net.is_input
    if len(genes.edge) < len(net.live) or place.min() == NONE:
        needed = _needed(net, genes)
        if np.any(place[needed] == NONE):
            raise LookupError("a neuron of the graph is none of the genome")
        kept = needed[genes.target]
        genes, weight = genes.take(kept), weight[kept]
    live = np.flatnonzero(needed & ~net.is_input)
    live = live[np.argsort(place[live])]
    late = distinct(genes.source[genes.delay > 0])
    late = late[np.argsort(place[late])]
    of_state = marked(len(net), genes.source[genes.reads_state])
    names, initial = net.aggregation_names[live].tolist(), net.neurons.initial
    sums = functions.sums[live]
    kinds = ["sum" if is_sum else name for name, is_sum in zip(names, sums.tolist(), strict=True)]
    ports = [(port.name, place[port.neurons.ravel()].tolist()) for port in net.inputs + net.outputs]
    return LiveGenes(
        ports=ports,
        neuron=live,
        place=place[live],
        functions=list(zip([functions.texts[at] for at in live.tolist()], kinds, strict=True)),
        bias=functions.offset[live],
        response=np.where(sums, 1.0, functions.factor[live]),
        slope=functions.slope[live],
        moved=functions.moved[live],
        late=late,
        late_place=place[late],
        initial=initial[late],
        state=(initial * functions.slope)[late[of_state[late]]],
        genes=replace(
            genes,
            source=place[genes.source],
            target=place[genes.target],
            gater=np.append(place, NONE)[genes.gater],
        ),
        weight=weight,
    )


def _enabled(net: Network, data_type: DataType) -> _Connections:
    """The enabled connections of neurons that matter; the state of an identity is its value."""
    genes = net.live
    gated = genes.gater != NONE
    reads_state = genes.reads_state
    if reads_state.any():
        same = np.array([form_of(name, data_type).whole == IDENTITY for name in net.activations])
        reads_state = reads_state & ~(same[net.neurons.activation] | net.is_input)[genes.source]
    found = _Connections(
        edge=np.flatnonzero(net.connections.enabled),
        source=genes.source,
        target=genes.target,
        gater=genes.gater,
        delay=genes.delay,
        gate_delay=np.where(gated, genes.gate_delay, 0),
        reads_state=reads_state,
        weight=genes.weight,
        gain=np.where(gated & (genes.gate_delay > 0), genes.initial_gain, 0.0),
    )
    return found.take((contributing(net) | net.is_input)[found.target])


def _through(net: Network, genes: _Connections, place: Ints, functions: _Functions) -> _Connections:
    """The connections with those from sums that have no place replaced by the sums' own inputs.

    A helper that is read late is none if it, or what it reads, begins with another value than 0.
    """
    missing = place == NONE
    if not missing.any():
        return genes
    plain = np.array([each == IDENTITY for each in functions.texts], np.bool_)
    helpers = missing & functions.sums & plain & (functions.offset == 0.0)
    helpers[net.output_neurons] = False
    late, starts = genes.source[genes.delay > 0], net.neurons.initial != 0.0
    begins = starts.copy()
    begins[genes.target[starts[genes.source]]] = True
    helpers[late[begins[late]]] = False
    if not np.any(helpers):
        return genes
    genes = replace(genes, gater=_gaters(genes, helpers, functions))
    inputs: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    rows = list(zip(*(column.tolist() for column in vars(genes).values()), strict=True))
    for row in rows:
        if helpers[row[2]]:
            inputs[row[2]].append(row)

    def followed(row: tuple[Any, ...], depth: int) -> list[tuple[Any, ...]]:
        edge, source, target, gater, delay, gate_delay, _, weight, gain = row
        if not helpers[source]:
            return [row]
        found = []
        for _, before, _, gate, late, gate_late, state, of_sum, first in inputs[source]:
            if min(gater, gate) > NONE or depth == len(helpers):
                raise LookupError("a product of three is no connection")
            times = weight * of_sum * float(functions.factor[source])
            own = (gater, gate_delay, gain) if gate == NONE else (gate, gate_late + delay, first)
            found += followed(
                (edge, before, target, own[0], delay + late, own[1], state, times, own[2]),
                depth + 1,
            )
        return found

    found = [each for row in rows if not helpers[row[2]] for each in followed(row, 0)]
    columns = zip(*found, strict=True) if found else ([] for _ in vars(genes))
    kinds = (column.dtype for column in vars(genes).values())
    return _Connections(
        *(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True))
    )


def _gaters(genes: _Connections, helpers: Bools, functions: _Functions) -> Ints:
    """The gaters, with the neuron that each copy has its value of; a late gain begins by itself."""
    alone = np.bincount(genes.target, minlength=len(helpers)) == 1
    is_copy = (helpers & alone)[genes.target] & (genes.gater == NONE) & (genes.delay == 0)
    is_copy &= ~genes.reads_state & (genes.weight * functions.factor[genes.target] == 1.0)
    origin = np.append(np.arange(len(helpers)), NONE)
    origin[genes.target[is_copy]] = genes.source[is_copy]
    found: Ints = origin[genes.gater]
    return found


def _added(
    genes: _Connections, place: Ints, functions: _Functions, net: Network, data_type: DataType
) -> _Connections:
    """The connections by the places of target and source, with parallel ones into a sum added.

    Parallel ones into a maximum, say, stand by their weights, whose order the graph has as well.
    """
    target, source = place[genes.target], place[genes.source]
    count, others = np.arange(len(target)), ~functions.sums[genes.target]
    takes_first = np.array([aggregation_named(name).takes_first for name in net.aggregations])
    in_turn = takes_first[net.neurons.aggregation[genes.target]] & others
    source = np.where(in_turn, count, source)
    key = target * (len(target) + place.max() + 1) + source
    if (key[1:] > key[:-1]).all():
        return genes
    order = stable_order(key)
    if (np.diff(key[order]) > 0).all():
        return genes.take(order)
    gater = np.append(place, NONE)[genes.gater]
    weight = genes.weight / np.where(genes.reads_state, functions.slope[genes.source], 1.0)
    keys = (
        np.where(others, count, 0),  # of connections into a maximum, say, none are added
        np.where(others, rounded(weight, data_type), 0.0),
        rounded(genes.gain, data_type),
        genes.gate_delay,
        gater,
        genes.reads_state,
        genes.delay,
        source,
        target,
    )
    order = np.lexsort(keys)
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    if np.all(new):
        return genes.take(order)
    total = np.zeros(np.count_nonzero(new))
    np.add.at(total, np.cumsum(new) - 1, genes.weight[order])  # one by one, as export adds them
    return replace(genes.take(order[new]), weight=total)


def _needed(net: Network, genes: _Connections) -> Bools:
    """Which neurons some output depends on, and all inputs, (n,)."""
    gated = genes.gater != NONE
    source = np.concatenate([genes.source, genes.gater[gated]])
    target = np.concatenate([genes.target, genes.target[gated]])
    outputs = marked(len(net), net.output_neurons)
    return net.is_input | Edges(target, source, len(net)).reached(outputs)
