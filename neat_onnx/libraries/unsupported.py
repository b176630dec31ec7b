"""The refusal of a network that a library cannot compute: every reason, with its neurons."""

from collections.abc import Iterable, Mapping

from neat_onnx.errors import NetworkError
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
        reasons.append(f"{what} ({labels}{more})" if neurons else what)
    first = next((neuron for found in problems.values() for neuron in found), None)
    where = None if first is None else net.label(first)
    return NetworkError(f"{title} cannot say {'; '.join(reasons)}", where=where, hint=hint)
