"""Which neurons may overflow although what they read is moderate.

A dense matrix product multiplies the weight 0 of a missing connection with the value at its other
end, and 0 · ∞ is NaN. So values that may overflow (a cube, an exponential, 1/z) must not be padded
over: whoever builds a matrix asks here which they are.
"""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools
from neat_onnx.network.schedule import Schedule
from neat_onnx.network.structure import Structure


def overflowing(net: Structure, plan: Schedule) -> Bools:
    """Whether each neuron's activation may overflow on moderate inputs, shape (n,)."""
    activations = [activation_named(name) for name in net.activations]
    bounded = np.array([f.bounded for f in activations])[net.neurons.activation]
    tame = np.array([f.tame for f in activations])[net.neurons.activation]
    linear = np.array([aggregation_named(name).linear for name in net.aggregations])
    selects = np.array([name in _SELECTING for name in net.aggregations])
    multiplies = ~(linear | selects)[net.neurons.aggregation]
    if bool(np.all(tame | net.is_input)) and not np.any(multiplies) and np.all(net.live.gater < 0):
        return np.zeros(len(net), np.bool_)
    wild = ~tame & ~net.is_input
    return _spread(net, plan, wild, bounded | net.is_input, multiplies)


_SELECTING = frozenset({"max", "min", "maxabs", "median"})


def _spread(
    net: Structure, plan: Schedule, wild: Bools, bounded: Bools, multiplies: Bools
) -> Bools:
    """Carry `wild` along the connections, level by level, up to neurons that are bounded."""
    live = net.live
    order = np.argsort(plan.level[live.target], kind="stable")
    starts = np.searchsorted(plan.level[live.target][order], np.arange(len(plan.levels) + 1))
    inputs = np.bincount(live.target, minlength=len(net))
    for k in range(1, len(plan.levels)):
        edges = order[starts[k] : starts[k + 1]]
        source, target = live.source[edges], live.target[edges]
        product = multiplies[target] & (inputs[target] > 1)
        gater = live.gater[edges]
        tame = bounded[source] | bounded[gater]  # one factor of a gated value is bounded
        growing = (gater != NONE) & (wild[gater] | ~tame)
        risky = wild[source] | (product & ~bounded[source]) | growing
        wild[target[risky & ~bounded[target]]] = True
    return wild
