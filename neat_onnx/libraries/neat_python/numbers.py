"""Numbers of live objects and pickles."""

from typing import Any

import numpy as np


def number(value: Any) -> Any:
    """Return numpy's scalars as Python's, and all else as it is."""
    return value.item() if isinstance(value, np.generic) else value
