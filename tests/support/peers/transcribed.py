"""Libraries that do not run here: their evaluation, transcribed from their source, file by file.

Independent of the package: each function parses the document itself.
"""

import math
from typing import Any

import numpy as np


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


# --- TensorNEAT: DefaultGenome.forward; NaN is what has no value yet, and is masked out.


def _inverse(z: float) -> float:
    return 1 / (max(z, 1e-7) if z > 0 else min(z, -1e-7))


TENSORNEAT_ACT = {
    "sigmoid": sigmoid,
    "scaled_sigmoid": lambda z: sigmoid(z) * 3,
    "tanh": np.tanh,
    "scaled_tanh": lambda z: np.tanh(z) * 3,
    "sin": np.sin,
    "relu": lambda z: max(z, 0),
    "lelu": lambda z: z if z > 0 else 0.005 * z,
    "identity": lambda z: z,
    "inv": _inverse,
    "log": lambda z: np.log(max(z, 1e-7)),
    "exp": np.exp,
    "abs": abs,
}
TENSORNEAT_AGG = {
    "sum": np.sum,
    "product": np.prod,
    "max": np.max,
    "min": np.min,
    "maxabs": lambda z: z[np.argmax(np.abs(z))],
    "mean": np.mean,
}


def _listed(entries: Any) -> list[Any]:
    return list(entries.values()) if isinstance(entries, dict) else entries


def tensorneat(network: Any, row: Any, outputs: int, updates: int | None = None) -> list[float]:
    """The outputs of a `network_dict`, after as many updates as it has nodes by default."""
    nodes, conns = _listed(network["nodes"]), _listed(network["conns"])
    inputs = len(row)
    values = dict.fromkeys((node["idx"] for node in nodes), np.nan)
    for _ in range(len(nodes) if updates is None else updates):
        values.update(zip(range(inputs), row, strict=True))
        new = dict(values)
        for node in nodes:
            key = node["idx"]
            ins = [
                values[conn["in"]] * conn["weight"]
                for conn in conns
                if conn["out"] == key and not np.isnan(values[conn["in"]])
            ]
            if ins and key >= inputs:
                z = node["bias"] + node["res"] * TENSORNEAT_AGG[node["agg"]](np.array(ins))
                new[key] = z if key < inputs + outputs else TENSORNEAT_ACT[node["act"]](z)
        values = new
    return [values[key] for key in range(inputs, inputs + outputs)]


# --- goNEAT: LoadSensors, ForwardSteps, ReadOutputs of its Network.


def _parabolas(x: float, reach: float, factor: float) -> float:
    if x < -reach:
        return 0.0
    if x < 0.0:
        return (x + reach) * (x + reach) * factor
    return 1.0 - (x - reach) * (x - reach) * factor if x < reach else 1.0


GONEAT = {
    "SigmoidPlainActivation": sigmoid,
    "SigmoidReducedActivation": lambda x: sigmoid(0.5 * x),
    "SigmoidSteepenedActivation": lambda x: sigmoid(4.924273 * x),
    "SigmoidBipolarActivation": lambda x: 2 * sigmoid(4.924273 * x) - 1,
    "SigmoidApproximationActivation": lambda x: _parabolas(x, 4.0, 0.03125),
    "SigmoidSteepenedApproximationActivation": lambda x: _parabolas(x, 1.0, 0.5),
    "SigmoidInverseAbsoluteActivation": lambda x: 0.5 + (x / (1.0 + abs(x))) * 0.5,
    "SigmoidLeftShiftedActivation": lambda x: sigmoid(x + 2.4621365),
    "SigmoidLeftShiftedSteepenedActivation": lambda x: sigmoid(4.924273 * x + 2.4621365),
    "SigmoidRightShiftedSteepenedActivation": lambda x: sigmoid(4.924273 * x - 2.4621365),
    "TanhActivation": lambda x: math.tanh(0.9 * x),
    "GaussianBipolarActivation": lambda x: 2 * math.exp(-((x * 2.5) ** 2)) - 1,
    "GaussianActivation": lambda x: math.exp(-(x**2)),
    "LinearActivation": lambda x: x,
    "LinearAbsActivation": abs,
    "LinearClippedActivation": lambda x: max(-1.0, min(1.0, x)),
    "NullActivation": lambda x: 0.0,
    "SignActivation": lambda x: float(x > 0) - float(x < 0),
    "SineActivation": lambda x: math.sin(2 * x),
    "StepActivation": lambda x: 0.0 if math.copysign(1.0, x) < 0 else 1.0,
}


class GoNEAT:
    """A network of nodes (id, type, activation) and genes (source, target, weight, enabled)."""

    def __init__(self, nodes: list[Any], genes: list[Any]) -> None:
        self.nodes, self.genes = nodes, [gene for gene in genes if gene[3]]
        self.value = dict.fromkeys((key for key, _, _ in nodes), 0.0)
        self.count, self.active = dict.fromkeys(self.value, 0), dict.fromkeys(self.value, False)
        self.kinds = {key: kind for key, kind, _ in nodes}

    @classmethod
    def of(cls, text: str) -> "GoNEAT":
        """The network of a genome in plain text."""
        lines = [line.split() for line in text.splitlines()]
        nodes = [(int(f[1]), int(f[4]), f[5]) for f in lines if f[0] == "node"]
        genes = [
            (int(f[2]), int(f[3]), float(f[4]), f[8] == "true") for f in lines if f[0] == "gene"
        ]
        return cls(nodes, genes)

    def forward(self, row: Any, steps: int) -> list[float]:
        """The outputs after `steps` activations."""
        given = iter(row)
        for key, kind, _ in self.nodes:
            if kind in (1, 3):
                self.value[key], self.count[key] = next(given) if kind == 1 else 1.0, 1
        outputs = [key for key, kind, _ in self.nodes if kind == 2]
        for _ in range(steps):
            once = False
            while not once or any(self.count[key] == 0 for key in outputs):
                self._update()
                once = True
        return [self.value[key] for key in outputs]

    def _update(self) -> None:
        sums = {}
        for key, kind, _ in self.nodes:
            if kind in (0, 2):
                sums[key] = 0.0
                for source, target, weight, _ in self.genes:
                    if target == key:
                        sums[key] += weight * (self.value[source] if self.count[source] else 0.0)
                        self.active[key] |= self.active[source] or self.kinds[source] in (1, 3)
        for key, kind, name in self.nodes:
            if kind in (0, 2) and self.active[key]:
                self.value[key] = GONEAT[name](sums[key])
                self.count[key] += 1
