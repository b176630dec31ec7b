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
from functools import lru_cache
from typing import Any

import numpy as np

from neat_onnx.genome.normal_form import in_normal_form
from neat_onnx.model import DataType
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.bounds import Line, line_of
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.network.schedule import Edges

DIGITS = 16  # of a checksum: 64 bits
_CLOSE = {DataType.FLOAT: 1e-6, DataType.DOUBLE: 1e-13}  # a few roundings


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
        if which.dtype == np.bool_ and np.all(which):
            return self  # as of most networks: a copy of a million takes a while
        return _Connections(*(column[which] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class LiveGenes:
    """The live genes of a network whose neurons have places in a genome.

    Attributes:
        ports: the name and the places of each input, then of each output.
        neuron: the live neurons but inputs, by place, (n,).
        place: their places, (n,).
        functions: for each, the formula of its activation without slope, and its aggregation.
        bias, response: of each, times the slope; the response of a sum is 1.
        late, initial: the neurons that are read with a delay, by place, and their values before.
        state: the same for their states, times the slope.
        own: the bias and the response that each has in the network, and the weights of `genes`;
            of neurons that are `moved` times the factors; responses without a bias times the slope.
        moved: whether the activation is a formula without a name, of a line.
        genes: the live connections between places, by target and source; the weights into a sum
            are added, and not multiplied by anything.
        weight: the weights times the factors of their targets, (m,).
        factor: that of the weights into each neuron of the network.
        slope, shift: of its activation f(c · z + b).
    """

    ports: list[Any]
    neuron: Ints
    place: Ints
    functions: list[tuple[str, str]]
    bias: Floats
    response: Floats
    late: Ints
    late_place: Ints
    initial: Floats
    state: Floats
    own: tuple[Floats, Floats, Floats]
    moved: Bools
    genes: _Connections
    weight: Floats
    factor: Floats
    slope: Floats
    shift: Floats

    def structure(self) -> str:
        """The checksum of all but the numbers."""
        genes = self.genes
        text = json.dumps([self.ports, self.place.tolist(), self.functions])
        digest = hashlib.sha256(text.encode())
        for column in (genes.source, genes.target, genes.gater, genes.delay, genes.gate_delay):
            digest.update(column.astype("<i8").tobytes())
        digest.update(genes.reads_state.astype("u1").tobytes())
        return digest.hexdigest()[:DIGITS]

    def numbers(self, data_type: DataType, *, folded: bool) -> str:
        """The checksum of the numbers, as a graph of this type holds them.

        Args:
            data_type: the type.
            folded: responses and slopes are factors of weights and biases.
        """
        own = (self.bias, self.response, self.weight) if folded else self.own
        digest = hashlib.sha256()
        for column in (*own, self.initial, self.genes.gain):
            digest.update((rounded(column, data_type) + 0.0).astype("<f8").tobytes())
        return digest.hexdigest()[:DIGITS]

    def is_rounded(self, other: "LiveGenes", data_type: DataType) -> bool:
        """Whether another has the same structure, and numbers that differ by rounding alone."""
        if self.structure() != other.structure():
            return False
        close = _CLOSE.get(data_type, 0.0)
        ours, theirs = (
            (each.bias, each.response, each.initial, each.state, each.weight, each.genes.gain)
            for each in (self, other)
        )
        return all(
            np.allclose(one, two, rtol=close, atol=0.0)
            for one, two in zip(ours, theirs, strict=True)
        )


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
    neurons, names, fan_in = net.neurons, net.aggregation_names, net.fan_in
    genes = _live(net)
    slope, shift, cores = _functions(net, genes, data_type)
    known = data_type if rounds else DataType.DOUBLE
    bias, response = rounded(neurons.bias, known), rounded(neurons.response, known)
    builtin = np.array([aggregation_named(name).builtin for name in net.aggregations], np.bool_)
    few = (fan_in <= 1) & builtin[neurons.aggregation]
    sums = (names == "sum") | (names == "mean") | few
    response = np.where(names == "mean", response * (1.0 / np.maximum(fan_in, 1)), response)
    factor = response * slope
    of_none = (names == "product") & (fan_in == 0)
    whole = rounded(neurons.bias + neurons.response, known)
    bias = np.where(of_none, whole, bias)
    plain = np.array([each == _IDENTITY for each in cores], np.bool_)

    genes = _through(net, genes, place, sums & plain, factor, bias * slope + shift)
    genes = _added(genes, place, sums, net)
    weight = rounded(genes.weight, known) * np.where(sums, factor, 1.0)[genes.target]
    weight = weight / np.where(genes.reads_state, slope[genes.source], 1.0)
    adds = (rounded(weight, data_type) != 0.0) | ~sums[genes.target]
    genes, weight = genes.take(adds), weight[adds]
    needed = _needed(net, genes)
    if np.any(place[needed] == NONE):
        raise LookupError("a neuron of the graph is none of the genome")
    kept = needed[genes.target]
    genes, weight = genes.take(kept), weight[kept]

    live = np.flatnonzero(needed & ~net.is_input)
    live = live[np.argsort(place[live])]
    functions = [
        (cores[at], "sum" if is_sum else str(name))
        for at, is_sum, name in zip(live.tolist(), sums[live].tolist(), names[live], strict=True)
    ]
    late = distinct(genes.source[genes.delay > 0])
    late = late[np.argsort(place[late])]
    gated, read = genes.gater != NONE, np.zeros(len(net), np.bool_)
    read[genes.target] = True
    unnamed = np.array([name.startswith(FORMULA) for name in net.activations], np.bool_)
    moved = unnamed[neurons.activation] & ((slope != 1.0) | (shift != 0.0))
    # where nothing is added between them, optimizers make one factor of a response and a slope
    own = np.where(bias * slope + shift == 0.0, factor, response)
    return LiveGenes(
        ports=[
            [port.name, place[port.neurons.ravel()].tolist()] for port in net.inputs + net.outputs
        ],
        neuron=live,
        place=place[live],
        functions=functions,
        bias=(bias * slope + shift)[live],
        response=np.where(sums, 1.0, factor)[live],
        late=late,
        late_place=place[late],
        initial=neurons.initial[late],
        state=(neurons.initial * slope)[late[np.isin(late, genes.source[genes.reads_state])]],
        own=(
            np.where(moved, bias * slope + shift, bias)[live],
            np.where(moved, np.where(sums, 1.0, factor), np.where(read, own, 1.0))[live],
            np.where(moved[genes.target], weight, genes.weight),
        ),
        moved=moved,
        genes=replace(
            genes,
            source=place[genes.source],
            target=place[genes.target],
            gater=np.where(gated, place[genes.gater], NONE),
        ),
        weight=weight,
        factor=factor,
        slope=slope,
        shift=shift,
    )


def rounded(values: Floats, data_type: DataType) -> Floats:
    """The numbers that a graph of this type has for these."""
    if data_type is not DataType.FLOAT:
        return values
    return values.astype(np.float32).astype(np.float64)


@lru_cache(maxsize=4096)
def _line(formula: Expression, data_type: DataType) -> tuple[float, float, str]:
    """(c, b, f) of an activation f(c · z + b); of a straight line, f is the identity."""
    line = line_of(formula)
    if line is not None and line[0] != 0.0:
        return *line, _IDENTITY
    lines: dict[Line, None] = {}
    core = _of_line(formula, lines)
    if len(lines) != 1:
        return 1.0, 0.0, _written(formula, data_type)
    ((slope, shift),) = lines
    return slope, shift, _written(core, data_type)


def _of_line(formula: Expression, lines: dict[Line, None]) -> Expression:
    """The formula with its variable for each straight line in it, all of which go into `lines`."""
    line = line_of(formula)
    if line is not None and line[0] != 0.0:
        lines[line] = None
        return VARIABLE
    return formula.over([_of_line(each, lines) for each in formula.args])


def _written(formula: Expression, data_type: DataType) -> str:
    """The formula as a graph of this type has it."""
    written = writable(formula, data_type.dtype)
    normal = in_normal_form(written)
    return str(normal.single if data_type is DataType.FLOAT else normal)


_IDENTITY = str(VARIABLE)


def _live(net: Network) -> _Connections:
    """The enabled connections of neurons that matter; the state of an identity is its value."""
    genes = net.live
    gated = genes.gater != NONE
    same = np.array([activation_named(name).expression == VARIABLE for name in net.activations])
    same = same[net.neurons.activation] | net.is_input
    found = _Connections(
        edge=np.flatnonzero(net.connections.enabled),
        source=genes.source,
        target=genes.target,
        gater=genes.gater,
        delay=genes.delay,
        gate_delay=np.where(gated, genes.gate_delay, 0),
        reads_state=genes.reads_state & ~same[genes.source],
        weight=genes.weight,
        gain=np.where(gated & (genes.gate_delay > 0), genes.initial_gain, 0.0),
    )
    return found.take(_needed(net, found)[found.target])


def _functions(
    net: Network, genes: _Connections, data_type: DataType
) -> tuple[Floats, Floats, list[str]]:
    """(c, b, f) of the activation f(c · z + b) of each neuron; c is 1 where a state is read and b
    would not be 0.
    """
    formulas = [activation_named(name).expression for name in net.activations]
    lines = [_line(formula, data_type) for formula in formulas]
    codes = net.neurons.activation
    slope, shift = (np.array([each[k] for each in lines], np.float64)[codes] for k in (0, 1))
    cores = [lines[code][2] for code in codes.tolist()]
    for neuron in distinct(genes.source[genes.reads_state]).tolist():
        if cores[neuron] == _IDENTITY or shift[neuron] != 0.0:
            slope[neuron], shift[neuron] = 1.0, 0.0
            cores[neuron] = _written(formulas[codes[neuron]], data_type)
    return slope, shift, cores


def _through(
    net: Network, genes: _Connections, place: Ints, sums: Bools, factor: Floats, bias: Floats
) -> _Connections:
    """The connections with those from sums that have no place replaced by the sums' own inputs."""
    helpers = (place == NONE) & sums & (bias == 0.0)
    helpers[net.output_neurons] = False
    late, starts = genes.source[genes.delay > 0], net.neurons.initial != 0.0
    begins = starts.copy()  # with another value than 0, or what it reads does
    begins[genes.target[starts[genes.source]]] = True
    helpers[late[begins[late]]] = False
    if not np.any(helpers):
        return genes
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
            times = weight * of_sum * float(factor[source])
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


def _added(genes: _Connections, place: Ints, sums: Bools, net: Network) -> _Connections:
    """The connections by the places of target and source, with parallel ones into a sum added."""
    target, source = place[genes.target], place[genes.source]
    count, others = np.arange(len(target)), ~sums[genes.target]
    number = np.where(others, count, 0)  # of connections into a maximum, say, none are added
    takes_first = np.array([aggregation_named(name).takes_first for name in net.aggregations])
    in_turn = takes_first[net.neurons.aggregation[genes.target]] & others
    source = np.where(in_turn, count, source)
    if np.all(np.diff(target * (len(target) + len(net) + 1) + source) > 0):
        return genes
    gater = np.append(place, NONE)[genes.gater]
    keys = (number, genes.gate_delay, gater, genes.reads_state, genes.delay, source, target)
    order = np.lexsort(keys)
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([np.diff(key[order].astype(np.int64)) != 0 for key in keys], axis=0)
    if np.all(new):
        return genes.take(order)
    weight = np.zeros(np.count_nonzero(new))
    np.add.at(weight, np.cumsum(new) - 1, genes.weight[order])  # one by one, as export adds them
    return replace(genes.take(order[new]), weight=weight)


def _needed(net: Network, genes: _Connections) -> Bools:
    """Which neurons some output depends on, and all inputs, (n,)."""
    needed = net.is_input.copy()
    found = np.zeros(len(net), np.bool_)
    found[net.output_neurons] = True
    gated = genes.gater != NONE
    source = np.concatenate([genes.source, genes.gater[gated]])
    target = np.concatenate([genes.target, genes.target[gated]])
    return needed | Edges(target, source, len(net)).reached(found)
