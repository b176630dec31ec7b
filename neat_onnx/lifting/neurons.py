"""The end of an import: signals become neurons and connections.

A pre-activation whose materialized signals all have one formula is a neuron with that activation.
If there are several, it is a neuron of its own, which a neuron for each formula reads. A formula of
a materialized signal is a neuron that reads it. A register is a delay of the signal it follows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np

from neat_onnx.errors import ModelError, NetworkError
from neat_onnx.lifting.connections import in_order, reading_products, without_parallel
from neat_onnx.lifting.context import (
    INPUT,
    MATERIALIZED,
    NOT_FINITE,
    PRE_ACTIVATION,
    REGISTER,
    LiftingContext,
    NewNeurons,
    Value,
)
from neat_onnx.lifting.links import Links
from neat_onnx.lifting.materialized import Materialized
from neat_onnx.lifting.numbering import order_by_level
from neat_onnx.lifting.recognition import activation_name
from neat_onnx.lifting.rows import blocks_of
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    Floats,
    Ints,
    Neurons,
    distinct,
    is_none,
    owned,
    repeated,
)
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import in_order_of_neurons, moved_blocks
from neat_onnx.network.structure import IMPORTED

_NO_INTS = np.empty(0, np.int64)
_MAX_GENES_ORDERED = 262_144  # beyond, a genome is a small part of a file


@dataclass(frozen=True)
class _Read:
    """The origin of signals: activations or pre-activations, steps ago; NONE for no signal."""

    neuron: Ints
    delay: Ints
    reads_state: Bools
    initial: Floats


class Resolution:
    """The neurons of all signals of an import.

    Attributes:
        neuron_of: for each activation, or pre-activation, the neuron whose it is.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        self._ctx = ctx
        self._formulas = list(dict.fromkeys((*ctx.formulas, VARIABLE)))
        self._variable = self._formulas.index(VARIABLE)
        self._kind = ctx.kind
        is_neuron = (self._kind == INPUT) | (self._kind == PRE_ACTIVATION)
        self.neuron_of = np.where(is_neuron, np.cumsum(is_neuron) - 1, NONE)
        several = self._origins_with_several_formulas() | self._pre_activations_that_gate()
        self._materialized = Materialized(
            ctx, len(self._formulas), self._variable, self.neuron_of, np.array([*several], np.int64)
        )
        self._made = len(self._materialized.activation)
        self._number_by_level()

    def _number_by_level(self) -> None:
        """Number the neurons in the order of levels, and on each as they were made."""
        made = self._made_neurons
        connections = sum(len(each.source) for some in made for each in some.connections)
        if self._made + connections > _MAX_GENES_ORDERED:
            return
        source, target, _, gate = self._all_connections()
        read, targets = (source, target, gate), [each.signals for each in made]
        order = order_by_level(self._kind, self.neuron_of, read, targets, self._materialized.read)
        rank = np.append(np.argsort(order), NONE)
        self.neuron_of = rank[self.neuron_of]
        self._materialized.reorder(order, rank)

    def _origins_with_several_formulas(self) -> set[int]:
        ctx = self._ctx
        materialized = self._kind == MATERIALIZED
        formulas = len(ctx.formulas)
        pairs = distinct(ctx.origin[materialized] * formulas + ctx.formula_of[materialized])
        origins, counts = np.unique(pairs // formulas, return_counts=True)
        return set(origins[counts > 1].tolist())

    def _pre_activations_that_gate(self) -> set[int]:
        """Pre-activations that gate connections, now or later, as only activations can."""
        made = self._made_neurons
        gates = [each.gate for some in made for each in some.connections]
        following, _ = self._delayed
        gaters = following[np.concatenate([_NO_INTS, *(x for x in gates if not is_none(x))])]
        gaters = gaters[gaters != NONE]
        return set(gaters[self._kind[gaters] == PRE_ACTIVATION].tolist())

    # --- where tensors are -----------------------------------------------------------------------

    def tensors(self) -> dict[str, Ints]:
        """For each tensor whose elements are activations of neurons, those neurons, flat."""
        found = {}
        for name, operand in self._ctx.operands.items():
            if isinstance(operand, Value) and (neurons := self._neurons_of(operand)) is not None:
                found[name] = neurons
        return found

    def _neurons_of(self, value: Value) -> Ints | None:
        if value in self._ctx.materialized or value.plain:
            signals = self._ctx.materialized.get(value, value.signals)
            return self.activations(signals.ravel())
        if value.reduced or value.formula not in self._ctx.formulas:
            return None
        formula = self._ctx.formulas[value.formula]  # materialized after it was rearranged
        products = None if value.elementwise else self._ctx.products.neurons_of(value)
        if products and None in products:
            return None
        origins = np.array(products or value.signals.ravel(), np.int64)
        found = self._materialized.neurons_of(origins, formula, self.neuron_of)
        return None if np.any(found == NONE) else found

    def activations(self, signals: Ints) -> Ints | None:
        """The neurons whose activations of this step the signals are; None if some are no such."""
        return self.neuron_of[signals] if self._are_activations(signals) else None

    def _are_activations(self, signals: Ints) -> bool:
        return bool(self._is_activation[signals].all())

    @cached_property
    def _is_activation(self) -> Bools:
        """Whether each signal is one: finite, of this step, and no other pre-activation."""
        kind = self._kind
        hidden: Bools = (kind == PRE_ACTIVATION) & self._hides_pre_activation[self.neuron_of]
        return ~(np.isin(kind, (REGISTER, NOT_FINITE)) | hidden)

    @cached_property
    def _hides_pre_activation(self) -> Bools:
        """Whether each neuron's activation differs from its pre-activation."""
        found: Bools = self._materialized.activation != self._variable
        return found

    # --- the network -----------------------------------------------------------------------------

    def network(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Network:
        """The network with these ports; ids are positions."""
        count = self._made
        bias, response = np.zeros(count), np.ones(count)
        names = np.full(count, "sum", object)
        for made in self._made_neurons:
            at = self.neuron_of[made.signals]
            bias[at], response[at], names[at] = made.bias, made.response, made.aggregation
        known = self._known_activations()
        slope = np.array([known[formula][1] for formula in self._materialized.activation.tolist()])
        plain = (bias == 0.0) & (response == 1.0) & (names == "sum") & ~self._hides_pre_activation
        connections, initial = self._connections(slope, plain)
        bias, response = bias / slope, response / slope
        wrong = ~np.isfinite(bias) | ~np.isfinite(response)
        wrong[connections.target[~np.isfinite(connections.weight)]] = True
        if np.any(wrong):
            self._refuse(
                wrong,
                "it computes with a constant that is infinite or NaN",
                "A constant divisor of 0 makes one, or a product beyond the largest number",
            )
        neurons, activations, aggregations = Neurons.of(
            np.arange(count),
            [known[formula][0] for formula in self._materialized.activation.tolist()],
            names.tolist(),
            bias=bias,
            response=response,
            initial=initial,
        )
        net = Network(
            inputs=inputs,
            outputs=outputs,
            neurons=neurons,
            connections=connections,
            activations=activations,
            aggregations=aggregations,
            library=IMPORTED,
            blocks=moved_blocks(self._ctx.blocks, self.neuron_of),
        )
        products = blocks_of(self._ctx.rows, net, self.neuron_of)
        return replace(net, blocks=in_order_of_neurons(net.blocks + products)) if products else net

    def _refuse(self, wrong: Bools, message: str, hint: str | None = None) -> NoReturn:
        """Refuse neurons that no network can have, by the first node that gives one."""
        tensors = self.tensors()
        for node in self._ctx.model.graph.node:
            if any(np.any(wrong[tensors[name]]) for name in node.output if name in tensors):
                break
        self._ctx.fail(node, message, hint)

    def _known_activations(self) -> dict[int, tuple[str, float]]:
        """(name, c) of each formula, by number: it is that activation of z / c, and bias and
        response of the neuron are to be divided by c.
        """
        numbers = self._materialized.activation
        found: dict[int, tuple[str, float]] = {}
        for each in dict.fromkeys(numbers.tolist()):
            try:
                found[each] = activation_name(self._formulas[each], self._ctx.data_type)
            except NetworkError as error:
                self._refuse(numbers == each, f"no neuron takes its formula: {error}")
        return found

    def _connections(self, slope: Floats, plain: Bools) -> tuple[Connections, Floats]:
        """The links as connections, and the initial value of each neuron for the delayed ones.

        A pre-activation that is read was divided by its neuron's slope; the weight makes up for it.
        Plain neurons add their inputs, and no more.
        """
        source, target, weight, gate = self._all_connections()
        read, gated = self._followed(source), self._followed(gate)
        del source, gate  # as large as the connections themselves
        if np.any(gated.reads_state):
            raise ModelError("a state gates a connection; only activations can")
        if np.any(read.reads_state):
            weight = weight * np.where(read.reads_state, slope[read.neuron], 1.0)
        fresh = {
            "source": read.neuron,
            "target": target,
            "weight": weight,
            "delay": read.delay,
            "reads_state": read.reads_state,
            "gater": gated.neuron,
            "gate_delay": gated.delay,
            "initial_gain": gated.initial,
        }
        connections = Connections.of(**{name: owned(array) for name, array in fresh.items()})
        names = {made.aggregation for made in self._made_neurons}
        takes_first = {name: aggregation_named(name).takes_first for name in names}
        sums, by_place = np.ones(self._made, np.bool_), np.zeros(self._made, np.bool_)
        for made in self._made_neurons:
            at = self.neuron_of[made.signals]
            sums[at] = made.aggregation == "sum"
            by_place[at] = takes_first[made.aggregation]
        ordered = in_order(reading_products(connections, plain), by_place)
        return without_parallel(ordered, sums), self._initial(read)

    @cached_property
    def _made_neurons(self) -> list[NewNeurons]:
        return [made for made in self._ctx.neurons if not made.merged]

    def _all_connections(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Source signals, target neurons, weights and gating signals of all connections."""
        links = Links.of(self._ctx, self.neuron_of, self._materialized.read)
        return links.source, links.target, links.weight, links.gate

    def _followed(self, signals: Ints) -> _Read:
        """Follow signals through registers to the signals that they delay."""
        ctx = self._ctx
        if is_none(signals):
            return _nothing(signals.size)
        following, delays = self._delayed
        first = np.zeros(len(following))
        first[list(ctx.initial)] = list(ctx.initial.values())
        # at the end of each signal's delays; the last place is that of NONE
        kind = np.append(self._kind, MATERIALIZED)[following]
        neuron = np.append(self.neuron_of, NONE)[following]
        differs = np.append(self._hides_pre_activation, False)[neuron]
        hidden = (kind == PRE_ACTIVATION) & differs
        if np.any(kind == REGISTER) and np.any(kind[signals] == REGISTER):
            raise ModelError("a state feeds itself and nothing else", where="graph.outputs")
        found = replace(_nothing(signals.size), neuron=neuron[signals])
        if np.any(reads_state := hidden[signals]):
            found = replace(found, reads_state=reads_state)
        if ctx.next:
            found = replace(found, delay=delays[signals], initial=first[signals])
        return found

    @cached_property
    def _delayed(self) -> tuple[Ints, Ints]:
        """The signal that each signal is a delay of, and the steps; the last place is for NONE.

        Each round doubles how far every register looks back.
        """
        ctx = self._ctx
        following = np.append(np.arange(len(self._kind)), NONE)
        following[list(ctx.next)] = list(ctx.next.values())
        steps = np.zeros(len(following), np.int64)
        steps[list(ctx.next)] = 1
        for _ in range(len(ctx.next).bit_length()):
            steps = steps + steps[following]
            following = following[following]
        return following, steps

    def _initial(self, read: _Read) -> Floats:
        initial = np.zeros(self._made)
        delayed = read.delay > 0
        initial[read.neuron[delayed]] = read.initial[delayed]
        return initial


def _nothing(count: int) -> _Read:
    """No signals: of no neuron, not delayed."""
    return _Read(
        neuron=repeated(NONE, count, np.int64),
        delay=repeated(0, count, np.int64),
        reads_state=repeated(False, count, np.bool_),
        initial=repeated(0.0, count, np.float64),
    )
