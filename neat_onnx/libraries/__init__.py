"""Libraries: one room each, their networks → Network and back.

A reader compiles the library's order of evaluation into explicit delays, so that nothing behind it
knows which library a network came from. A room is listed by a small class in its `__init__`, and
its reader and writer are imported when a file asks for them.
"""

from neat_onnx.libraries.load import load_network, load_networks
from neat_onnx.libraries.registry import libraries, register_library

__all__ = ["libraries", "load_network", "load_networks", "register_library"]
