"""The refusal of a network that a library cannot compute: every reason, with its neurons."""

from collections.abc import Iterable, Mapping

from neat_onnx.errors import NetworkError, printable
from neat_onnx.network.network import Network

_MOST_NAMED = 4


def cannot_say(
    net: Network, title: str, problems: Mapping[str, Iterable[int]], hint: str | None = None
) -> NetworkError:
    """Return the error that lists every reason, each with its first neurons.

    Args:
        net: the network.
        title: the library's name for people.
        problems: the reasons, each with the positions of its neurons.
        hint: the way out, if there is one.
    """
    reasons = []
    for what, found in problems.items():
        neurons = list(dict.fromkeys(found))
        labels = ", ".join(net.label(neuron) for neuron in neurons[:_MOST_NAMED])
        more = f" and {len(neurons) - _MOST_NAMED} more" if len(neurons) > _MOST_NAMED else ""
        reasons.append(printable(f"{what} ({labels}{more})" if neurons else what))
    if len(reasons) > 1:
        error = NetworkError(f"{title} cannot say this network", hint=hint)
        error.obstacles = tuple(reasons)
        return error
    first = next((neuron for found in problems.values() for neuron in found), None)
    where = None if first is None else net.label(first)
    return NetworkError(f"{title} cannot say {reasons[0]}", where=where, hint=hint)
