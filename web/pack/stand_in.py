"""A stand-in for ml_dtypes, a C++ module that has no build for the browser.

onnx wants it for its table of low-precision types, which no network here uses. The stand-in
declares the types, so that the table can be made; it cannot compute with them.
"""

from pathlib import Path

from pack import archive, cache

NAME, VERSION = "ml_dtypes", "0.5.4"
SOURCE = '''"""Declares low-precision types for onnx's table of them; cannot compute with them."""

import numpy as np
from numpy import finfo, iinfo

__version__ = "0.5.4+standin"
__all__ = ["finfo", "iinfo"]

for _name, _base in {
    "bfloat16": "u2", "int2": "i1", "uint2": "u1", "int4": "i1", "uint4": "u1",
    "float4_e2m1fn": "u1", "float6_e2m3fn": "u1", "float6_e3m2fn": "u1",
    "float8_e3m4": "u1", "float8_e4m3": "u1", "float8_e4m3b11fnuz": "u1", "float8_e4m3fn": "u1",
    "float8_e4m3fnuz": "u1", "float8_e5m2": "u1", "float8_e5m2fnuz": "u1", "float8_e8m0fnu": "u1",
}.items():
    globals()[_name] = np.dtype([(_name, _base)])
    __all__.append(_name)
'''


def package() -> Path:
    """The module in a zip."""
    files = [(f"{NAME}/__init__.py", SOURCE.encode())]
    return cache.step(f"{NAME}.zip", ["stand-in", SOURCE], lambda path: archive.write(path, files))
