"""The source of an imported network: its model, as bytes that this package does not interpret.

Export writes the model itself, or the model with other numbers, where the network still allows it
(`lowering/provenance.py`). Two checksums show cheaply whether structure or numbers have changed
since the import. Nobody trusts them: an export of the source counts only if importing it gives the
very network.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import warn
from neat_onnx.parsing import Document

if TYPE_CHECKING:
    from neat_onnx.network.genes import Floats
    from neat_onnx.network.structure import Structure

MAX_BYTES = 16 << 20
"""The most bytes of a model in network JSON, before they are compressed."""


@dataclass(frozen=True)
class Source:
    """The model that a network was imported from.

    Attributes:
        model: the bytes of the model's file.
        structure: the checksum of the network without its numbers, when it was imported.
        numbers: the checksum of its numbers.
    """

    model: bytes
    structure: str
    numbers: str

    @classmethod
    def of(cls, model: bytes, net: Structure) -> Source:
        """Return the source of a network that has just been imported from a model."""
        return cls(model, structure_checksum(net), numbers_checksum(net))


class SourceDocument(Document):
    """The model that the network was imported from; used only where importing it gives it again."""

    model: str = Field(description="The bytes of the binary model: deflate (zlib), then base64.")
    structure: str = Field(description="The CRC-32 of the network's structure at import.")
    numbers: str = Field(description="The CRC-32 of the network's numbers at import.")


def genes_of(net: Structure) -> Floats:
    """Return every number of a network: of its connections, then of its neurons."""
    genes, neurons = net.connections, net.neurons
    columns = genes.weight, genes.initial_gain, neurons.bias, neurons.response, neurons.initial
    return np.concatenate(columns)


def numbers_checksum(net: Structure) -> str:
    """Return the CRC-32 of every number of a network."""
    return _checksum(genes_of(net))


def structure_checksum(net: Structure) -> str:
    """Return the CRC-32 of a network without its numbers: genes, ports and memory, hints too."""
    genes = net.connections
    ports = [
        [(port.name, port.shape, port.dtype, port.batch_axis, port.time_axis) for port in side]
        for side in (net.inputs, net.outputs)
    ]
    memory = [(port.input, port.output, port.shape, port.batch_axis) for port in net.memory]
    names = [net.activation_names.tolist(), net.aggregation_names.tolist(), net.neuron_names]
    return _checksum(
        *(net.input_neurons, net.output_neurons, net.neurons.id, genes.source, genes.target),
        *(genes.enabled, genes.delay, genes.reads_state, genes.gater, genes.gate_delay),
        text=repr((ports, memory, names)),
    )


def _checksum(*arrays: np.ndarray[Any, Any], text: str = "") -> str:
    found = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    for array in arrays:
        kind = array.dtype.newbyteorder("<")
        found = zlib.crc32(np.ascontiguousarray(array, kind).data, found)
    return f"{found:08x}"


def source_document(source: Source) -> SourceDocument | None:
    """Return the document of a source; None, with a warning, of one that is too large."""
    if len(source.model) > MAX_BYTES:
        warn(
            f"the source of the network is left out: it has {len(source.model)} bytes, and network "
            f"JSON holds at most {MAX_BYTES}; an export will not be the model it came from"
        )
        return None
    text = base64.b64encode(zlib.compress(source.model, 9)).decode()
    return SourceDocument(model=text, structure=source.structure, numbers=source.numbers)


def read_source(document: SourceDocument) -> Source | None:
    """Return the source of a document; None, with a warning, if its bytes cannot be unpacked."""
    try:
        return Source(_unpacked(document.model), document.structure, document.numbers)
    except (ValueError, zlib.error):
        warn(
            "the network's source is left out of account: it is not deflated bytes in base64, "
            f"{MAX_BYTES} at most"
        )
        return None


def _unpacked(text: str) -> bytes:
    inflating = zlib.decompressobj()
    model = inflating.decompress(base64.b64decode(text, validate=True), MAX_BYTES + 1)
    if not inflating.eof or len(model) > MAX_BYTES:
        raise ValueError("it has more bytes, or ends too early")
    return model
