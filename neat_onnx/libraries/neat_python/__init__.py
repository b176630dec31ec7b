"""neat-python: feed-forward, recurrent, continuous-time and spiking networks."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (readers are imported when a file asks for them)


class NeatPython(Library):
    """Networks exported as JSON, and live ones."""

    name = "neat-python"
    keys = "network_type, topology, nodes, connections"
    options = frozenset({"time_step", "advance_time"})

    def recognises(self, content: object) -> bool:
        """It is a document with a network_type, or an object of a class of neat-python."""
        if isinstance(content, Mapping):
            return "network_type" in content
        return any(kind.__module__.partition(".")[0] == "neat" for kind in type(content).__mro__)

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network, as neat-python evaluates it.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the times are missing or wrong.
        """
        from neat_onnx.libraries.neat_python import live
        from neat_onnx.libraries.neat_python.kinds import read
        from neat_onnx.libraries.neat_python.times import Times

        document = content if isinstance(content, Mapping) else live.to_document(content)
        return read(document, Times(options.time_step, options.advance_time))
