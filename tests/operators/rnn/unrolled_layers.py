"""Recurrent layers of a fixed number of steps, which import takes apart."""

import numpy as np
from support.examples.graphs import node

INPUTS, UNITS = 2, 3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def weights(operator, directions=1, inputs=INPUTS, seed=0):
    random = np.random.default_rng(seed)
    rows = GATES[operator] * UNITS
    shapes = {"w": (directions, rows, inputs), "r": (directions, rows, UNITS),
              "b": (directions, 2 * rows)}  # fmt: skip
    return {name: random.normal(size=shape).round(2) for name, shape in shapes.items()}


def layer(operator, *, x="s", y="h", prefix="", start="", linear=True, **attributes):
    names = " ".join(f"{prefix}{name}" for name in "wrb")
    more = {"linear_before_reset": 1} if operator == "GRU" and linear else {}
    inputs = f"{x} {names} {start}".strip()
    return node(operator, inputs, y, hidden_size=UNITS, **more, **attributes)


STEPS = node("Transpose", "x", "s", perm=[1, 0, 2])
BACK = node("Transpose", "h", "y", perm=[2, 0, 1, 3])
