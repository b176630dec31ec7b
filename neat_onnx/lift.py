"""Import: a Model to a Network. The core, which names no operator.

Constants and inputs are bound, then each node is lifted in order by the function registered for its
operator. At the end every signal that was settled becomes a neuron, or the activation of one.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting import INPUT, SETTLED, STATE, LiftingContext, Value, lift_node
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.wiring import require_wiring
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.network import Connections, Floats, Ints, Network, Neurons, Port, codes_of
from neat_onnx.operators.formula import known_activation
from neat_onnx.passes import drop_dead

BatchAxis = Literal["auto"] | None
_MOST_INPUTS = 1 << 24


@dataclass(frozen=True)
class Lifted:
    """What a graph computes, and where.

    Attributes:
        network: ids are positions; neurons in the order in which they were made.
        tensors: for each tensor that neurons could be found for, their positions, flat.
    """

    network: Network
    tensors: dict[str, Ints]


def lift(model: Model, batch_axis: BatchAxis = "auto") -> Lifted:
    """The network that a model's graph is, without a look at its metadata.

    Args:
        batch_axis: "auto" takes the first axis of every input for the batch; with None every axis
            is features.

    Raises:
        ModelError: the graph has something that neurons cannot compute; says which node.
    """
    require_wiring(model.graph)
    model = model.model_copy(update={"graph": drop_dead(model.graph)})
    ctx = LiftingContext(model)
    ctx.operands.update({tensor.name: tensor.values for tensor in model.graph.initializer})
    inputs = [_open(ctx, entry, batch_axis) for entry in model.graph.inputs]
    for node in model.graph.node:
        lift_node(ctx, node)
    outputs = [_close(ctx, entry) for entry in model.graph.outputs]
    resolved = _Resolution(ctx)
    network = resolved.network(
        tuple(Port(name, shape, resolved.neuron_of[signals]) for name, shape, signals in inputs),
        tuple(_port(resolved, entry, batch_axis) for entry in outputs),
    )
    return Lifted(network, resolved.tensors())


_Entry = tuple[str, tuple[int, ...], Ints]


def _open(ctx: LiftingContext, entry: ValueInfo, batch_axis: BatchAxis) -> _Entry:
    """Bind a graph input to fresh signals."""
    if entry.name in ctx.operands:
        raise ModelError(f"graph input '{entry.name}' is an initializer too", where="graph.inputs")
    sizes = entry.shape
    if sizes is None or (batch_axis == "auto" and not sizes):
        raise ModelError(f"graph input '{entry.name}' has no shape", where="graph.inputs")
    features = sizes[1:] if batch_axis == "auto" else sizes
    shape = tuple(size if isinstance(size, int) else -1 for size in features)
    if any(size < 1 for size in shape):
        raise ModelError(
            f"graph input '{entry.name}' has the shape {list(sizes)}",
            where="graph.inputs",
            hint="Every axis but the batch needs a fixed size of 1 or more",
        )
    count = int(np.prod(shape, dtype=object))
    if count > _MOST_INPUTS:
        raise ModelError(f"graph input '{entry.name}' has {count} elements", where="graph.inputs")
    signals = ctx.add_signals(count, INPUT)
    full = (1, *shape) if batch_axis == "auto" else shape
    ctx.operands[entry.name] = Value(signals.reshape(full))
    return entry.name, shape, signals


def _close(ctx: LiftingContext, entry: ValueInfo) -> _Entry:
    """Settle a graph output."""
    value = ctx.operands.get(entry.name)
    if value is None:
        raise ModelError(
            f"graph output '{entry.name}' is produced by no node", where="graph.outputs"
        )
    if not isinstance(value, Value):
        raise ModelError(f"graph output '{entry.name}' depends on no input", where="graph.outputs")
    signals = ctx.settle(value)
    return entry.name, signals.shape, signals.ravel()


def _port(resolved: "_Resolution", entry: _Entry, batch_axis: BatchAxis) -> Port:
    name, shape, signals = entry
    if batch_axis == "auto" and (not shape or shape[0] != 1):
        raise ModelError(
            f"the first axis of output '{name}' is not the batch",
            where="graph.outputs",
            hint="Import with batch_axis=None to take every axis for features",
        )
    return Port(name, shape[1:] if batch_axis == "auto" else shape, resolved.neuron_of[signals])


class _Resolution:
    """Signals to neurons, once all nodes are lifted.

    A state whose settled signals all have one formula is a neuron with that activation. If there
    are several, the state is a neuron of its own, which a neuron for each formula reads. A formula
    of what is settled already is a neuron that reads it.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        self._ctx = ctx
        is_neuron = ctx.kind != SETTLED
        self.neuron_of = np.where(is_neuron, np.cumsum(is_neuron) - 1, -1)
        self._made = int(is_neuron.sum())
        self._activation = [VARIABLE] * self._made
        self._extra: list[tuple[int, int]] = []  # (source, target) of connections of weight 1
        self._known: dict[tuple[int, int], int] = {}  # (origin, formula) to its neuron
        several = self._origins_with_several_formulas()
        for signal in np.flatnonzero(ctx.kind == SETTLED).tolist():
            origin, formula = int(ctx.origin[signal]), int(ctx.formula_of[signal])
            if (origin, formula) not in self._known:
                self._known[origin, formula] = self._neuron(origin, formula, origin in several)
            self.neuron_of[signal] = self._known[origin, formula]

    def _origins_with_several_formulas(self) -> set[int]:
        ctx = self._ctx
        settled = ctx.kind == SETTLED
        pairs = np.unique(np.stack([ctx.origin[settled], ctx.formula_of[settled]]), axis=1)
        origins, counts = np.unique(pairs[0], return_counts=True)
        return set(origins[counts > 1].tolist())

    def _neuron(self, origin: int, formula: int, shared: bool) -> int:
        source = int(self.neuron_of[origin])
        function = self._ctx.formulas[formula]
        if function == VARIABLE:
            return source
        if self._ctx.kind[origin] == STATE and not shared:
            self._activation[source] = function
            return source
        self._activation.append(function)
        self._extra.append((source, self._made))
        self._made += 1
        return self._made - 1

    def tensors(self) -> dict[str, Ints]:
        found = {}
        for name, operand in self._ctx.operands.items():
            neurons = self._neurons_of(operand) if isinstance(operand, Value) else None
            if neurons is not None:
                found[name] = neurons
        return found

    def _neurons_of(self, value: Value) -> Ints | None:
        """The neurons whose activations are the elements, if each element is one's."""
        if id(value) in self._ctx.settled or value.plain:
            signals = self._ctx.settled.get(id(value), value.signals)
            return self.neuron_of[signals].ravel() if self._are_activations(signals) else None
        if value.weight is not None or value.reduced or value.formula not in self._ctx.formulas:
            return None
        formula = self._ctx.formulas.index(value.formula)  # settled after it was rearranged
        found = [self._known.get((origin, formula)) for origin in value.signals.ravel().tolist()]
        return None if None in found else np.array(found, np.int64)

    def _are_activations(self, signals: Ints) -> bool:
        """Whether the signals are what their neurons give: a state is, under the identity."""
        states = np.unique(signals[self._ctx.kind[signals] == STATE])
        return all(self._activation[neuron] == VARIABLE for neuron in self.neuron_of[states])

    def network(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Network:
        count = self._made
        bias, response = np.zeros(count), np.ones(count)
        names = ["sum"] * count
        for layer in self._ctx.layers:
            neurons = self.neuron_of[layer.states]
            bias[neurons], response[neurons] = layer.bias, layer.response
            for neuron, name in zip(neurons.tolist(), layer.aggregation, strict=True):
                names[neuron] = name
        activations, activation = codes_of(self._name_activations(bias, response))
        aggregations, aggregation = codes_of(names)
        return Network(
            inputs=inputs,
            outputs=outputs,
            neurons=Neurons(
                np.arange(count), activation, aggregation, bias, response, np.zeros(count)
            ),
            connections=self._connections(),
            activations=activations,
            aggregations=aggregations,
            library="ONNX",
        )

    def _name_activations(self, bias: Floats, response: Floats) -> list[str]:
        """The name of each neuron's activation.

        A formula may be known with another slope only: f(z) as g(c·z) for the g that is known. Then
        bias and response are divided by c, in place.
        """
        named: dict[Expression, tuple[str, float]] = {}
        for formula in set(self._activation):
            known = known_activation(formula, self._ctx.data_type)
            if known is None:
                raise ModelError(
                    f"the formula {formula} is no known activation",
                    hint="Register it with neat_onnx.register_activation",
                )
            named[formula] = known
        slope = np.array([named[formula][1] for formula in self._activation])
        bias /= slope
        response /= slope
        return [named[formula][0] for formula in self._activation]

    def _connections(self) -> Connections:
        links = self._ctx.links
        empty = np.empty(0, np.int64)
        extra = np.array(self._extra, np.int64).reshape(-1, 2)
        return Connections.of(
            np.concatenate(
                [self.neuron_of[np.concatenate([empty, *(k.source for k in links)])], extra[:, 0]]
            ),
            np.concatenate(
                [self.neuron_of[np.concatenate([empty, *(k.target for k in links)])], extra[:, 1]]
            ),
            np.concatenate([np.empty(0), *(k.weight for k in links), np.ones(len(extra))]),
        )
