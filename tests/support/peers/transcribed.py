"""goNEAT, which does not run here: its evaluation, transcribed from its source."""

import math
from typing import Any


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


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
