"""ONNX's own backend cases of some operators.

What pools should give is computed window by window, in Python: of 32×32×32 values that takes
seconds whenever the cases are imported. Such cases have no outputs here but in a whole sweep.
"""

import importlib
from typing import Any

import numpy as np
from onnx.backend.test.case import node as backend
from onnx.backend.test.case.test_case import TestCase
from onnx.reference.ops import op_pool_common
from support.harness.sweep import WHOLE

LARGE = 50_000 if WHOLE else 20_000  # three channels of 32×32×32 take half a minute to judge


def backend_cases(*operators: str) -> dict[str, TestCase]:
    """The cases whose only node is one of these operators, by name.

    Args:
        operators: each has a module of its cases, of its name in small letters.
    """
    by_windows = op_pool_common.pool
    op_pool_common.pool = _unless_large
    try:
        for operator in operators:  # collecting them all takes half a minute
            importlib.import_module(f"{backend.__name__}.{operator.lower()}")
    finally:
        op_pool_common.pool = by_windows
    found = [case for case in backend._NodeTestCases if len(case.model.graph.node) == 1]
    return {case.name: case for case in found if case.model.graph.node[0].op_type in operators}


_pool = op_pool_common.pool


def _unless_large(padded: Any, *how: Any, **more: Any) -> Any:
    return np.zeros((1, 1)) if padded.size > LARGE else _pool(padded, *how, **more)


def is_large(case: TestCase) -> bool:
    """Whether a case is too large to be judged."""
    return bool(case.data_sets[0][0][0].size > LARGE)
