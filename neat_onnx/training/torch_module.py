"""A network as a module of PyTorch, whose parameters are its genes.

    values    inputs | registers | one | activations and pre-activations read, level by level

One level is a few operations for all of its neurons, whatever their number: gather the values that
its connections read, multiply by weights and gains, add up, apply the activations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import PRIMITIVES, Expression
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import contributing, schedule
from neat_onnx.network.signals import Signals, signals_of

_NAMED = {
    op: getattr(torch, function.__name__)
    for op, function in PRIMITIVES.items()
    if isinstance(function, np.ufunc) and hasattr(torch, function.__name__)
}
"""Primitives that PyTorch has by the names of numpy."""
_FUNCTIONS: dict[str, Callable[..., Any]] = _NAMED | {
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    "softsign": lambda x: x / (1.0 + x.abs()),
    "elu": lambda x, alpha: torch.where(x > 0, x, alpha * torch.expm1(x.clamp(max=0.0))),
    "selu": lambda x, alpha, gamma: gamma * _FUNCTIONS["elu"](x, alpha),
    "leaky_relu": lambda x, slope: torch.where(x < 0, slope * x, x),
    "clip": torch.clamp,
    "equal": torch.eq,
    "erf": torch.erf,
    "pow": torch.pow,
    "round": torch.round,
    "total": lambda v: v.sum(-1),
    "product": lambda v: v.prod(-1),
    "largest": lambda v: v.amax(-1),
    "smallest": lambda v: v.amin(-1),
    "where_largest": lambda v: v.argmax(-1, keepdim=True),
    "pick": lambda v, index: v.take_along_dim(index, -1),
    "lowest": lambda v, count: v.sort(-1).values[..., : int(count)],
}


def computed(formula: Expression, x: Tensor) -> Tensor:
    """Apply a formula to pre-activations, or to weighted inputs along the last axis.

    A branch that `where` does not take is computed for 1 instead: an infinite slope there, as that
    of 1 / z at 0, would make the gradient NaN.
    """
    if formula.op == "variable":
        return x
    if formula.is_constant:
        return x.new_tensor(formula.value)
    if formula.op == "where":
        truth = computed(formula.args[0], x)
        branches = (torch.where(truth, x, 1.0), torch.where(truth, 1.0, x))
        if truth.shape != x.shape:  # of an aggregation
            branches = (x, x)
        taken, other = map(computed, formula.args[1:], branches)
        return torch.where(truth, taken, other)
    if formula.op == "number":
        return computed(formula.args[0], x).to(x.dtype)
    found: Tensor = _FUNCTIONS[formula.op](*[computed(arg, x) for arg in formula.args])
    return found


class _Group(nn.Module):  # type: ignore[misc]
    """Neurons of one level with one kind of aggregation.

    Args:
        net: the network.
        neurons: their positions, sorted by activation.
        place: positions of neurons among the biases, and of live connections among the weights.
        row: the column of each signal among the values.
        signals: of the network.
    """

    def __init__(
        self, net: Network, neurons: Ints, place: tuple[Ints, Ints], row: Ints, signals: Signals
    ) -> None:
        super().__init__()
        target, edges = net.edges_into(neurons)
        gain = signals.gain[edges]
        names, kind = net.aggregation_names[neurons], net.aggregation_names[neurons[0]]
        self._aggregation = aggregation_named(kind)
        self._is_gated = bool(np.any(gain != NONE))
        buffers = {
            "neurons": place[0][neurons],
            "edges": place[1][edges],
            "rows": row[signals.source[edges]],
            "gain": np.where(gain == NONE, row[NONE], row[gain]),
            "target": target,
            "read": np.flatnonzero(signals.pre_activation[neurons] != NONE),
        }
        for name, values in buffers.items():
            self.register_buffer(name, torch.from_numpy(values.copy()), persistent=False)
        divisor = np.where(names == "mean", np.maximum(net.fan_in[neurons], 1), 1)
        self.register_buffer("divisor", torch.from_numpy(divisor), persistent=False)
        self._functions = [(part, each.expression) for part, each in net.functions_of(neurons)]

    def forward(
        self, values: Tensor, weight: Tensor, bias: Tensor, response: Tensor
    ) -> list[Tensor]:
        """Return the activations, and the pre-activations that some connection reads."""
        count, size = len(values), len(self.neurons)
        terms = values[:, self.rows] * weight[self.edges]
        if self._is_gated:
            terms = terms * values[:, self.gain]
        if not len(self.rows):
            total = values.new_full((count, size), self._aggregation.empty)
        elif self._aggregation.linear:
            total = values.new_zeros(count, size).index_add(1, self.target, terms) / self.divisor
        else:
            inputs = terms.reshape(count, size, -1)
            total = computed(self._aggregation.expression(inputs.shape[-1]), inputs)
        z = bias[self.neurons] + response[self.neurons] * total
        parts = [computed(formula, z[:, part]) for part, formula in self._functions]
        return [torch.cat(parts, 1), z[:, self.read]]


class NetworkModule(nn.Module):  # type: ignore[misc]
    """A network whose weights, biases and responses are parameters, as far as they matter.

    `module(x)` is `Network.activate`: (N, I) to (N, O). With memory, `module(x, state)` is a step:
    it returns the outputs, and the state for the next one; without a state it starts anew.

    Attributes:
        network: as it was.
        weight: (connections,), of enabled connections on which an output depends.
        bias, response: (neurons,), of neurons that compute and on which an output depends.
    """

    def __init__(self, net: Network) -> None:
        super().__init__()
        self.network = net
        kept = contributing(net) & ~net.is_input
        enabled = np.flatnonzero(net.connections.enabled)
        acts = kept[net.connections.target[enabled]]
        self._neurons, self._connections = np.flatnonzero(kept), enabled[acts]
        self.weight = _parameter(net.connections.weight[self._connections])
        self.bias = _parameter(net.neurons.bias[self._neurons])
        self.response = _parameter(net.neurons.response[self._neurons])
        place = (np.cumsum(kept) - 1, np.cumsum(acts) - 1)
        signals = signals_of(net)
        registers, inputs = signals.registers, len(net.input_neurons)
        row = np.full(signals.count + 1, NONE, np.int64)  # the last is the one
        row[net.input_neurons] = np.arange(inputs)
        row[registers.signal] = inputs + np.arange(len(registers))
        row[NONE] = inputs + len(registers)
        count = int(row[NONE]) + 1
        self._levels = nn.ModuleList()
        for level in schedule(net).levels[1:]:
            groups = nn.ModuleList()
            for neurons in net.groups_of(level[kept[level]]):
                groups.append(_Group(net, neurons, place, row, signals))
                read = signals.pre_activation[neurons]
                for filled in (neurons, read[read != NONE]):
                    row[filled] = count + np.arange(len(filled))
                    count += len(filled)
            self._levels.append(groups)
        origin = row[registers.origin]
        origin = np.where(origin == NONE, row[registers.signal], origin)  # that no output reads
        for name, values in (("_outputs", row[net.output_neurons]), ("_origin", origin)):
            self.register_buffer(name, torch.from_numpy(values), persistent=False)
        initial = torch.from_numpy(registers.initial.copy())
        self.register_buffer("_initial", initial, persistent=False)

    def initial_state(self, n: int = 1) -> Tensor:
        """Return the state before the first step, (n, registers)."""
        return self._initial.expand(n, -1)

    def forward(self, x: Tensor, state: Tensor | None = None) -> Any:
        """Compute samples, or a step with memory; see the class."""
        held = self.initial_state(len(x)) if state is None else state
        values = torch.cat([x, held, x.new_ones(len(x), 1)], 1)
        for groups in self._levels:
            new = [
                part
                for group in groups
                for part in group(values, self.weight, self.bias, self.response)
            ]
            values = torch.cat([values, *new], 1)
        outputs = values[:, self._outputs]
        return (outputs, values[:, self._origin]) if self.network.has_memory else outputs

    def to_network(self) -> Network:
        """Return the network with the parameters as they are now; all else is as it was."""
        net, columns = self.network, {}
        for name, column, places in (
            ("weight", net.connections.weight, self._connections),
            ("bias", net.neurons.bias, self._neurons),
            ("response", net.neurons.response, self._neurons),
        ):
            columns[name] = column.copy()
            columns[name][places] = getattr(self, name).detach().cpu().double().numpy()
        return net.with_parameters(**columns)


def _parameter(values: Floats) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(values.copy()))
