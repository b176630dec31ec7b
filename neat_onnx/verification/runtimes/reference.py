"""onnx's own reference evaluator: slow, in numpy, and at hand wherever onnx is."""

import warnings
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session
from neat_onnx.verification.runtimes.corrected import corrected


def load(model: Model) -> Session:
    """Load a model into `onnx.reference`."""
    evaluator = ReferenceEvaluator(model.to_proto(), new_ops=corrected(model))

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a pool that takes means of nothing
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return Session(run, f"onnx.reference {onnx.__version__}")
