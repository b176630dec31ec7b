"""goNEAT's activation functions, of its versions 2 to 4."""

from neat_onnx.network.activations import FORMULA

_STEEP, _SHIFT = "4.924273 * z", "2.4621365"


def _approximation(reach: str, factor: str) -> str:
    """Two parabolas that meet at 0.5, 0 and 1 beyond ±reach."""
    low, high = f"(z + {reach})", f"(z - {reach})"
    left = f"where(less(z, -{reach}), 0.0, {low} * {low} * {factor})"
    right = f"where(less(z, {reach}), 1.0 - {high} * {high} * {factor}, 1.0)"
    return f"where(less(z, 0.0), {left}, {right})"


_FORMULAS = {
    "SigmoidReducedActivation": "sigmoid(0.5 * z)",
    "SigmoidBipolarActivation": f"2.0 * sigmoid({_STEEP}) - 1.0",
    "SigmoidSteepenedActivation": f"sigmoid({_STEEP})",
    "SigmoidApproximationActivation": _approximation("4.0", "0.03125"),
    "SigmoidSteepenedApproximationActivation": _approximation("1.0", "0.5"),
    "SigmoidInverseAbsoluteActivation": "0.5 + (z / (1.0 + abs(z))) * 0.5",
    "SigmoidLeftShiftedActivation": f"sigmoid(z + {_SHIFT})",
    "SigmoidLeftShiftedSteepenedActivation": f"sigmoid({_STEEP} + {_SHIFT})",
    "SigmoidRightShiftedSteepenedActivation": f"sigmoid({_STEEP} - {_SHIFT})",
    "TanhActivation": "tanh(0.9 * z)",
    "GaussianBipolarActivation": "2.0 * exp(-((z * 2.5) * (z * 2.5))) - 1.0",
    "NullActivation": "clip(z, 0.0, 0.0)",
    "SignActivation": "sign(z)",
    "SineActivation": "sin(2.0 * z)",
    "StepActivation": "where(less(z, 0.0), 0.0, 1.0)",
}

ACTIVATION_NAMES = {
    "SigmoidPlainActivation": "sigmoid",
    "GaussianActivation": "gaussian",
    "LinearActivation": "identity",
    "LinearAbsActivation": "abs",
    "LinearClippedActivation": "hard_tanh",
    **{name: FORMULA + text for name, text in _FORMULAS.items()},
}

DEFAULT = "SigmoidSteepenedActivation"
"""The activation of a node whose line names none."""
