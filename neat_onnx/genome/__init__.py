"""The genome in a model's metadata: the facts that ONNX itself cannot hold, and nothing else.

ONNX says which numbers are computed from which. It does not hold the ids of neurons, nor that a
connection is disabled, that two connections run in parallel, or in which order genes stand. Export
writes these down, beside the tensor and the column in which it has put each neuron.

The graph counts. Import reads the genes that the graph computes with, and adds to them what the
metadata says, if their structure is the one that was exported. Other numbers, as of a file that was
trained, are the graph's. docs/genome-format.md describes every key.
"""
