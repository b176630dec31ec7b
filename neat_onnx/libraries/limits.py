"""The limits of libraries that know nodes and weighted connections, checked before writing."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from neat_onnx.errors import NetworkError, abridged, printable, warn
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


@dataclass(frozen=True)
class Limits:
    """The part of a network that a library can express.

    Attributes:
        title: the library's name for people.
        activations: our names to the library's.
        aggregations: our names to the library's.
        biases, responses, repeated: whether neurons have a bias or a response, and whether two
            connections may have the same ends.
        memory: whether connections between neurons may have a delay: then all have the delay 1.
        copies_outputs: whether the writer adds a neuron for an output that cannot be one itself.
    """

    title: str
    activations: Mapping[str, str]
    aggregations: Collection[str] = ("sum",)
    biases: bool = True
    responses: bool = False
    repeated: bool = False
    memory: bool = False
    copies_outputs: bool = False


@dataclass
class Reasons:
    """The reasons why a library cannot express a network, with the neurons of each."""

    net: Network
    title: str
    found: dict[str, list[int]] = field(default_factory=dict)

    def neurons(self, what: str, which: Bools) -> None:
        """Note a reason where any neuron of a mask, (n,), has it."""
        if np.any(which):
            self.found[what] = np.flatnonzero(which).tolist()

    def connections(self, what: str, which: Bools) -> None:
        """Note a reason where any live connection of a mask has it, by their targets."""
        self.neurons(what, np.isin(np.arange(len(self.net)), self.net.live.target[which]))

    def refuse(self, hint: str | None = None) -> None:
        """Refuse the network if there is a reason."""
        if self.found:
            raise cannot_hold(self.net, self.title, self.found, hint)


def reasons_against(net: Network, limits: Limits) -> Reasons:
    """Return all reasons why a library cannot express a network, for more to be added.

    Also warns of disabled genes and names that will be left out.
    """
    reasons = Reasons(net, limits.title)
    computes = ~net.is_input
    fan_in = net.fan_in
    for name in dict.fromkeys(net.activation_names[computes]):
        if name not in limits.activations:
            reasons.neurons(f"the activation {name}", computes & (net.activation_names == name))
    for name in dict.fromkeys(net.aggregation_names[computes]):
        if name not in limits.aggregations:
            empty = aggregation_named(name).empty == 0.0
            here = computes & (net.aggregation_names == name) & ((fan_in > 0) | (not empty))
            reasons.neurons(f"the aggregation {name}", here)
    if not limits.responses:
        reasons.neurons("a response", computes & (net.neurons.response != 1.0))
    if not limits.biases:
        reasons.neurons("a bias", computes & (net.neurons.bias != 0.0))
    _check_connections(reasons, limits)
    if not limits.copies_outputs:
        _check_outputs(reasons)
    return reasons


def repeats_ends(net: Network) -> Bools:
    """Whether each live connection has the ends of an earlier one."""
    ends = net.live.target * len(net) + net.live.source
    repeated = np.ones(len(ends), np.bool_)
    repeated[np.unique(ends, return_index=True)[1]] = False
    return repeated


def _check_connections(reasons: Reasons, limits: Limits) -> None:
    net, live = reasons.net, reasons.net.live
    from_input = net.is_input[live.source]
    reasons.connections("a gated connection", live.gater != NONE)
    reasons.connections("a connection that reads the state", live.reads_state & ~from_input)
    reasons.connections("a delayed input", from_input & (live.delay > 0))
    if not limits.repeated:
        reasons.connections("two connections with the same ends", repeats_ends(net))
    between = ~from_input
    if limits.memory and np.any(live.delay[between] > 0):
        reasons.connections("a connection between neurons without a delay beside delayed ones",
                            between & (live.delay == 0))  # fmt: skip
        reasons.connections("a delay of more than one step", live.delay > 1)
        reasons.neurons("an initial value", ~net.is_input & (net.neurons.initial != 0.0))
    else:
        reasons.connections("a delay", between & (live.delay > 0))


def _check_outputs(reasons: Reasons) -> None:
    net = reasons.net
    count = np.bincount(net.output_neurons, minlength=len(net))
    reasons.neurons("an output that is an input", (count > 0) & net.is_input)
    reasons.neurons("a neuron that is several outputs", count > 1)


def outputs_to_copy(net: Network, unfit: Bools) -> list[bool]:
    """Return for each output whether it needs an added neuron, which reads it with weight 1.

    `unfit`, (n,), are neurons that cannot be outputs, beside inputs and those that are one already.
    """
    unfit = unfit | net.is_input
    seen: set[int] = set()
    copied = []
    for j in net.output_neurons.tolist():
        copied.append(bool(unfit[j]) or j in seen)
        seen.add(j)
    return copied


def tell_disabled(net: Network, title: str) -> None:
    """Warn that disabled genes are left out, if there are any."""
    if len(net.live) < len(net.connections):
        warn(f"written for {title}: disabled connections are left out")


def in_order(net: Network) -> list[int]:
    """Return the neurons that compute, each after those that it reads without a delay."""
    level = schedule(net).level
    return [j for j in np.argsort(level, kind="stable").tolist() if not net.is_input[j]]


_MAX_NEURONS_NAMED = 4


def cannot_hold(
    net: Network, title: str, problems: Mapping[str, Iterable[int]], hint: str | None = None
) -> NetworkError:
    """Return the error that lists every reason, each with its first neurons by position."""
    places = {what: _labels(net, found) for what, found in problems.items()}
    if len(places) == 1:
        [(what, labels)] = places.items()
        return NetworkError(f"{title} cannot hold {what}", where=labels or None, hint=hint)
    error = NetworkError(f"{title} cannot hold this network", hint=hint)
    error.obstacles = tuple(
        printable(f"{what} ({labels})" if labels else what) for what, labels in places.items()
    )
    return error


def _labels(net: Network, found: Iterable[int]) -> str:
    """The first neurons and the number of the others."""
    neurons = list(dict.fromkeys(found))
    return abridged(map(net.label, neurons), _MAX_NEURONS_NAMED)
