"""The end of a trace: signals become neurons and connections.

1. A sum that one other alone reads becomes part of it; a number that multiplies it is its response.
2. A formula of a pre-activation is the neuron's activation, if it is the only one; else a neuron
   of its own. A formula of anything else is a neuron that reads it.
3. A register is a delay of the signal that it holds.
4. Neurons that no output depends on are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from neat_onnx.errors import ModelError, NetworkError
from neat_onnx.lifting.connections import in_one_form
from neat_onnx.lifting.neurons import Neurons as Traced
from neat_onnx.lifting.recognition import activation_name
from neat_onnx.lifting.tape import Array, FormulaGroup, Tape
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    Floats,
    Ints,
    Neurons,
    distinct,
    marked,
    owned,
    stable_order,
)
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import SpatialBlock, in_order_of_neurons
from neat_onnx.network.structure import IMPORTED
from neat_onnx.network.window import Sizes

_INPUT, _NEURON, _FORMULA, _REGISTER, _FOREIGN = range(5)
_MAX_BLOCK = 1 << 23  # products of neurons and inputs that a block may stand for
_MAX_ORDERED = 262_144  # connections; beyond, neurons keep the order of the trace


def output_signals(x: Traced) -> Ints:
    """The signals of an output: those of inputs and registers through neurons that hand them on.

    An input whose id is known is an output itself.
    """
    tape, signals = x.tape, x.signals().copy()
    given = np.zeros(tape.count, np.bool_)
    for first, count in tape.inputs:
        given[first : first + count] = True
    for known in tape.known_apart:
        given[known] = False
    for register in tape.registers:
        given[register.signals] = True
    handed_on = given[signals]
    if handed_on.any():
        signals[handed_on] = tape.add_neurons(signals[handed_on][:, None])
    return signals


class Resolution:
    """The neurons of a trace.

    Attributes:
        neuron_of: for each signal, the neuron whose activation it is, or NONE.
    """

    def __init__(self, tape: Tape, outputs: Sequence[Ints]) -> None:
        self._tape = tape
        _separate_starts(tape)
        self._outputs = np.concatenate([each.ravel() for each in outputs])
        self._collect()
        self._same = self._duplicates()
        self._connect()
        self._live = self._needed()
        self._merge()
        self._activate()
        self._number()

    # --- arrays of all signals ------------------------------------------------------------------

    def _collect(self) -> None:
        tape, n = self._tape, self._tape.count
        self._kind = np.full(n, _REGISTER, np.int8)
        self._origin = np.full(n, NONE)
        self._formula = np.full(n, NONE)
        self._aggregation = np.zeros(n, np.int64)
        self._bias, self._response = np.zeros(n), np.ones(n)
        self._merging, self._apart = np.zeros(n, np.int8), np.zeros(n, np.bool_)
        self._formulas: dict[Expression, int] = {}
        self._aggregations: dict[str, int] = {"sum": 0}
        for first, count in tape.inputs:
            self._kind[first : first + count] = _INPUT
        for group in tape.groups:
            at = slice(group.first, group.first + group.count)
            if isinstance(group, FormulaGroup):
                self._kind[at], self._origin[at] = _FORMULA, group.origin
                self._formula[at] = self._formulas.setdefault(group.formula, len(self._formulas))
                continue
            self._kind[at], self._bias[at] = _NEURON, group.bias
            if group.aggregation != "sum":
                self._aggregation[at] = self._aggregations.setdefault(
                    group.aggregation, len(self._aggregations)
                )
            if group.merging:
                self._merging[at] = 1 if group.merging == "response" else 2
        for signals in tape.apart:
            self._apart[signals.ravel()] = True
        for first, count in tape.foreign:
            self._kind[first : first + count] = _FOREIGN
        self._next = np.full(n, NONE)
        self._initial = np.zeros(n)
        for register in tape.registers:
            self._next[register.signals] = register.next
            self._initial[register.signals] = register.initial

    def _duplicates(self) -> Ints:
        """For each signal the first one that is the same formula of the same signal."""
        same = np.arange(self._tape.count)
        made = np.flatnonzero(self._kind == _FORMULA)
        while True:
            key = same[self._origin[made]] * (len(self._formulas) + 1) + self._formula[made]
            if len(distinct(key)) == len(key):
                return same
            _, first, which = np.unique(key, return_index=True, return_inverse=True)
            found = made[first[which.ravel()]]
            if np.array_equal(found, same[made]):
                break
            same[made] = found
        self._origin[made] = same[self._origin[made]]
        self._outputs = same[self._outputs]
        held = self._next >= 0
        self._next[held] = same[self._next[held]]
        return same

    def _connect(self) -> None:
        """The connections of all neurons as arrays: source, target, weight, gate."""
        parts: list[tuple[Array, ...]] = [
            (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        ]
        gates: list[tuple[int, Ints]] = []
        count = 0
        for group in self._tape.groups:
            if isinstance(group, FormulaGroup) or group.source is None or not group.source.size:
                continue
            fan_in = group.source.shape[1]
            source = group.source.ravel()
            target = np.repeat(np.arange(group.first, group.first + group.count), fan_in)
            weight = np.ones(len(source)) if group.weight is None else group.weight.ravel()
            kept = source >= 0
            weighted = group.aggregation == "sum" and group.merging != "response"
            if weighted and group.weight is not None:
                kept &= weight != 0.0
            if not kept.all():
                source, target, weight = source[kept], target[kept], weight[kept]
            if group.gate is not None:
                gates.append((count, group.gate.ravel()[kept]))
            parts.append((source, target, weight))
            count += len(source)
        source, self._target, self._weight = map(np.concatenate, zip(*parts, strict=True))
        self._source, self._gate = self._same[source], np.full(count, NONE)
        for first, gate in gates:
            self._gate[first : first + len(gate)] = np.where(gate >= 0, self._same[gate], NONE)
        self._gated = self._gate >= 0

    def _needed(self) -> Bools:
        """The signals that outputs depend on, and all inputs: followed from the last one back."""
        live = np.zeros(self._tape.count, np.bool_)
        live[self._outputs] = True
        for signals in self._tape.identified:
            live[self._same[signals]] = True
        ends = np.searchsorted(self._target, np.arange(self._tape.count + 1))
        while True:
            for group in reversed(self._tape.groups):
                at = slice(group.first, group.first + group.count)
                if not live[at].any():
                    continue
                if isinstance(group, FormulaGroup):
                    live[self._origin[at][live[at]]] = True
                    continue
                edges = slice(ends[group.first], ends[group.first + group.count])
                used = live[self._target[edges]]
                live[self._source[edges][used]] = True
                if group.gate is not None:
                    gate = self._gate[edges][used]
                    live[gate[gate >= 0]] = True
            more = self._next[live & (self._next >= 0)]
            if live[more].all():
                break
            while len(more := more[~live[more]]):
                live[more] = True
                more = self._next[more[self._next[more] >= 0]]
        if self._tape.foreign and live[self._kind == _FOREIGN].any():
            raise ModelError(
                "the outputs of a sample depend on the inputs of another one", where="graph.outputs"
            )
        live[self._kind == _INPUT] = True
        self._keep(live[self._target])
        return live

    def _keep(self, kept: Bools) -> None:
        """Leave out connections."""
        if not kept.all():
            for name in ("_source", "_target", "_weight", "_gate", "_gated"):
                setattr(self, name, getattr(self, name)[kept])

    # --- merging --------------------------------------------------------------------------------

    def _made_formulas(self) -> Ints:
        """The signals that are formulas of others, each once."""
        made = np.flatnonzero((self._kind == _FORMULA) & self._live)
        found: Ints = made[self._same[made] == made]
        return found

    def _others(self) -> Bools:
        """The signals that anything but a connection without a gate reads."""
        found = np.zeros(self._tape.count, np.bool_)
        found[self._source[self._gated]] = True
        found[self._gate[self._gated]] = True
        found[self._origin[self._made_formulas()]] = True
        found[self._next[self._live & (self._next >= 0)]] = True
        found[self._outputs] = True
        for hint in self._tape.hints:
            found[self._same[hint.sources.ravel()]] = True
        for signals in self._tape.known_apart:
            found[self._same[signals]] = True
        return found

    def _read_once(self) -> Bools:
        """The signals that one connection reads, without a gate, and nothing else."""
        reads = np.bincount(self._source, minlength=self._tape.count)
        once: Bools = (reads == 1) & ~self._others()
        return once

    def _merge(self) -> None:
        """Let a sum that one neuron alone reads become part of it."""
        n = self._tape.count
        self._root = np.arange(n)
        if not self._merging.any():
            return
        self._merge_products()
        once = self._read_once() & (self._kind == _NEURON)
        fan_in = np.bincount(self._target, minlength=n)
        adds = (self._aggregation == 0) & (self._merging > 0)
        into = once[self._source] & ~self._gated & adds[self._target]
        alone = into & (fan_in[self._target] == 1)
        self._merge_factors(alone)
        into = into[~alone]
        terms = (self._aggregation == 0) & ~self._apart
        into &= terms[self._source] & adds[self._target] & ~self._apart[self._target]
        self._merge_terms(into)

    def _merge_products(self) -> None:
        """Let sums read both factors of a product that nothing else reads."""
        n = self._tape.count
        fan_in = np.bincount(self._target, minlength=n)
        product = (self._kind == _NEURON) & (self._aggregation == 0) & (self._merging == 1)
        product &= (fan_in == 1) & (self._bias == 0.0) & ~self._others()
        gated = np.zeros(n, np.bool_)
        gated[self._target[self._gated]] = True
        sums = (self._kind == _NEURON) & (self._aggregation == 0) & ~self._apart
        product &= gated
        read = product[self._source]
        product[self._source[read & ~sums[self._target]]] = False
        product[self._source[read & product[self._target]]] = False
        into = product[self._source]
        if not into.any():
            return
        place = np.zeros(n, np.int64)
        own = np.flatnonzero(product[self._target])
        place[self._target[own]] = own
        at = place[self._source[into]]
        self._live[self._source[into]] = False
        self._weight[into] *= self._weight[at]
        self._gate[into], self._source[into] = self._gate[at], self._source[at]
        self._gated[into] = True
        self._keep(~product[self._target])

    def _merge_factors(self, edges: Bools) -> None:
        """A neuron that only multiplies and shifts another is the other, with a response."""
        if not edges.any():
            return
        source, target = self._source[edges], self._target[edges]
        parent, scale = self._climbed(source, target, self._weight[edges])
        np.add.at(self._bias, parent[source], scale[source] * self._bias[source])
        first = source[~np.isin(source, target)]
        last, factor = parent[first], scale[first]
        in_weights = (self._merging[last] == 2) & (self._aggregation[first] == 0)
        for column in (self._aggregation, self._apart, self._merging):
            column[last] = column[first]
        self._response[last] = np.where(in_weights, 1.0, factor)
        scales = np.ones(self._tape.count)
        scales[first[in_weights]] = factor[in_weights]
        self._keep(~edges)
        self._weight = self._weight * scales[self._target]
        self._move(source, parent)

    def _merge_terms(self, edges: Bools) -> None:
        """A sum that is a term of another adds its connections to that one's."""
        if not edges.any():
            return
        source, target = self._source[edges], self._target[edges]
        factor = self._weight[edges] * self._response[source]
        parent, scale = self._climbed(source, target, factor)
        root = parent[source]
        shares = self._bias[source] * scale[source] / self._response[source]
        np.add.at(self._bias, root, self._response[root] * shares)
        self._keep(~edges)
        self._weight = self._weight * scale[self._target]
        self._move(source, parent)

    def _climbed(self, source: Ints, target: Ints, factor: Floats) -> tuple[Ints, Floats]:
        """For each signal what it becomes part of in the end, and the product of the factors."""
        parent, scale = np.arange(self._tape.count), np.ones(self._tape.count)
        parent[source], scale[source] = target, factor
        while not np.array_equal(following := parent[parent], parent):
            scale = scale * scale[parent]
            parent = following
        return parent, scale

    def _move(self, merged: Ints, parent: Ints) -> None:
        self._target = parent[self._target]
        self._root = parent[self._root]
        self._live[merged] = False

    # --- activations ----------------------------------------------------------------------------

    def _activate(self) -> None:
        """Find for each pre-activation the formula that is its activation."""
        made = self._made_formulas()
        origin = self._origin[made]
        counts = np.bincount(origin, minlength=self._tape.count)
        shown = np.zeros(self._tape.count, np.bool_)
        shown[self._outputs] = True
        gates = self._gate[self._gated]
        shown[gates] = shown[self._delayed[0][gates]] = True
        for signals in self._tape.known_apart:
            shown[self._same[signals]] = True
        is_activation = (counts[origin] == 1) & (self._kind[origin] == _NEURON) & ~shown[origin]
        self._activation = np.full(self._tape.count, NONE)
        self._activation[origin[is_activation]] = self._formula[made[is_activation]]
        self._holder = np.arange(self._tape.count)
        self._holder[made[is_activation]] = origin[is_activation]
        self._apart_made = made[~is_activation]
        self._activation[self._apart_made] = self._formula[self._apart_made]

    # --- numbers of neurons ---------------------------------------------------------------------

    def _number(self) -> None:
        n = self._tape.count
        extra = self._apart_made
        if len(extra):
            self._source = np.concatenate([self._source, self._origin[extra]])
            self._target = np.concatenate([self._target, extra])
            self._weight = np.concatenate([self._weight, np.ones(len(extra))])
            self._gate = np.concatenate([self._gate, np.full(len(extra), NONE)])
        is_neuron = self._live & ((self._kind == _INPUT) | (self._kind == _NEURON))
        is_neuron[extra] = True
        signals = np.flatnonzero(is_neuron)
        if len(self._source) <= _MAX_ORDERED:
            signals = signals[np.argsort(self._levels()[signals], kind="stable")]
        number = np.full(n, NONE)
        number[signals] = np.arange(len(signals))
        self._neurons = signals
        self._neuron = number[self._holder[self._root]]  # raw pre-activations as well
        hidden = np.zeros(n, np.bool_)
        hidden[(self._kind == _NEURON) & (self._activation != NONE)] = True
        self._hidden = hidden
        merged = self._root != np.arange(n)
        self.neuron_of = np.where(hidden | merged, NONE, self._neuron)[self._same]

    def _levels(self) -> Ints:
        """The topological level of each signal; a group reads what was made before it alone."""
        level: Ints = ((self._kind == _NEURON) | (self._kind == _FORMULA)).astype(np.int64)
        gated = self._gate >= 0
        source = self._holder[np.concatenate([self._source, self._gate[gated]])]
        target = np.concatenate([self._target, self._target[gated]])
        order = stable_order(target)
        source, target = source[order], target[order]
        firsts = [group.first for group in self._tape.groups]
        for start, end in pairwise(np.searchsorted(target, [*firsts, len(level)]).tolist()):
            if start < end:
                np.maximum.at(level, target[start:end], level[source[start:end]] + 1)
        return level

    @cached_property
    def _delayed(self) -> tuple[Ints, Ints | None]:
        """For each signal the one that it is a delay of, and by how many steps; None for none."""
        if not self._tape.registers:
            return np.arange(self._tape.count), None
        following = np.where(self._next >= 0, self._next, np.arange(self._tape.count))
        steps = (self._next >= 0).astype(np.int64)
        while not np.array_equal(more := following[following], following):
            steps = steps + steps[following]
            following = more
        return following, steps

    # --- the network ----------------------------------------------------------------------------

    def network(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Network:
        """The network with these ports; ids are positions."""
        signals = self._neurons
        names, slopes, lines = self._activations(signals)
        aggregations, codes = list(self._aggregations), self._aggregation[signals]
        bias, response = self._bias[signals] / slopes + lines, self._response[signals] / slopes
        codes[self._kind[signals] != _NEURON] = 0
        connections, initial = self._connections(slopes, codes)
        neurons, tables, kinds = Neurons.of(
            np.arange(len(signals)),
            names.tolist(),
            [aggregations[code] for code in codes.tolist()],
            bias=bias,
            response=response,
            initial=initial,
        )
        blocks = (each for each in self.blocks if not np.any(each.neurons == NONE))
        return Network(
            inputs=inputs,
            outputs=outputs,
            neurons=neurons,
            connections=connections,
            activations=tables,
            aggregations=kinds,
            library=IMPORTED,
            blocks=in_order_of_neurons(blocks),
        )

    def _activations(self, signals: Ints) -> tuple[Ints, Floats, Floats]:
        """The name of each neuron's activation, what its pre-activation is divided by, and what is
        added to it then.
        """
        cases = 2 * self._activation[signals] + self._reads_state(signals)
        names, slopes = np.full(len(signals), "identity", object), np.ones(len(signals))
        shifts, formulas = np.zeros(len(signals)), list(self._formulas)
        for each in distinct(cases[cases >= 0]).tolist():
            number, by_state = divmod(each, 2)
            try:
                found = activation_name(formulas[number], shifted=not by_state)
            except NetworkError as error:
                raise ModelError(f"no neuron takes its formula: {error}") from None
            at = cases == each
            names[at], slopes[at], shifts[at] = found
        return names, slopes, shifts

    def _reads_state(self, signals: Ints) -> Bools:
        """Of which of these neurons others read the pre-activation."""
        sources = np.flatnonzero(marked(self._tape.count, self._source))
        read = marked(self._tape.count, self._root[self._delayed[0][sources]])
        found: Bools = read[signals] & self._hidden[signals]
        return found

    def _connections(self, slopes: Floats, aggregations: Ints) -> tuple[Connections, Floats]:
        source, gate, target = self._source, self._gate, self._neuron[self._target]
        following, steps = self._delayed
        read = source if steps is None else following[source]
        if steps is not None and np.any(self._kind[read] == _REGISTER):
            raise ModelError("a state feeds itself and nothing else", where="graph.outputs")
        neuron = self._neuron[read]
        columns = {"source": neuron, "target": target, "weight": self._weight}
        if self._hidden.any():
            state = self._hidden[self._root][read]
            if state.any():
                columns["weight"] = self._weight * np.where(state, slopes[neuron], 1.0)
                columns["reads_state"] = state
        if steps is not None:
            columns["delay"] = steps[source]
        gated = gate >= 0
        if gated.any():
            gater = following[gate]
            columns["gater"] = np.where(gated, self._neuron[gater], NONE)
            if steps is not None:
                columns["gate_delay"] = np.where(gated, steps[gate], 0)
                delayed = gated & (steps[gate] > 0)
                columns["initial_gain"] = np.where(delayed, self._initial[gate], 0.0)
        genes = Connections.of(**{name: owned(each) for name, each in columns.items()})
        initial = np.zeros(len(slopes))
        if steps is not None:
            late = steps[source] > 0
            initial[neuron[late]] = self._initial[source[late]]
            if (initial[neuron[late]] != self._initial[source[late]]).any():
                raise ModelError("states of one neuron begin with different values")
        by_place = np.array([aggregation_named(name).takes_first for name in self._aggregations])
        return in_one_form(genes, aggregations == 0, by_place[aggregations]), initial

    @cached_property
    def blocks(self) -> list[SpatialBlock]:
        """The spatial blocks, with NONE in place of neurons that no output depends on."""
        found = []
        for hint in self._tape.hints:
            sources = self.neuron_of[hint.sources]
            neurons = self._neuron[self._root[hint.neurons]]
            if np.any(sources == NONE) or np.all(neurons == NONE):
                continue
            if neurons.size * len(sources) * math.prod(hint.window.kernel) > _MAX_BLOCK:
                continue
            found.append(replace(hint, sources=sources, neurons=neurons))
        return found

    # --- where tensors are ----------------------------------------------------------------------

    def neurons_of(self, x: Traced) -> Ints | None:
        """The neurons whose activations a tensor's elements are, flat; None if some are not."""
        found = (self._signals_of(each) for each in (x, x._settled) if each is not None)
        signals = next((each for each in found if each is not None), None)
        if signals is None or not signals.size or signals.min() < 0:
            return None
        neurons = self.neuron_of[signals.ravel()]
        return None if neurons.min() < 0 else neurons

    def _signals_of(self, x: Traced) -> Ints | None:
        """The signals that a tensor's elements are, as far as they were made."""
        if x._signals is not None or not x.is_plain:
            return x._signals
        if x.formula is VARIABLE:
            return x.ids
        number = self._formulas.get(x.formula)
        if number is None:
            return None
        keys, made = self._by_formula
        wanted = number * self._tape.count + x.ids
        at = np.searchsorted(keys, wanted, side="right") - 1
        return np.where((x.ids >= 0) & (keys[at] == wanted), made[at], NONE)

    @cached_property
    def _by_formula(self) -> tuple[Ints, Ints]:
        """The signals that are formulas, in the order of a key of formula and origin; the keys."""
        made = np.flatnonzero(self._kind == _FORMULA)
        keys = self._formula[made] * self._tape.count + self._origin[made]
        order = np.argsort(keys, kind="stable")
        return keys[order], made[order]


class TensorNeurons(Mapping[str, Ints]):
    """For each tensor whose elements are activations of neurons, their positions, flat.

    They are looked for when they are asked for: most tensors of a large graph never are.

    Attributes:
        shapes: the shape of each tensor that depends on inputs, with one sample of a batch.
    """

    def __init__(self, tensors: Mapping[str, Traced], resolution: Resolution) -> None:
        self._tensors, self._resolution = tensors, resolution
        self.shapes: dict[str, Sizes] = {name: x.shape for name, x in tensors.items()}

    def __getitem__(self, name: str) -> Ints:
        found = self._resolution.neurons_of(self._tensors[name])
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._tensors if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _separate_starts(tape: Tape) -> None:
    """Put neurons that hand a value on where registers of it begin differently, or hold registers
    that do, or themselves. A pre-activation and its activation are one neuron's, and a connection
    itself says how the gate on it begins.
    """
    if not tape.registers:
        return
    following, initial = np.full(tape.count, NONE), np.zeros(tape.count)
    for register in tape.registers:
        assert register.next is not None
        following[register.signals], initial[register.signals] = register.next, register.initial
    read, neuron = np.zeros(tape.count, np.bool_), np.arange(tape.count)  # read not by gates alone
    for group in tape.groups:
        if isinstance(group, FormulaGroup):
            read[group.origin] = True
            neuron[group.first : group.first + group.count] = group.origin
        elif group.source is not None:
            read[group.source[group.source >= 0]] = True
    more = np.flatnonzero(read & (following != NONE))
    while len(more):
        held = following[more]
        more = held[~read[held] & (following[held] != NONE)]
        read[held] = True
    starts: dict[int, float] = {}

    def differs(signal: int) -> bool:
        held, start = int(following[signal]), float(initial[signal])
        later = following[held] != NONE
        alike = initial[held] == start
        if not read[signal] and not (later and (read[held] or not alike)):
            return False
        found = starts.setdefault(int(neuron[held]), start) != start
        end, steps = held, 0
        while following[end] != NONE and steps <= len(following):
            end, steps = int(following[end]), steps + 1
        return bool(found or (later and not alike) or following[end] != NONE)

    for register in tape.registers:
        own = np.array([differs(signal) for signal in register.signals.tolist()], np.bool_)
        if register.next is not None and own.any():
            register.next = register.next.copy()
            register.next[own] = tape.add_neurons(register.next[own][:, None])
