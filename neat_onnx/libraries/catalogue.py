"""The libraries of this package: how their files are recognised, and where they are read.

Reading and writing are modules of their own, imported when a file asks for them. neat-python, which
has more kinds of files than others, is listed in its own folder.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from neat_onnx.errors import NeatOnnxError, NetworkError, abridged
from neat_onnx.libraries.library import BEST, Library, ReadOptions, no_genome
from neat_onnx.network.network import Network
from neat_onnx.progress import tracked


class Own(Library):
    """neat-onnx's own network JSON, `Network.to_json()`, which holds everything; and Networks."""

    name = "neat-onnx"
    keys = "format, inputs, outputs, neurons, connections"
    lost = "nothing"

    def recognises(self, content: object) -> bool:
        """Its `format` is this one, or it has none, but neurons."""
        if not isinstance(content, Mapping):
            return isinstance(content, Network)
        return "neurons" in content if "format" not in content else content["format"] == self.name

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network, with the genes as they were saved."""
        return content if isinstance(content, Network) else Network.from_document(content)

    def write(self, network: Network) -> str:
        """Return the JSON text, one gene a line."""
        return network.to_json()


Members = Sequence[tuple[int, Callable[[], Network]]]
"""The networks of a file with their ids, each read when it is called."""


class DocumentLibrary(Library):
    """A library that a module reads and writes.

    The module has `write(network)` and, where files hold one network, `read(content, options)`;
    where they hold populations, `members(content, options)`.

    Attributes:
        module: its name in this folder.
        ranked: whether a population stands in the order of its fitness.
        writes: whether the module has `write`.
    """

    module = ""
    ranked = False
    writes = True

    def __init__(
        self, name: str, module: str, recognises: Callable[[Any], bool], **facts: Any
    ) -> None:
        self.name, self.module, self._recognises = name, module, recognises
        for fact, value in facts.items():
            setattr(self, fact, value)

    def recognises(self, content: object) -> bool:
        """Return whether the content is this library's; see `Library.recognises`."""
        return self._recognises(content)

    @property
    def document(self) -> Any:
        """The module."""
        return import_module(f"neat_onnx.libraries.{self.module}")

    def members(self, content: Any, options: ReadOptions) -> Members:
        """Return the networks of a file, the fittest first."""
        if hasattr(self.document, "members"):
            found: Members = self.document.members(content, options)
            return found
        return [(0, partial(self.document.read, content, options))]

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that the library evaluates; see `Library.read`."""
        found = self.members(content, options)
        if len(found) == 1:
            return found[0][1]()
        raise self.several(found)

    def several(self, found: Members) -> NeatOnnxError:
        """Return the error of a population of which one network is asked for."""
        ids = abridged((str(key) for key, _ in found), 20)
        return NetworkError(
            f"this is a population of {len(found)} networks",
            hint="Ask for one of them, genome=ID (--genome ID), or for all: load_networks. "
            f"Found: {ids}",
        )

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population by their ids; see `Library.read_all`."""
        members, wanted = self.members(content, options), options.genome
        found = dict(members)
        if len(found) < len(members):
            raise NetworkError("two networks of the population have one id")
        if wanted is None:
            return {key: read() for key, read in tracked(members)}
        if wanted == BEST and members and (self.ranked or len(members) == 1):
            wanted = members[0][0]
        if not isinstance(wanted, int) or wanted not in found:
            raise no_genome(wanted, found)
        return {wanted: found[wanted]()}

    def write(self, network: Network) -> Any:
        """Return the document that the library loads; see `Library.write`."""
        return self.document.write(network)


class ExportedLibrary(DocumentLibrary):
    """A relative of neataptic: `Network.toJSON()`, and populations as arrays of such documents.

    Populations come from `neat.export()` and from NeatapticTS's `exportState()`. A network's id is
    its position in the array; the exports hold no fitness.
    """

    options = frozenset({"genome", "initial_gain"})

    def recognises(self, content: object) -> bool:
        """Return whether it is a network of this library, or a population that begins with one."""
        members = _members(content)
        first = content if members is None else members[0] if members else None
        return isinstance(first, Mapping) and super().recognises(first)

    def members(self, content: Any, options: ReadOptions) -> Members:
        """Return the networks of an array; a document alone is one with the id 0."""
        members = _members(content)
        if members is None:
            return super().members(content, options)
        return [(at, partial(self._member, one, at, options)) for at, one in enumerate(members)]

    def _member(self, document: Any, place: int, options: ReadOptions) -> Network:
        if not isinstance(document, Mapping):
            raise NetworkError("a member of the population is no object", where=f"[{place}]")
        try:
            found: Network = self.document.read(document, options)
        except NetworkError as error:
            where = f"[{place}].{error.where or ''}".rstrip(".")
            raise NetworkError(error.message, where=where, hint=error.hint) from None
        return found


def _members(content: object) -> list[Any] | None:
    """The documents of a population, or None for anything else."""
    if isinstance(content, Mapping) and "nodes" not in content:
        content = content.get("population")
    return content if isinstance(content, list) else None


def _any_has(entries: Any, key: str) -> bool:
    """Whether it is a list of objects, one of which has a key."""
    return isinstance(entries, list) and any(
        isinstance(entry, Mapping) and key in entry for entry in entries
    )


def _is_of_neataptic(document: Mapping[str, Any]) -> bool:
    nodes = document.get("nodes")
    counts = "input" in document or "output" in document
    return isinstance(nodes, list) and (counts or _any_has(nodes, "squash"))


def _is_of_brain_js(content: Any) -> bool:
    if not isinstance(content, Mapping):
        return False
    layers = "layers" in content and not {"sizes", "inputLookup"}.isdisjoint(content)
    return layers or ("hiddenLayers" in content and "type" in content)


_SHARPNEAT = re.compile(r"\s*(#.*\s+)*\d+[ \t]+\d+[ \t]*\r?\n\s*(#.*\s+)*(a?cyclic)\b")
_GONEAT = re.compile(
    r"^(genomestart \d+|node -?\d+ -?\d+ [01] [0-3]\b|genome:\s*(#.*)?$)", re.MULTILINE
)


def _is_of_sharpneat(content: Any) -> bool:
    is_xml = isinstance(content, str) and "<Network" in content and "<Node" in content
    return is_xml or (isinstance(content, str) and bool(_SHARPNEAT.match(content[:4000])))


def _is_matrix(content: Any) -> bool:
    """Whether it is rows of numbers."""
    if not isinstance(content, str):
        return False
    head, _, rest = content.lstrip("\ufeff").partition("\n")
    is_row = all(c in "0123456789+-.eEnaNA, \t\r" for c in head)
    return is_row and head.count(",") >= 2 and bool(rest)


_WITH_NODES = "ids, names, disabled genes: left out; responses, delays: expressed by added "
SYNAPTIC = DocumentLibrary(
    "synaptic",
    "synaptic",
    lambda found: (
        isinstance(found, Mapping)
        and "connections" in found
        and _any_has(found.get("neurons"), "layer")
    ),
    keys="neurons, connections",
    lost=_WITH_NODES + "neurons",
)
"""Asked before neat-onnx, whose networks have neurons as well."""
OTHERS = (
    ExportedLibrary(
        "neataptic-ts",
        "neataptic_ts.document",
        lambda found: "formatVersion" in found or _any_has(found.get("nodes"), "geneId"),
        title="NeatapticTS",
        keys="formatVersion, nodes, connections",
        lost="names, responses, delays: expressed by added nodes; disabled self-connections: "
        "left out",
    ),
    ExportedLibrary(
        "carrot",
        "carrot",
        lambda found: "nodes" in found and ("input_nodes" in found or "input_size" in found),
        keys="input_nodes, output_nodes, nodes, connections",
        lost=_WITH_NODES + "nodes",
    ),
    ExportedLibrary(
        "neataptic",
        "neataptic",
        _is_of_neataptic,
        keys="input, output, nodes, connections",
        lost=_WITH_NODES + "nodes",
    ),
    DocumentLibrary(
        "brain.js",
        "brain_js",
        _is_of_brain_js,
        keys="sizes, layers, or inputLookup, layers",
        lost="float32 numbers; ids, names of hidden neurons, disabled genes: left out; missing "
        "connections: weights of 0",
    ),
    DocumentLibrary(
        "sharpneat",
        "sharpneat",
        _is_of_sharpneat,
        title="SharpNEAT",
        ranked=True,
        keys="text: inputs outputs, acyclic or cyclic N, connections, 0 ReLU; or XML",
        suffixes=(".net",),
        options=frozenset({"cycles", "genome"}),
        lost="ids, names, disabled genes: left out",
    ),
    DocumentLibrary(
        "fann",
        "fann",
        lambda found: isinstance(found, str) and found.startswith("FANN_F"),
        title="FANN",
        keys="text that begins with FANN_FLO_2.1",
        suffixes=(".net",),
        writes=False,
    ),
    DocumentLibrary(
        "goneat",
        "goneat",
        lambda found: isinstance(found, str) and bool(_GONEAT.search(found[:4000])),
        title="goNEAT",
        keys="text: genomestart ID, lines of trait, node and gene; or YAML: genome",
        suffixes=(".neat", ".yml", ".yaml"),
        options=frozenset({"cycles", "genome"}),
        writes=False,
    ),
    DocumentLibrary(
        "tensorneat",
        "tensorneat",
        lambda found: isinstance(found, Mapping) and "conns" in found and "nodes" in found,
        title="TensorNEAT",
        keys="nodes, conns",
        options=frozenset({"inputs", "outputs", "cycles"}),
        writes=False,
    ),
    DocumentLibrary(
        "wann",
        "wann",
        _is_matrix,
        title="WANN",
        keys="a matrix of N rows with N + 1 numbers, separated by commas",
        suffixes=(".out",),
        options=frozenset({"inputs", "outputs"}),
        writes=False,
    ),
)
"""Asked after those, in this order."""
