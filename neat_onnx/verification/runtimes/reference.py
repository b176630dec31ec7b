"""onnx's own reference evaluator: slow, in numpy, and at hand wherever onnx is."""

import warnings
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.model.corrected import corrected
from neat_onnx.model.wiring import nodes_within
from neat_onnx.verification.runtimes import Feed, Session

_RECURRENT = ("RNN", "GRU", "LSTM")
_LENGTHS = 4  # the position of sequence_lens


def load(model: Model) -> Session:
    """Load a model into `onnx.reference`.

    Raises:
        ModelError: sequences have lengths of their own, which the evaluator passes over.
    """
    known = {"", *model.graph.tensors}
    for node in nodes_within(model.graph):
        if node.op_type in _RECURRENT and not known.issuperset(node.input[_LENGTHS : _LENGTHS + 1]):
            raise ModelError(
                f"node {node.label}: onnx's evaluator does not read sequence_lens",
                hint="Compare it in another runtime, as onnxruntime",
            )
    evaluator = ReferenceEvaluator(model.to_proto(), new_ops=corrected(model))

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a pool that takes means of nothing
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return Session(run, f"onnx.reference {onnx.__version__}")
