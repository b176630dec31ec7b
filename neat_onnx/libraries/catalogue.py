"""The libraries of this package: how their files are recognised, and where they are read.

Reading and writing are modules of their own, imported when a file asks for them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from neat_onnx.errors import NetworkError, abridged
from neat_onnx.libraries.library import BEST, Library, ReadOptions, no_genome
from neat_onnx.network.network import Network

_WITH_NODES = "ids, names, disabled genes: left out; responses, delays: expressed by added "


class Own(Library):
    """neat-onnx's own network JSON, `Network.to_json()`, which holds everything."""

    name = "neat-onnx"
    keys = "format, inputs, outputs, neurons, connections"
    lost = "nothing"

    def recognises(self, content: object) -> bool:
        """Its `format` is this one, or it has none, but neurons."""
        if not isinstance(content, Mapping):
            return False
        return "neurons" in content if "format" not in content else content["format"] == self.name

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network, with the genes as they were saved."""
        return Network.from_document(content)

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
    """

    module = ""
    oracle = "its own code"
    ranked = False

    @property
    def document(self) -> Any:
        """The module."""
        return import_module(f"neat_onnx.libraries.{self.module}")

    def members(self, content: Any, options: ReadOptions) -> Members:
        """Return the networks of a file, the fittest first."""
        document = self.document
        if hasattr(document, "members"):
            found: Members = document.members(content, options)
            return found
        return [(0, partial(document.read, content, options))]

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that the library evaluates; see `Library.read`."""
        found = self.members(content, options)
        if len(found) == 1:
            return found[0][1]()
        ids = abridged((str(key) for key, _ in found), 20)
        raise NetworkError(
            f"this is a population of {len(found)} networks",
            hint="Ask for one of them, genome=ID (--genome ID), or for all: load_networks. "
            f"Found: {ids}",
        )

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population by their ids; see `Library.read_all`."""
        members, wanted = self.members(content, options), options.genome
        found = dict(members)
        if len(found) < len(members):
            ids = [key for key, _ in members]
            twice = next(key for key in ids if ids.count(key) > 1)
            raise NetworkError(f"the genome id {twice} occurs twice")
        if wanted is None:
            return {key: read() for key, read in members}
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

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether a document is a network of this library, quickly."""
        raise NotImplementedError

    def recognises(self, content: object) -> bool:
        """Return whether it is a network of this library, or a population that begins with one."""
        members = _members(content)
        first = content if members is None else members[0] if members else None
        return isinstance(first, Mapping) and self.recognises_network(first)

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
            where = f"[{place}]" + (f".{error.where}" if error.where else "")
            raise NetworkError(error.message, where=where, hint=error.hint) from None
        return found


def _members(content: object) -> list[Any] | None:
    """The documents of a population, or None for anything else."""
    if isinstance(content, Mapping) and "nodes" not in content:
        content = content.get("population")
    return content if isinstance(content, list) else None


class NeatapticTS(ExportedLibrary):
    """Networks evaluated in list order, with gates, gene ids and disabled genes."""

    name = "neataptic-ts"
    title = "NeatapticTS"
    module = "neataptic_ts.document"
    lost = "names, responses, delays: expressed by added nodes; disabled self-connections: left out"
    keys = "formatVersion, nodes, connections"
    options = ExportedLibrary.options | {"outputs"}

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it has NeatapticTS's version key, or nodes with its gene ids."""
        nodes = document.get("nodes")
        return "formatVersion" in document or (
            isinstance(nodes, list)
            and any(isinstance(node, Mapping) and "geneId" in node for node in nodes)
        )


class Neataptic(ExportedLibrary):
    """Networks of neataptic 1.4, evaluated in list order, with gates and dropout masks."""

    name = "neataptic"
    module = "neataptic"
    lost = _WITH_NODES + "nodes"
    keys = "input, output, nodes, connections"

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it has nodes, and the counts that neataptic writes or a squash."""
        nodes = document.get("nodes")
        return isinstance(nodes, list) and (
            "input" in document
            or "output" in document
            or any(isinstance(node, Mapping) and "squash" in node for node in nodes)
        )


class Carrot(ExportedLibrary):
    """Networks of carrot 0.3, evaluated in list order, hidden nodes before outputs."""

    name = "carrot"
    module = "carrot"
    keys = "input_nodes, output_nodes, nodes, connections"
    lost = _WITH_NODES + "nodes"

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it lists its input nodes or tells their number as carrot does."""
        return "nodes" in document and ("input_nodes" in document or "input_size" in document)


class Synaptic(DocumentLibrary):
    """Layers of neurons evaluated one after another, with gates and self-connections."""

    name = "synaptic"
    module = "synaptic"
    keys = "neurons, connections"
    lost = _WITH_NODES + "neurons"

    def recognises(self, content: object) -> bool:
        """Return whether it has neurons with a layer."""
        if not isinstance(content, Mapping) or "connections" not in content:
            return False
        neurons = content.get("neurons")
        return isinstance(neurons, list) and any(
            isinstance(neuron, Mapping) and "layer" in neuron for neuron in neurons
        )


class BrainJS(DocumentLibrary):
    """Dense layers with one activation for all neurons."""

    name = "brain.js"
    module = "brain_js"
    keys = "sizes, layers, or inputLookup, layers"
    lost = (
        "float32 numbers; ids, names of hidden neurons, disabled genes: left out; missing "
        "connections: weights of 0"
    )

    def recognises(self, content: object) -> bool:
        """Return whether it has layers, with their sizes or names, or is a recurrent kind."""
        if not isinstance(content, Mapping):
            return False
        layers = "layers" in content and not {"sizes", "inputLookup"}.isdisjoint(content)
        return layers or ("hiddenLayers" in content and "type" in content)


class SharpNEAT(DocumentLibrary):
    """Network files of version 4 and XML of version 2: acyclic, or updated N times in a step."""

    name = "sharpneat"
    title = "SharpNEAT"
    module = "sharpneat"
    ranked = True
    oracle = "the evaluation that it documents, written out"
    keys = "text: inputs outputs, acyclic or cyclic N, connections, 0 ReLU; or XML"
    suffixes = (".net",)
    options = frozenset({"cycles", "genome"})
    lost = "ids, names, disabled genes: left out; biases: by an added node"
    _head = re.compile(r"\s*(#.*\s+)*\d+[ \t]+\d+[ \t]*\r?\n\s*(#.*\s+)*(a?cyclic)\b")

    def recognises(self, content: object) -> bool:
        """Return whether it is text that begins as a network file, or XML of networks."""
        if not isinstance(content, str):
            return False
        begins = bool(self._head.match(content[:4000]))
        return begins or ("<Network" in content and "<Node" in content)


class Fann(DocumentLibrary):
    """Network files of floating point numbers: layers, which connections may skip."""

    name = "fann"
    title = "FANN"
    module = "fann"
    oracle = "libfann, but for two rectifiers"
    keys = "text that begins with FANN_FLO_2.1"
    suffixes = (".net",)
    lost = "ids, names, disabled genes: left out; libfann and libfloatfann round to float32"

    def recognises(self, content: object) -> bool:
        """Return whether it begins with FANN's signature."""
        return isinstance(content, str) and content.startswith("FANN_F")


class GoNEAT(DocumentLibrary):
    """Genomes as plain text and as YAML; nodes sum their inputs, a bias is a node that is 1."""

    name = "goneat"
    title = "goNEAT"
    module = "goneat"
    keys = "text: genomestart ID, lines of trait, node and gene; or YAML: genome"
    suffixes = (".neat", ".yml", ".yaml")
    options = frozenset({"cycles", "genome"})
    lost = "names: left out; biases: by an added node"
    _lines = re.compile(
        r"^(genomestart \d+|node -?\d+ -?\d+ [01] [0-3]\b|genome:\s*(#.*)?$)", re.MULTILINE
    )

    def recognises(self, content: object) -> bool:
        """Return whether it is text with the lines of a genome."""
        return isinstance(content, str) and bool(self._lines.search(content[:4000]))


class TensorNEAT(DocumentLibrary):
    """The dictionary that `network_dict` of a genome gives; outputs have no activation."""

    name = "tensorneat"
    title = "TensorNEAT"
    module = "tensorneat"
    keys = "nodes, conns"
    options = frozenset({"inputs", "outputs", "cycles"})
    lost = "names, disabled genes, the numbers of inputs and outputs: left out; float32 there"

    def recognises(self, content: object) -> bool:
        """Return whether it is an object of nodes and conns."""
        return isinstance(content, Mapping) and "conns" in content and "nodes" in content


class Wann(DocumentLibrary):
    """Matrices of WANN and prettyNEAT: each node reads those before it; the first is 1."""

    name = "wann"
    title = "WANN"
    module = "wann"
    keys = "a matrix of N rows with N + 1 numbers, separated by commas"
    suffixes = (".out",)
    options = frozenset({"inputs", "outputs"})
    lost = "ids, names, disabled genes and connections of weight 0: left out"

    def recognises(self, content: object) -> bool:
        """Return whether it is rows of numbers, each with one number more than there are rows."""
        if not isinstance(content, str):
            return False
        head, _, rest = content.lstrip("\ufeff").partition("\n")
        is_row = all(c in "0123456789+-.eEnaNA, \t\r" for c in head)
        return is_row and head.count(",") >= 2 and bool(rest)
