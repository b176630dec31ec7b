"""neat-python: feed-forward, recurrent, continuous-time and spiking networks."""

from collections.abc import Mapping, Sequence
from typing import Any

from neat_onnx.arguments import instance_of, listed, takes
from neat_onnx.errors import NeatOnnxError, OptionError
from neat_onnx.files import sniff
from neat_onnx.libraries.catalogue import DocumentLibrary, Members
from neat_onnx.libraries.neat_python.texts import CONFIGURATION, PRINTED_GENE
from neat_onnx.network.network import Network
from neat_onnx.network.saving import advised
from neat_onnx.network.structure import Structure

# ruff: noqa: PLC0415 (readers are imported when a file asks for them)


class NeatPython(DocumentLibrary):
    """Networks exported as JSON, live ones, and pickles."""

    def several(self, found: Members) -> NeatOnnxError:
        """Return the error of a population of which one network is asked for."""
        first = ", ".join(str(key) for key, _ in found[:10])
        return OptionError(
            f"this is a population of {len(found)} genomes",
            where="genome",
            hint="Say which, genome=ID or genome='best' (--genome ID or --genome best), or use "
            f"load_networks. The fittest: {first}",
        )

    def write(self, network: Network) -> Any:
        """Return the JSON that neat-python exports."""
        from neat_onnx.libraries.neat_python.draft import genes_of
        from neat_onnx.libraries.neat_python.genes import document_of_genes

        return document_of_genes(genes_of(network))

    def files(self, network: Network, name: str, **facts: Any) -> dict[str, bytes]:
        """Return JSON, or for a name that ends in .pkl a pickled genome and its configuration."""
        from neat_onnx.libraries.neat_python.write import files_of

        if name.lower().endswith((".pkl", ".pickle")):
            return files_of(network, name, **facts)
        return super().files(network, name, **facts)


def _is_of_neat_python(content: Any) -> bool:
    """Whether it has a network_type, or is a pickle, a genome with its config, or such a text."""
    if isinstance(content, Mapping):
        return "network_type" in content
    if isinstance(content, bytes):
        return sniff(content) == "pickle" or _ends_as_pickle(content)
    if isinstance(content, str):
        is_text = CONFIGURATION.search(content) or PRINTED_GENE.search(content)
        return bool(is_text) or _ends_as_pickle(content.encode(errors="replace"))
    parts = content if isinstance(content, tuple | list) and content else (content,)
    return any(map(_is_from_neat, parts))


def _ends_as_pickle(content: bytes) -> bool:
    """Whether it begins and ends as pickles of protocol 0 and 1, which have no signature."""
    return content[:1] in (b"c", b"(", b"}", b"]") and content[-1:] == b"."


def _is_from_neat(value: object) -> bool:
    """Whether its class is one of neat-python's, or derived from one."""
    return any(kind.__module__.partition(".")[0] == "neat" for kind in type(value).__mro__)


NEAT_PYTHON = NeatPython(
    "neat-python",
    "neat_python.sources",
    _is_of_neat_python,
    ranked=True,
    keys="network_type, topology, nodes, connections, or a pickled genome, network or checkpoint",
    suffixes=(".json", ".pkl", ".pickle"),
    lost="innovation numbers, fitness, rates of mutation, names; ctrnn and iznn: what was read "
    "from one is written; ids of inputs and outputs follow their order",
    options=frozenset(
        ("config", "genome", "time_step", "advance_time", "version", "inputs", "outputs", "cycles")
    )
    | {"max_opcodes"},
)


@takes(net=instance_of(Structure, "a Network"))
def to_neat_python(
    net: Network, time_step: float | None = None, config: object = None
) -> tuple[Any, Any]:
    """Turn a network into a live genome of neat-python with its configuration, to evolve on.

    Args:
        net: the network.
        time_step: of the integration of a ctrnn, in the unit of its time constants; 1 if None.
        config: your own configuration, a path, INI text or a live Config: every rate and option of
            it is kept, and a warning says each change that the network or newer versions need. None
            for usual rates.

    Returns:
        A `neat.DefaultGenome` with the key 1, and its `neat.Config`; of a network that was read
        from an iznn a `neat.iznn.IZGenome`.

    Raises:
        NetworkError: neat-python cannot compute the network; every reason, with its neurons.
        OptionError: neat-python is not installed, or config is no configuration.
        DocumentError: config cannot be read.
    """
    from neat_onnx.libraries.neat_python.write import live_genome

    with advised(net, NEAT_PYTHON):
        return live_genome(net, time_step, config)


def neat_population(nets: Sequence[Network], config: object) -> Any:
    """Make a population of neat-python that begins with these networks, to evolve them on.

    Args:
        nets: networks of as many inputs and outputs each.
        config: as for `to_neat_python`; its pop_size counts.

    Returns:
        A `neat.Population`: the networks as genomes, and as many mutated copies of them as there
        is room for.

    Raises:
        NetworkError: neat-python cannot compute one of them; every reason, with its neurons.
        OptionError: they have not the same inputs and outputs, or as `to_neat_python`.
        DocumentError: config cannot be read.
    """
    from neat_onnx.libraries.neat_python.write import population_of

    return population_of([to_neat_python(net, config=config) for net in listed("nets", nets)])
