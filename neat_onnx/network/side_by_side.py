"""Networks side by side, as one: a generation computes in as many array operations as a member.

Ports have the axis of members in front: x [P, I] and y [P, O]. Nothing is padded and nothing is
shared, so each member computes as it does alone, whatever its shape, its functions or its memory.

And networks that are updated several times in each step, while their inputs stay, as pureples runs
recurrent networks of neat-python. Update s = 1 … k of step t is update t · k + s of the network
that is updated once: each neuron has a copy for each update, and a connection that reads d updates
ago reads the copy s − d, of this step or of an earlier one.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons, codes_of
from neat_onnx.network.network import Network
from neat_onnx.network.pruning import copied, pruned
from neat_onnx.network.structure import Structure

_MOST_NEURONS = 1 << 20


def side_by_side(nets: Sequence[Structure]) -> Structure:
    """Return one network of all neurons and connections, member by member.

    Raises:
        NetworkError: there is none, or their ports differ.
    """
    if not nets:
        raise NetworkError("a population needs one network or more")
    ports = [[(port.name, port.shape) for port in (*net.inputs, *net.outputs)] for net in nets]
    for k, own in enumerate(ports):
        if own != ports[0]:
            raise NetworkError(
                f"its ports {own} differ from the first member's, {ports[0]}", where=f"member {k}"
            )
    first = np.cumsum([0, *map(len, nets)])
    activations, activation = codes_of([name for net in nets for name in net.activation_names])
    aggregations, aggregation = codes_of([name for net in nets for name in net.aggregation_names])
    numbers: dict[str, Any] = {
        name: np.concatenate([getattr(net.neurons, name) for net in nets])
        for name in ("bias", "response", "initial")
    }
    edges = {
        name: np.concatenate([getattr(net.connections, name) for net in nets])
        for name in vars(nets[0].connections)
    }
    moved = np.repeat(first[:-1], [len(net.connections) for net in nets])
    for name in ("source", "target", "gater"):
        edges[name] += np.where(edges[name] == NONE, 0, moved)
    inputs, outputs = (
        np.array([neurons + at for neurons, at in zip(sides, first, strict=False)])
        for sides in ([net.input_neurons for net in nets], [net.output_neurons for net in nets])
    )
    neurons = Neurons(np.arange(first[-1]), activation, aggregation, **numbers)
    tables = (neurons, activations, aggregations)
    return Structure.of_genes(inputs, outputs, tables, Connections(**edges))


def repeated(net: Network, times: int) -> Network:
    """Return the network whose step is `times` steps of `net` on the same inputs.

    Neurons of the last update keep their ids and names. Disabled connections are left out, and
    copies that no output depends on.

    Raises:
        OptionError: `times` is less than 1, or makes too many neurons.
    """
    if times < 1 or times * len(net) > _MOST_NEURONS:
        raise OptionError(f"{times} updates of {len(net)} neurons", where="cycles")
    if times == 1 or not net.has_memory:
        return net
    own = np.flatnonzero(~net.is_input)
    place = np.empty((times, len(net)), np.int64)  # of each copy; inputs have one, the last
    place[:] = np.arange(len(net))
    place[:-1, own] = len(net) + np.arange((times - 1) * len(own)).reshape(times - 1, -1)
    copies = np.concatenate([np.arange(len(net)), np.tile(own, times - 1)])
    live = net.live
    updates = np.arange(times)[:, None]
    source, delay = _read(live.source, live.delay, place, updates, net.is_input)
    gater, gate_delay = _read(live.gater, live.gate_delay, place, updates, net.is_input)
    gated = live.gater != NONE
    ends: dict[str, Any] = {
        "source": source,
        "target": place[:, live.target],
        "delay": delay,
        "gater": np.where(gated, gater, NONE),
        "gate_delay": np.where(gated, gate_delay, live.gate_delay),
    }
    edges = live.take(np.tile(np.arange(len(live)), times))
    genes, fresh = net.neurons, np.arange(len(copies) - len(net))
    whole = replace(
        net,
        neurons=replace(
            copied(genes, copies),
            id=np.concatenate([genes.id, genes.id.max() + 1 + fresh]),
            name=(*genes.name, *[""] * len(fresh)) if genes.name else (),
        ),
        connections=replace(edges, **{name: each.ravel() for name, each in ends.items()}),
        blocks=(),
        memory=(),
        source=None,
    )
    return pruned(whole, 0.0)


def _read(
    neuron: Ints, delay: Ints, place: Ints, updates: Ints, is_input: Bools
) -> tuple[Ints, Ints]:
    """Return the copies, and their delays in steps, of the values so many updates ago."""
    steps, at = np.divmod(updates - delay, len(place))
    return place[np.where(is_input[neuron], -1, at), neuron], -steps
