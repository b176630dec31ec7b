"""FANN itself, where Debian's libfann2 is installed: its doubles run what was written for it."""

import ctypes
import ctypes.util
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


@cache
def library() -> Any:
    """The library of doubles; None where it is not installed."""
    name = ctypes.util.find_library("doublefann")
    if name is None:
        return None
    fann = ctypes.CDLL(name)
    fann.fann_create_from_file.restype = ctypes.c_void_p
    fann.fann_create_from_file.argtypes = [ctypes.c_char_p]
    fann.fann_run.restype = ctypes.POINTER(ctypes.c_double)
    fann.fann_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)]
    fann.fann_destroy.argtypes = fann.fann_get_num_input.argtypes = [ctypes.c_void_p]
    fann.fann_get_num_output.argtypes = [ctypes.c_void_p]
    doubles = ctypes.POINTER(ctypes.c_double)
    fann.fann_train.argtypes = [ctypes.c_void_p, doubles, doubles]
    fann.fann_train.restype = None
    fann.fann_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return fann


def computed(document: str, inputs: Any) -> Any:
    """The outputs of `fann_run` for each row; a text where FANN does not load the document."""
    fann = library()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.net")
        path.write_text(document, encoding="utf-8")
        network = fann.fann_create_from_file(str(path).encode())
    if not network:
        return "fann_create_from_file returns NULL"
    try:
        count = fann.fann_get_num_output(network)
        rows = np.asarray(inputs, np.float64)
        assert rows.shape[1] == fann.fann_get_num_input(network)
        row_type = ctypes.c_double * rows.shape[1]
        return np.array([fann.fann_run(network, row_type(*row))[:count] for row in rows.tolist()])
    finally:
        fann.fann_destroy(network)


def trained(document: str, rows: Any, wanted: Any, epochs: int) -> str:
    """The document that FANN saves after training on one output."""
    fann = library()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.net")
        path.write_text(document, encoding="utf-8")
        network = fann.fann_create_from_file(str(path).encode())
        for row, value in list(zip(rows, wanted, strict=True)) * epochs:
            fann.fann_train(network, (ctypes.c_double * len(row))(*row), ctypes.c_double(value))
        fann.fann_save(network, str(path).encode())
        fann.fann_destroy(network)
        return path.read_text("utf-8")
