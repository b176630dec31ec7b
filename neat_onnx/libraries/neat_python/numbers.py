"""Numbers of live objects and pickles."""

import re
from typing import Any

import numpy as np

from neat_onnx.libraries.neat_python.pickled import Record

_CODE = re.compile(r"[biufU]\d{1,4}")


def number(value: Any) -> Any:
    """Return numpy's numbers and texts, live or pickled, as Python's, and all else as it is.

    An array of one element is its element.
    """
    if isinstance(value, float | int):
        return value.item() if isinstance(value, np.generic) else value
    found = _array(value) if isinstance(value, Record) else value
    if isinstance(found, np.generic | np.ndarray) and found.size == 1:
        element = found.reshape(-1)[0].item()
        return float(element) if isinstance(element, np.floating) else element  # a long double
    return value


def _array(record: Record) -> Any:
    """The array of a record of numpy's; None if it is none."""
    kind, arguments = str(record.pickled_name), record.pickled_arguments
    try:
        if kind.endswith("core.multiarray.scalar"):
            dtype, data = arguments
        elif kind.endswith("._frombuffer"):
            data, dtype, *_ = arguments
        elif kind.endswith("core.multiarray._reconstruct"):
            _, _, dtype, _, data = record.pickled_state
        else:
            return None
        order, (code, *_) = dtype.pickled_state[1], dtype.pickled_arguments
        if str(dtype.pickled_name) != "numpy.dtype" or not _CODE.fullmatch(code):
            return None
        data = data.encode("latin1") if isinstance(data, str) else data  # of Python 2
        return np.frombuffer(data, np.dtype(order + code))
    except (TypeError, ValueError, AttributeError, IndexError):
        return None
