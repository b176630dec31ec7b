"""A stand-in for ml_dtypes, a C++ module that has no build for the browser.

onnx wants it for its table of low-precision types, which no network here uses. The stand-in
declares the types, so that the table can be made; it cannot compute with them.
"""

from pathlib import Path

from pack import archive, cache

_VERSION = "0.5.4+standin"
_SOURCE = '''"""Declares low-precision types for onnx's table of them; cannot compute with them."""

import numpy as np
from numpy import finfo, iinfo

__version__ = "VERSION"
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
_INFO = f"ml_dtypes-{_VERSION}.dist-info"
_FILES = [
    ("ml_dtypes/__init__.py", _SOURCE.replace("VERSION", _VERSION)),
    (
        f"{_INFO}/METADATA",
        f"Metadata-Version: 2.1\nName: ml_dtypes\nVersion: {_VERSION}\nRequires-Dist: numpy\n"
        "Summary: Stand-in that declares the types and computes nothing\n",
    ),
    (
        f"{_INFO}/WHEEL",
        "Wheel-Version: 1.0\nGenerator: neat_onnx\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    ),
]


def wheel() -> Path:
    files = [(name, text.encode()) for name, text in _FILES]
    return cache.step(
        f"ml_dtypes-{_VERSION}-py3-none-any.whl",
        ["stand-in", *(data for _, data in files), Path(archive.__file__)],
        lambda target: archive.write(target, files),
    )
