"""The genome in a model's metadata: what ONNX itself cannot say, and nothing else.

ONNX says which numbers are computed from which. It does not say what a neuron's id is, that a
connection is disabled, that two connections run in parallel, or in which order genes stand. Export
lifts the model that it has just written, compares the result with the network, and writes down the
difference. Import lifts the same graph and applies it. Weights therefore come from the graph: the
metadata holds only those the graph has no place for.

Metadata can be stale or wrong. It is applied only if the network that results computes what the
graph computes; otherwise there is a warning, and the graph alone counts.
"""

from neat_onnx.genome.describe import genome_metadata
from neat_onnx.genome.document import GENOME, NETWORK, GenomeDocument
from neat_onnx.genome.restore import import_network

__all__ = ["GENOME", "NETWORK", "GenomeDocument", "genome_metadata", "import_network"]
