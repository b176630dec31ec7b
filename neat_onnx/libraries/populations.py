"""The relatives of neataptic: `Network.toJSON()`, and populations as arrays of such documents.

Populations come from `neat.export()` and from NeatapticTS's `exportState()`.
"""

import math
from collections.abc import Mapping
from typing import Any

from neat_onnx.arguments import is_number
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.library import DocumentLibrary, ReadOptions, no_genome
from neat_onnx.network.network import Network


class ExportedLibrary(DocumentLibrary):
    """A library whose populations are arrays of its network documents.

    A network's id is its position in the array; the exports hold no fitness.
    """

    options = frozenset({"genome", "initial_gain"})

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether a document is a network of this library, quickly."""
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
                hint="Ask for one of them, genome=0 (--genome 0), or for all: load_networks",
            )
        return super().read(content, options)

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population by their positions, in its order.

        Raises:
            NetworkError: one of them is not a network; says which.
            OptionError: an option is wrong.
        """
        members = _members(content)
        if members is None:
            return {0: super().read(content, options)}
        places = range(len(members))
        if options.genome is None:
            return {place: self._member(members[place], place, options) for place in places}
        if not isinstance(options.genome, int) or options.genome not in places:
            raise no_genome(options.genome, places)  # the exports hold no fitness for a best one
        return {options.genome: self._member(members[options.genome], options.genome, options)}

    def _member(self, document: Any, place: int, options: ReadOptions) -> Network:
        if not isinstance(document, Mapping):
            raise NetworkError("a member of the population is no object", where=f"[{place}]")
        try:
            return super().read(document, options)
        except NetworkError as error:
            where = f"[{place}]" + (f".{error.where}" if error.where else "")
            raise NetworkError(error.message, where=where, hint=error.hint) from None


def _members(content: object) -> list[Any] | None:
    """The documents of a population, or None for anything else."""
    if isinstance(content, Mapping) and "nodes" not in content:
        content = content.get("population")
    return content if isinstance(content, list) else None


def initial_gain_of(options: ReadOptions) -> float:
    """Return the gain that gated connections start with, 0 if none is given.

    Raises:
        OptionError: it is not a finite number.
    """
    initial_gain = options.initial_gain
    if initial_gain is None:
        return 0.0
    if not is_number(initial_gain):
        raise OptionError(f"{initial_gain!r} is not a number", where="initial_gain")
    if not math.isfinite(initial_gain):
        raise OptionError(f"{initial_gain} is not a finite number", where="initial_gain")
    return float(initial_gain)
