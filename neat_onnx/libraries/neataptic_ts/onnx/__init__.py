"""NeatapticTS's ONNX JSON, as `exportToONNX` of version 0.1.14 writes it: written and repaired.

`write.write_network` writes the document of a layered network to the letter, for tools that read
such files. The document is no valid ONNX: no node produces its output, its inputs may lack a batch
axis, a Conv reads a flat tensor. `repair.repaired` makes a valid model of it. Both read `spec`: the
names of nodes and tensors, and the keys of metadata.
"""
