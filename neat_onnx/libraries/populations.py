"""Populations: arrays of networks, from `neat.export()` and NeatapticTS's `exportState()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network


class ExportedLibrary(Library):
    """A library whose populations are arrays of its network documents.

    A network's id is its position in the array; the exports hold no fitness.
    """

    options = frozenset({"genome", "initial_gain"})

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether a document is a network of this library, quickly."""
        raise NotImplementedError

    def read_network(self, document: Mapping[str, Any], options: ReadOptions) -> Network:
        """Return the network of one document.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: an option is wrong.
        """
        raise NotImplementedError

    def recognises(self, content: object) -> bool:
        """Return whether it is a network of this library, or a population that begins with one."""
        members = _members(content)
        first = content if members is None else members[0] if members else None
        return isinstance(first, Mapping) and self.recognises_network(first)

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that the library restores from a document.

        Raises:
            NetworkError: it is not a network, or a population; says where.
            OptionError: an option is wrong.
        """
        members = _members(content)
        if members is not None:
            raise NetworkError(
                f"this is a population of {len(members)} networks",
                hint="Ask for one of them, load_network(…, genome=0), or for all: load_networks",
            )
        return self.read_network(content, options)

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population by their positions, in its order.

        Raises:
            NetworkError: one of them is not a network; says which.
            OptionError: an option is wrong.
        """
        members = _members(content)
        if members is None:
            return {0: self.read_network(content, options)}
        wanted = range(len(members)) if options.genome is None else [options.genome]
        return {
            place: self._member(members[place], place, options)
            for place in wanted
            if 0 <= place < len(members)
        }

    def _member(self, document: Any, place: int, options: ReadOptions) -> Network:
        if not isinstance(document, Mapping):
            raise NetworkError("a member of the population is no object", where=f"[{place}]")
        try:
            return self.read_network(document, options)
        except NetworkError as error:
            where = f"[{place}]" + (f".{error.where}" if error.where else "")
            raise NetworkError(error.message, where=where, hint=error.hint) from None


def _members(content: object) -> list[Any] | None:
    """The documents of a population, or None for anything else."""
    if isinstance(content, Mapping) and "nodes" not in content:
        content = content.get("population")
    return content if isinstance(content, list) else None
