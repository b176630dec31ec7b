"""The genome in a model's metadata: the facts that ONNX itself cannot hold, and nothing else.

ONNX says which numbers are computed from which. It does not hold the ids of neurons, nor that a
connection is disabled, that two connections run in parallel, or in which order genes stand. Export
lifts the model that it has just written, compares the result with the network, and writes down the
difference. Import lifts the same graph and applies it. Weights therefore come from the graph: the
metadata holds only those the graph has no place for.

The graph counts. A checksum over the graph and its metadata shows whether either was changed after
the export; then, and wherever the resulting network computes another function than the graph,
there is a warning, and the graph alone counts. docs/genome-format.md describes every key.
"""

from neat_onnx.genome.checksum import CHECKSUM, checksum
from neat_onnx.genome.describe import genome_metadata
from neat_onnx.genome.document import GENOME, NETWORK, GenomeDocument
from neat_onnx.genome.gene_checksum import GENES, gene_checksum
from neat_onnx.genome.restore import Imported, import_network, imported

__all__ = [
    "CHECKSUM",
    "GENES",
    "GENOME",
    "NETWORK",
    "GenomeDocument",
    "Imported",
    "checksum",
    "gene_checksum",
    "genome_metadata",
    "import_network",
    "imported",
]
