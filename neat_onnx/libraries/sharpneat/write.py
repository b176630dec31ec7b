"""Write networks as SharpNEAT's network files (version 4).

A node has no bias. Where the activation is 0.5 at 0 (a logistic function), an added node that reads
an input with the weight 0 is that constant, and biases are its connections.
"""

from collections import defaultdict

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import Limits, Reasons, reasons_against, tell_disabled
from neat_onnx.libraries.names import reversed_names
from neat_onnx.libraries.reachability import reached
from neat_onnx.libraries.sharpneat.names import ACTIVATION_NAMES
from neat_onnx.network.activations import activation_named
from neat_onnx.network.network import Network

_TITLE = "SharpNEAT"
_NAMES = reversed_names(ACTIVATION_NAMES)
_LIMITS = Limits(_TITLE, _NAMES, repeated=True, memory=True)
_HINT = "SharpNEAT's bias is an input that is always 1"


def write(net: Network) -> str:
    """Return the text of a network file.

    Raises:
        NetworkError: SharpNEAT cannot express something; lists every reason with neurons.
    """
    common = str(net.activation_names[net.output_neurons[0]])
    needs_bias = bool(np.any(net.neurons.bias[~net.is_input] != 0.0))
    reasons = reasons_against(net, _LIMITS)
    _check(reasons, common, needs_bias)
    reasons.refuse(_HINT if any("bias" in what for what in reasons.found) else None)
    tell_disabled(net, _TITLE)
    number = _numbers(net)
    live = net.live
    lines = [
        f"{number[i]}\t{number[j]}\t{weight!r}"
        for i, j, weight in zip(
            live.source.tolist(), live.target.tolist(), live.weight.tolist(), strict=True
        )
    ]
    if needs_bias:
        warn(f"written for {_TITLE}: an added node of value 0.5 gives neurons their biases")
        lines += _bias_lines(net, number)
    form = "cyclic\t1" if net.has_memory else "acyclic"
    sections = [
        f"{len(net.input_neurons)}\t{len(net.output_neurons)}",
        form,
        "\n".join(lines) or "# none",
        f"0\t{_NAMES[common]}",
    ]
    return "\n\n".join(sections) + "\n"


def _numbers(net: Network) -> dict[int, int]:
    """SharpNEAT's ids: inputs, outputs, then the others."""
    outside = [*net.input_neurons.tolist(), *net.output_neurons.tolist()]
    known = set(outside)
    order = [*outside, *(j for j in range(len(net)) if j not in known)]
    return {neuron: number for number, neuron in enumerate(order)}


def _bias_lines(net: Network, number: dict[int, int]) -> list[str]:
    node = len(number)
    biases = [(number[j], 2.0 * float(net.neurons.bias[j])) for j in range(len(net))]
    used = [(target, weight) for target, weight in biases if weight and target >= _inputs(net)]
    return [f"0\t{node}\t0.0", *(f"{node}\t{target}\t{weight!r}" for target, weight in used)]


def _inputs(net: Network) -> int:
    return len(net.input_neurons)


def _check(reasons: Reasons, common: str, needs_bias: bool) -> None:
    """Note the limits that SharpNEAT has beside the usual ones."""
    net, computes = reasons.net, ~reasons.net.is_input
    other = computes & (net.activation_names != common)
    reasons.neurons(f"another activation than {common}, which its outputs have,", other)
    if needs_bias:
        zero = np.zeros(1)
        half = common in _NAMES and float(activation_named(common)(zero)[0]) == 0.5
        if not half or not _inputs(net) or net.has_memory:
            reasons.neurons("a bias", computes & (net.neurons.bias != 0.0))
    if not net.has_memory:
        _check_silent(reasons, needs_bias)


def _check_silent(reasons: Reasons, needs_bias: bool) -> None:
    """Note neurons that SharpNEAT reads as 0: acyclic networks are pushed from the inputs."""
    net, live = reasons.net, reasons.net.live
    biased = ~net.is_input & (net.neurons.bias != 0.0)
    leads: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(live.source.tolist(), live.target.tolist(), strict=True):
        leads[source].append(target)
    start = net.is_input | biased if needs_bias else net.is_input
    found = reached(np.flatnonzero(start).tolist(), leads)
    neurons = np.arange(len(net))
    sending = np.isin(neurons, live.source)
    reasons.neurons("a neuron that no input leads to", sending & ~np.isin(neurons, [*found]))
    if not needs_bias and not np.any(net.is_input[live.source]):
        value = np.array([float(activation_named(n)(np.zeros(1))[0]) for n in net.activation_names])
        reasons.neurons("an output that is not 0 without inputs", ~net.is_input & (value != 0.0))
