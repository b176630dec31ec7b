"""The limits of libraries that know nodes and weighted connections, checked before writing."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from neat_onnx.errors import NetworkError, abridged, printable, warn
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools, Ints, marked
from neat_onnx.network.network import Network

_MAX_NEURONS_NAMED = 4


@dataclass
class Reasons:
    """The reasons why a library cannot express a network, with the neurons of each."""

    net: Network
    title: str
    found: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def neurons(self, what: str, which: Bools) -> None:
        """Note a reason where any neuron of a mask, (n,), has it."""
        if np.any(which):
            self.found[what] = np.flatnonzero(which).tolist()

    def connections(self, what: str, which: Bools) -> None:
        """Note a reason where any live connection of a mask has it, by their targets."""
        self.neurons(what, marked(len(self.net), self.net.live.target[which]))

    def refuse(self, hint: str | None = None) -> None:
        """Refuse the network if there is a reason: every one, each with its first neurons."""
        places = {
            what: abridged(map(self.net.label, dict.fromkeys(found)), _MAX_NEURONS_NAMED)
            for what, found in self.found.items()
        }
        if len(places) == 1:
            [(what, labels)] = places.items()
            raise NetworkError(f"{self.title} cannot hold {what}", where=labels or None, hint=hint)
        if places:
            error = NetworkError(f"{self.title} cannot hold this network", hint=hint)
            error.obstacles = tuple(
                printable(f"{what} ({labels})" if labels else what)
                for what, labels in places.items()
            )
            raise error


def reasons_against(
    net: Network, title: str, activations: Collection[str], *, repeated: bool = True
) -> Reasons:
    """Return the reasons why a library of weighted sums cannot express a network.

    The library knows no memory, and one activation for all neurons.

    Args:
        net: the network.
        title: the library's name for people.
        activations: those that the library has, by our names.
        repeated: whether two connections may have the same ends.
    """
    reasons = Reasons(net, title)
    computes, live = ~net.is_input, net.live
    for name in dict.fromkeys(net.activation_names[computes]):
        if name not in activations:
            reasons.neurons(f"the activation {name}", computes & (net.activation_names == name))
    for name in dict.fromkeys(net.aggregation_names[computes]):
        if name != "sum":
            here = computes & (net.aggregation_names == name)
            empty = aggregation_named(name).empty == 0.0  # of nothing it is the sum
            reasons.neurons(f"the aggregation {name}", here & ((net.fan_in > 0) | (not empty)))
    reasons.neurons("a response", computes & (net.neurons.response != 1.0))
    from_input = net.is_input[live.source]
    reasons.connections("a gated connection", live.gater != NONE)
    reasons.connections("a connection that reads the state", live.reads_state & ~from_input)
    reasons.connections("a delayed input", from_input & (live.delay > 0))
    reasons.connections("a delay", ~from_input & (live.delay > 0))
    if not repeated:
        again = ~firsts(live.source, live.target)
        reasons.connections("two connections with the same ends", again)
    count = np.bincount(net.output_neurons, minlength=len(net))
    reasons.neurons("an output that is an input", (count > 0) & net.is_input)
    reasons.neurons("a neuron that is several outputs", count > 1)
    common = net.activation_names[net.output_neurons[0]]
    other = computes & (net.activation_names != common)
    reasons.neurons(f"another activation than {common}, which its outputs have,", other)
    return reasons


def firsts(source: Ints, target: Ints) -> Bools:
    """Return which connections are the first between their two ends, shape (m,)."""
    ends = target * (1 + source.max(initial=0)) + source
    return marked(len(source), np.unique(ends, return_index=True)[1])


def tell_disabled(net: Network, title: str) -> None:
    """Warn that disabled genes are left out, if there are any."""
    if len(net.live) < len(net.connections):
        warn(f"written for {title}: disabled connections are left out")
