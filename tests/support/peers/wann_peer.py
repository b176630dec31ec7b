"""prettyNEAT's own `act`, where `make libraries` installed it: matrices of WANN and prettyNEAT."""

import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np

ANN = Path(__file__).parents[3] / ".cache" / "libraries" / "python" / "prettyNEAT" / "ann.py"


def computed(document: str, inputs: Any, outputs: int) -> Any:
    """The outputs of each row, of a matrix that `importNet` loads."""
    spec = importlib.util.spec_from_file_location("prettyneat_ann", ANN)
    assert spec is not None
    assert spec.loader is not None
    ann = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ann)
    weights, activations, _ = ann.importNet(io.StringIO(document))
    rows = np.asarray(inputs, np.float64)
    with np.errstate(all="ignore"):
        return ann.act(weights, activations, rows.shape[1], outputs, rows)
