"""Softmax and normalizations in the forms that exporters give them."""

import numpy as np
from support.examples.graphs import node

SCALE, SHIFT = np.array([2.0, -3.0, 0.5]), np.array([0.5, 0.25, -1.0])
NORM = {"s": SCALE, "b": SHIFT}
FORMS = {
    "softmax": ([node("Softmax", "x", "y")], ("N", 3), {}, 18),
    "log softmax": ([node("LogSoftmax", "x", "y")], ("N", 3), {}, 18),
    "of rows": ([node("Softmax", "x", "y")], ("N", 4, 3), {}, 18),
    "along the channels": ([node("Softmax", "x", "y", axis=1)], ("N", 3, 2, 2), {}, 18),
    "from an old opset": ([node("Softmax", "x", "y", axis=1)], ("N", 2, 3), {}, 11),
    "layer norm": ([node("LayerNormalization", "x s b", "y")], ("N", 3), NORM, 18),
    "layer norm of rows": ([node("LayerNormalization", "x s b", "y")], ("N", 4, 3), NORM, 18),
    "with an activation": (
        [node("LayerNormalization", "x s b", "n"), node("Relu", "n", "y")],
        ("N", 3),
        NORM,
        18,
    ),
    "without a shift": ([node("LayerNormalization", "x s", "y")], ("N", 3), {"s": SCALE}, 18),
    "of ones": (
        [node("LayerNormalization", "x s b", "y")],
        ("N", 3),
        {"s": np.ones(3), "b": np.zeros(3)},
        18,
    ),
    "between layers": (
        [
            node("Gemm", "x w", "h"),
            node("Tanh", "h", "t"),
            node("LayerNormalization", "t s b", "n"),
            node("Gemm", "n w", "g"),
            node("Softmax", "g", "y"),
        ],
        ("N", 3),
        NORM | {"w": np.arange(9.0).reshape(3, 3) / 8 - 0.5},
        18,
    ),
    "two of one width": (
        [
            node("Softmax", "x", "a"),
            node("Neg", "x", "m"),
            node("LogSoftmax", "m", "b"),
            node("Add", "a b", "y"),
        ],
        ("N", 3),
        {},
        18,
    ),
}
BY_CHANNEL = {"s": np.array([2.0, -3.0, 0.5, 1.5]), "b": np.array([0.5, 0.25, -1.0, 2.0])}
TWO = {name: values[:2] for name, values in BY_CHANNEL.items()}
INSTANCE = node("InstanceNormalization", "x s b", "y")
FORMS |= {
    "rms": ([node("RMSNormalization", "x s", "y")], ("N", 3), {"s": SCALE}, 23),
    "rms of rows": (
        [node("RMSNormalization", "x s", "n"), node("Tanh", "n", "y")],
        ("N", 2, 3),
        {"s": SCALE},
        23,
    ),
    "instance norm": ([INSTANCE], ("N", 3, 2, 2), NORM, 18),
    "instance norm of ones": (
        [INSTANCE],
        ("N", 2, 3),
        {"s": np.ones(2), "b": np.zeros(2)},
        18,
    ),
    "group norm": (
        [node("GroupNormalization", "x s b", "y", num_groups=2)],
        ("N", 4, 3),
        BY_CHANNEL,
        21,
    ),
    "group norm of one, without space": (
        [node("GroupNormalization", "x s b", "n", num_groups=1), node("Relu", "n", "y")],
        ("N", 4),
        BY_CHANNEL,
        21,
    ),
    "unit vectors": ([node("LpNormalization", "x", "y")], ("N", 2, 3), {}, 18),
    "unit vectors of channels": (
        [node("LpNormalization", "x", "y", axis=1)],
        ("N", 3, 2, 2),
        {},
        22,
    ),
}
COMPOSED = {
    "rms, before its opset": FORMS["rms"],
    "rms with an activation": FORMS["rms of rows"],
    "group norm, before its opset": FORMS["group norm"],
    "by absolute values": ([node("LpNormalization", "x", "y", p=1)], ("N", 2, 3), {}, 18),
    "mean and variance": (
        [node("MeanVarianceNormalization", "x", "y", axes=[2])],
        ("N", 2, 3),
        {},
        18,
    ),
}
QUOTIENT = [
    node("ReduceMean", "x", "m", axes=[-1]),
    node("Sub", "x m", "d"),
    node("Pow", "d two", "q"),
    node("ReduceMean", "q", "v", axes=[-1]),
    node("Add", "v e", "w"),
    node("Sqrt", "w", "r"),
]  # of a layer norm, as exporters write it for opsets that have none
QUOTIENT_OF = {"two": np.array(2.0), "e": np.array(1e-5)}
WEIGHED = [*QUOTIENT, node("Div", "d r", "n"), node("Mul", "n s", "u"), node("Add", "u b", "y")]
COMPOSED |= {
    "a quotient": (WEIGHED, ("N", 3), NORM | QUOTIENT_OF, 14),
    "a quotient of rows, of ones": (
        WEIGHED,
        ("N", 4, 3),
        {"s": np.ones(3), "b": np.zeros(3)} | QUOTIENT_OF,
        14,
    ),
    "a quotient alone": ([*QUOTIENT, node("Div", "d r", "y")], ("N", 2, 3), QUOTIENT_OF, 14),
}
OPERATORS = ("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization",
             "InstanceNormalization", "GroupNormalization", "LpNormalization",
             "MeanVarianceNormalization")  # fmt: skip


def kinds(model):
    return sorted(each.op_type for each in model.graph.node if each.op_type in OPERATORS)
