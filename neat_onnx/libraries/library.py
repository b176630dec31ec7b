"""The protocol of a library: which sources are its own, and how they are read and written."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neat_onnx.arguments import is_number, is_whole, shown
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.network.network import Network

BEST = "best"
"""The id that stands for the fittest network of a population."""


@dataclass(frozen=True)
class ReadOptions:
    """Facts about a source that the source itself does not hold; None where the caller gave none.

    Attributes:
        config: the configuration of neat-python: a path, INI text, bytes, or a live Config.
        genome: the id of one network of a population, or `BEST`.
        time_step, advance_time: of ctrnn and iznn networks; see `load_network`.
        initial_gain: the gain of a gated connection before its gater was first computed.
        inputs, outputs: how many there are, where the file does not tell it.
        cycles: how often the network is updated in a step, where the file does not tell it.
        version: of the library that wrote the file, where the file does not tell it.
        max_opcodes: how many values and operations a pickle may have; by its size if None.
    """

    config: object = None
    genome: int | str | None = None
    time_step: float | None = None
    advance_time: float | None = None
    initial_gain: float | None = None
    inputs: int | None = None
    outputs: int | None = None
    cycles: int | None = None
    version: str | None = None
    max_opcodes: int | None = None

    def __post_init__(self) -> None:
        is_best = isinstance(self.genome, str) and self.genome == BEST
        if not (self.genome is None or is_best or is_whole(self.genome)):
            hint = "Ids are integers; 'best' is the fittest"
            what = f"there is no genome {shown(self.genome)}"
            raise OptionError(what, where="genome", hint=hint)
        for name in ("inputs", "outputs", "cycles", "max_opcodes"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and value > 0):
                what = f"{name} is {shown(value)}, expected a positive integer"
                raise OptionError(what, where=name)
        gain = self.initial_gain
        if gain is not None and not (is_number(gain) and math.isfinite(gain)):
            raise OptionError(f"{shown(gain)} is not a finite number", where="initial_gain")


class Library:
    """A library of neural networks. Subclass it, and give an instance to `register_library`.

    Listing a library is cheap: import the modules that read and write inside the methods.

    The *content* of a source is a parsed JSON value (an object or array), a `str` for any other
    text, `bytes` for a file that is not text, or a live Python object.

    Attributes:
        name: its name in `Network.save(library=…)` and `--to`; lower case.
        title: the name for people; the name if empty.
        keys: the top-level keys or the form of its files, for the message when nobody recognises
            a source.
        suffixes: endings of its files, the usual one first.
        options: the fields of `ReadOptions` that `read` and `read_all` understand; any other one
            that a caller gives is refused.
        lost: the parts of a network that a written file cannot hold, for the table of libraries.
    """

    name: str = ""
    title: str = ""
    keys: str = ""
    suffixes: tuple[str, ...] = (".json",)
    options: frozenset[str] = frozenset()
    lost: str = ""

    def recognises(self, content: object) -> bool:
        """Return whether the content is this library's: quickly, and also if it is broken."""
        raise NotImplementedError

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that the content describes.

        Raises:
            NetworkError: it does not describe a network; says where.
            OptionError: an option is missing or wrong.
        """
        raise NotImplementedError

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return all networks of a population by their ids, the best first.

        Where `options.genome` is given, the others may be left out. A source that holds a single
        network is a population of one, with the id 0.

        Raises:
            NetworkError: one of them is not a network; says where.
            OptionError: an option is missing or wrong.
        """
        return {0: self.read(content, options)}

    def write(self, network: Network) -> Any:
        """Return the library's document of a network: a JSON value, text (`str`) or `bytes`.

        Raises:
            NetworkError: the library cannot compute the network; names the neurons, with every
                reason.
        """
        raise NotImplementedError

    def files(self, network: Network, name: str, **facts: Any) -> dict[str, bytes]:
        """Return the files to write for a network, by name; one, unless the library needs more.

        Args:
            network: the network.
            name: the file name that the user asked for.
            facts: those that the caller gives; the files of most libraries need none.

        Raises:
            NetworkError: as `write` does.
            OptionError: a fact is given for which there is no use.
        """
        for fact in facts:
            raise OptionError(
                f"{fact} is not for {name}", where=fact, hint="It is for .pkl files of neat-python"
            )
        return {name: encoded(self.write(network))}

    def wrote(self, network: Network) -> bool:
        """Return whether a network was read from a file of this library."""
        return network.library.split(" ")[0] in (self.name, self.title)

    @property
    def reads(self) -> bool:
        """Whether this library's files are read."""
        return type(self).read is not Library.read

    @property
    def writes(self) -> bool:
        """Whether networks are written for this library."""
        return type(self).write is not Library.write

    def __repr__(self) -> str:
        """Return the name and the directions."""
        verbs = [verb for verb in ("reads", "writes") if getattr(self, verb)]
        return f"<library {self.name}: {', '.join(verbs)}>"


def no_genome(genome: object, ids: Iterable[int]) -> OptionError:
    """Return the error of a population that lacks an id; its hint lists those that there are."""
    known = list(ids)
    listed = ", ".join(map(str, known[:20])) + (", …" if len(known) > 20 else "")
    return OptionError(f"there is no genome {genome}", where="genome", hint=f"Found: {listed}")


def encoded(document: Any) -> bytes:
    """Return the bytes of a file that holds a document: a JSON value, text or bytes."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, str):
        return document.encode()
    try:
        return (json.dumps(document, allow_nan=False) + "\n").encode()
    except ValueError as error:
        raise NetworkError(f"JSON cannot hold the network: {error}") from error
