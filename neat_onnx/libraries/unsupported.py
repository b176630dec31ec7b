"""The refusal of a network that a library cannot compute: every reason, with its neurons."""

from collections.abc import Iterable, Mapping

from neat_onnx.errors import NetworkError, abridged, printable
from neat_onnx.network.network import Network

_MAX_NEURONS_NAMED = 4


def cannot_hold(
    net: Network, title: str, problems: Mapping[str, Iterable[int]], hint: str | None = None
) -> NetworkError:
    """Return the error that lists every reason, each with its first neurons.

    Args:
        net: the network.
        title: the library's name for people.
        problems: the reasons, each with the positions of its neurons.
        hint: the way out, if there is one.
    """
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
