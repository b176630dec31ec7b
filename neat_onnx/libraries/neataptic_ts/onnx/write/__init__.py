"""The neataptic dialect: the JSON that NeatapticTS 0.1.14 writes for a network, to the letter.

It exists for what reads that tool's files. The document is no valid ONNX (no node produces its
output, its inputs have no batch axis, its pools compute what the network does not), and it is for
layered networks only: each neuron reads the layer before it, and itself.
"""
