"""Networks that are updated several times in each step, while their inputs stay.

Update s = 1 … k of step t is update t · k + s of the network that is updated once: each neuron has
a copy for each update, and a connection that reads d updates ago reads the copy s − d, of this step
or of an earlier one. pureples runs recurrent networks of neat-python so.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.pruning import pruned

_MOST_NEURONS = 1 << 20


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
    edges = [_update(live, place, s, net.is_input) for s in range(times)]
    columns = {
        name: np.concatenate([each[name] for each in edges])
        for name in ("source", "target", "delay", "gater", "gate_delay")
    }
    others = {
        name: np.tile(getattr(live, name), times)
        for name in ("weight", "enabled", "reads_state", "initial_gain")
    }
    genes = net.neurons
    fresh = int(genes.id.max()) + 1 + np.arange(len(copies) - len(net))
    numbers: dict[str, Any] = {
        name: getattr(genes, name)[copies]
        for name in ("activation", "aggregation", "bias", "response", "initial")
    }
    neurons = Neurons(
        id=np.concatenate([genes.id, fresh]),
        name=(*genes.name, *[""] * len(fresh)) if genes.name else (),
        spelling=tuple(net.spellings[j] for j in copies.tolist()) if genes.spelling else (),
        **numbers,
    )
    whole = replace(
        net,
        neurons=neurons,
        connections=Connections(**columns, **others),
        blocks=(),
        memory=(),
        source=None,
    )
    return pruned(whole, 0.0)


def _update(live: Connections, place: Ints, update: int, is_input: Bools) -> dict[str, Ints]:
    """Return the ends and the delays of the connections of one update, counted from 0."""
    source, delay = _read(live.source, live.delay, place, update, is_input)
    gated = live.gater != NONE
    gater, gate_delay = live.gater.copy(), live.gate_delay.copy()
    gater[gated], gate_delay[gated] = _read(
        live.gater[gated], live.gate_delay[gated], place, update, is_input
    )
    return {
        "source": source,
        "target": place[update, live.target],
        "delay": delay,
        "gater": gater,
        "gate_delay": gate_delay,
    }


def _read(
    neuron: Ints, delay: Ints, place: Ints, update: int, is_input: Bools
) -> tuple[Ints, Ints]:
    """Return the copies, and their delays in steps, of the values so many updates ago."""
    steps, at = np.divmod(update - delay, len(place))
    return place[np.where(is_input[neuron], -1, at), neuron], -steps
