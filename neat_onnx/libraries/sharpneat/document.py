"""Read SharpNEAT's files: network files of version 4, XML of version 2. The former are written."""

from collections.abc import Mapping

from neat_onnx.errors import OptionError
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.sharpneat.net_file import read_net_file, write
from neat_onnx.network.network import Network

__all__ = ["read", "read_all", "write"]


def read(content: str, options: ReadOptions) -> Network:
    """Return the network that SharpNEAT decodes.

    Raises:
        NetworkError: it is not a network; says where.
        OptionError: `cycles` is given for a file that says it, or missing for one that needs it.
    """
    if _is_xml(content):
        from neat_onnx.libraries.sharpneat.xml import read_one  # noqa: PLC0415 - few are XML

        return read_one(content, options.cycles)
    if options.cycles is not None:
        raise OptionError("a network file of SharpNEAT says the cycles itself", where="cycles")
    return read_net_file(content)


def read_all(content: str, options: ReadOptions) -> Mapping[int, Network]:
    """Return the networks of a population by their ids, the fittest first.

    Raises:
        NetworkError: one of them is not a network; says where.
        OptionError: as `read` does.
    """
    if _is_xml(content):
        from neat_onnx.libraries.sharpneat.xml import read_networks  # noqa: PLC0415

        return read_networks(content, options.cycles)
    return {0: read(content, options)}


def _is_xml(content: str) -> bool:
    return content.lstrip("\ufeff \t\r\n").startswith("<")
