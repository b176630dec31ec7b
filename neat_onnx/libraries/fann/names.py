"""FANN's activation functions by their numbers, with the steepness of a neuron.

FANN limits a sum times its steepness s to ±150/s. Functions that are constant beyond 15, to 1e-12,
are written without the limit where it is farther away.
"""

from neat_onnx.network.activations import FORMULA

_PLAIN = {("3", 0.5): "sigmoid", ("5", 1.0): "tanh"}
_SATURATING = {"3": "sigmoid(2.0 * {x})", "5": "tanh({x})"}
_FORMULAS = {
    "0": "{x}",
    "1": "where(less({x}, 0.0), 0.0, 1.0)",
    "2": "where(less({x}, 0.0), -1.0, 1.0)",
    "7": "exp(-({x} * {x}))",
    "8": "exp(-({x} * {x})) * 2.0 - 1.0",
    "9": "clip({x}, 0.0, 0.0)",
    "10": "({x} / 2.0) / (1.0 + abs({x})) + 0.5",
    "11": "{x} / (1.0 + abs({x}))",
    "12": "clip({x}, 0.0, 1.0)",
    "13": "clip({x}, -1.0, 1.0)",
    "14": "sin({x})",
    "15": "cos({x})",
    "16": "sin({x}) / 2.0 + 0.5",
    "17": "cos({x}) / 2.0 + 0.5",
    "18": "relu({x})",
    "19": "leaky_relu({x}, 0.01)",
}
CODES = (*_SATURATING, *_FORMULAS, "4", "6")
"""All numbers, those first whose formulas are short."""
AFTER_2_2 = frozenset({"18", "19"})
_MIDDLE, _NEAR, _FAR = 0.549306154251098632812, 1.47221934795379638672, 2.64665293693542480469
_NODES = {
    "4": (-2.64665246009826660156, -1.47221946716308593750, -_MIDDLE, _MIDDLE, _NEAR, _FAR),
    "6": (-_FAR, -_NEAR, -_MIDDLE, _MIDDLE, _NEAR, _FAR),
}
_STEPWISE = {
    "4": (0.00499999988824129104614, 0.0500000007450580596924, 0.25, 0.75, 0.949999988079071044922,
          0.995000004768371582031, 0.0, 1.0),
    "6": (-0.990000009536743164062, -0.899999976158142089844, -0.5, 0.5, 0.899999976158142089844,
          0.990000009536743164062, -1.0, 1.0),
}  # fmt: skip


def activation_name(code: str, steepness: float) -> str | None:
    """Return our name of a function with a steepness; None for an unknown number."""
    if (code, steepness) in _PLAIN:
        return _PLAIN[code, steepness]
    if code in _SATURATING and 0.0 <= steepness <= 10.0:
        return FORMULA + _SATURATING[code].format(x=f"{steepness!r} * z")
    x = _limited(steepness)
    if code in _STEPWISE:
        return FORMULA + _stepwise(x, _NODES[code], _STEPWISE[code])
    formula = {**_SATURATING, **_FORMULAS}.get(code)
    return None if formula is None else FORMULA + formula.format(x=x)


def _limited(steepness: float) -> str:
    """The sum times the steepness, as FANN limits it: first by min(x, 150/s), else by -150/s."""
    limit = 150.0 / steepness if steepness else 0.0
    x = f"{steepness!r} * z"
    if limit < 0.0:  # so that no sum is between the two
        return f"where(less({limit!r}, {x}), {limit!r}, {-limit!r})"
    return f"clip({x}, {-limit!r}, {limit!r})"


def _stepwise(x: str, nodes: tuple[float, ...], values: tuple[float, ...]) -> str:
    """Straight lines between points, constant outside."""
    *heights, low, high = values
    text = repr(high)
    for at in range(4, -1, -1):
        v, w, r, q = nodes[at], nodes[at + 1], heights[at], heights[at + 1]
        line = f"(({(q - r)!r} * ({x} - ({v!r}))) / {(w - v)!r}) + ({r!r})"
        text = f"where(less({x}, {w!r}), {line}, {text})"
    return f"where(less({x}, {nodes[0]!r}), {low!r}, {text})"
