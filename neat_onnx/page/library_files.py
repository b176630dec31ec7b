"""Files of libraries on the page: a member of a population, and networks written for a library."""

import io
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import neat_onnx
from neat_onnx.errors import DocumentError, NeatOnnxWarning, NetworkError
from neat_onnx.files import unpacked
from neat_onnx.libraries.load import picked as one_of
from neat_onnx.libraries.neat_python.pickled import unpickled
from neat_onnx.libraries.registry import writer_named
from neat_onnx.network.network import Network

_OWN = "neat-onnx"  # its file is a download of its own
_EVOLVES = ".pkl"  # beside the usual ending, where a library writes it
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of files in an archive: the same network gives the same bytes
_MAX_LISTED = 1000  # members of a population that a list shows


class Picked(NamedTuple):
    """One network of a source, its id if it is one of several, and facts of all, the best first."""

    net: Network
    genome: int | None
    members: list[dict[str, int]]


def picked(source: Any, genome: int | None = None, **options: Any) -> Picked:
    """Return one network of a source: of a population the one asked for, or else the best.

    Args:
        source: any form that `neat_onnx.load_networks` reads.
        genome: the id of the network, or None.
        options: the others of `neat_onnx.load_networks`.

    Raises:
        DocumentError, NetworkError: as `load_networks` does, or there is no network at all.
        OptionError: as `load_networks` does, or there is no genome of that id.
    """
    nets = neat_onnx.load_networks(source, **options)
    if not nets:
        raise DocumentError("there is no network in this population")
    wanted = next(iter(nets)) if genome is None else genome
    net = one_of(nets, wanted)
    if len(nets) == 1:
        return Picked(net, None, [])
    members = [
        {"id": id, "neurons": len(net), "connections": len(net.connections)}
        for id, net in list(nets.items())[:_MAX_LISTED]
    ]
    return Picked(net, wanted, members)


def choices() -> list[dict[str, str]]:
    """Return `library`, `title` and `suffix` of every file that networks are written as."""
    found = []
    for library in neat_onnx.libraries():
        if not library.writes or library.name == _OWN:
            continue
        endings = [library.suffixes[0], *(end for end in library.suffixes[1:] if end == _EVOLVES)]
        title = library.title or library.name
        for end in endings:
            both = " (pickle and configuration)" if end == _EVOLVES else ""
            found.append({"library": library.name, "title": title + both, "suffix": end})
    return sorted(found, key=lambda choice: choice["title"].lower())


def writable(net: Network) -> list[dict[str, str | None]]:
    """Return every choice for a network, its own library first, then those that can hold it.

    `reason` says why a library cannot; None if it can.
    """
    found, reasons = [], dict[str, str | None]()
    for choice in choices():
        name = choice["library"]
        if name not in reasons:
            reasons[name] = _reason(net, name, f"network{choice['suffix']}")
        found.append({**choice, "reason": reasons[name]})

    def rank(each: dict[str, Any]) -> tuple[bool, bool, str]:
        own = each["title"].partition(" (")[0].lower() in net.library.lower()
        return each["reason"] is not None, not own, each["title"].lower()

    return sorted(found, key=rank)


def _reason(net: Network, library: str, name: str) -> str | None:
    """Return why a network cannot be written for a library; None if it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            writer_named(library).files(net, name)
    except NetworkError as error:
        first, *_ = [*error.first_obstacles, error.message]
        return first.partition(". ")[0]
    return None


def facts_of(data: bytes) -> dict[str, float | None]:
    """Return the `generation`, `size`, best `fitness` and number of `species` of a checkpoint.

    All are None for another file: opening it says more.
    """
    facts: dict[str, float | None] = dict.fromkeys(("generation", "size", "fitness", "species"))
    try:
        found = unpickled(unpacked(data))
    except DocumentError:
        return facts
    if not (isinstance(found, tuple) and len(found) > 3 and isinstance(found[2], Mapping)):
        return facts
    generation, _, genomes, population = found[:4]
    known = [getattr(one, "fitness", None) for one in genomes.values()]
    species = getattr(population, "species", None)
    facts |= {"generation": generation if isinstance(generation, int) else None}
    facts |= {"species": len(species) if isinstance(species, Mapping) else None}
    fitness = max((float(one) for one in known if isinstance(one, int | float)), default=None)
    return facts | {"size": len(genomes), "fitness": fitness}


def written(net: Network, library: str, name: str) -> tuple[str, bytes, list[str]]:
    """Return the file of a network for a library; several are packed into a ZIP archive.

    Args:
        net: the network.
        library: its name.
        name: the name of the file.

    Returns:
        The name and the bytes of the file, and the warnings.

    Raises:
        NetworkError: the library cannot compute the network; every reason, with its neurons.
        OptionError: there is no such library.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NeatOnnxWarning)
        files = writer_named(library).files(net, name)
    texts = remarks_of(caught)
    if len(files) == 1:
        return *next(iter(files.items())), texts
    return f"{name.rpartition('.')[0]}.zip", _archive(files), texts


def _archive(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), data)
    return target.getvalue()


def remarks_of(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the texts of warnings; the module of their words is imported for them alone."""
    if not caught:
        return []
    from neat_onnx.page.wording import remarks  # noqa: PLC0415 - seldom needed

    return remarks(caught)
