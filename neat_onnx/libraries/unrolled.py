"""Networks that take several sub-steps within one step: their neurons, copied for each of them.

A reader adds computations neuron by neuron; `Genes` gathers it and makes it a Network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from neat_onnx.network.network import Network

Value = tuple[int, int]
"""What a connection reads: the id of a neuron, and the delay in steps."""

_KEY_LIMIT = 2**52  # fresh ids go on from the keys below it


class Genes:
    """Neurons and connections on their way to be a Network.

    Args:
        taken: the ids of the library's own nodes, which no helper may have.
    """

    def __init__(self, taken: Iterable[int]) -> None:
        known = set(taken)
        first = max((key for key in known if 0 <= key < _KEY_LIMIT), default=-1) + 1
        self._fresh = (key for key in count(first) if key not in known)
        self._neurons: list[dict[str, Any]] = []
        self._connections: list[dict[str, Any]] = []

    def fresh_id(self) -> int:
        """An id that nobody has."""
        return next(self._fresh)

    def neuron(self, key: int, name: str, reads: Iterable[tuple[Value, float]], **gene: Any) -> int:
        """Add a neuron, and a connection from each (value, weight) that it reads.

        Args:
            key: its id.
            name: for people; may be empty.
            gene: `activation`, `bias`, …, where they are not plain.

        Returns:
            Its id.
        """
        self._neurons.append({"id": key, "name": name, **gene})
        for value, weight in reads:
            self.connect(value, key, weight)
        return key

    def helper(self, name: str, reads: Iterable[tuple[Value, float]], **gene: Any) -> int:
        """Add a neuron that no node of the library is; see `neuron`."""
        return self.neuron(self.fresh_id(), name, reads, **gene)

    def connect(self, value: Value, target: int, weight: float, **gene: Any) -> None:
        """Add a connection that reads `value`."""
        source, delay = value
        self._connections.append(
            {"source": source, "target": target, "weight": weight, "delay": delay, **gene}
        )

    def network(self, inputs: Sequence[int], outputs: Sequence[int], library: str) -> Network:
        """The genes as a Network with these input and output neurons."""
        built = Network.build(
            inputs=inputs, outputs=outputs, neurons=self._neurons, connections=self._connections
        )
        return replace(built, library=library)
