"""Families of activations, by the shape of their curves, to colour those alike that look alike."""

from functools import lru_cache

import numpy as np

from neat_onnx.network.activations import activation_named

FAMILIES = ("sigmoid", "tanh", "rectifier", "wave", "step", "curve", "linear")
_Z = np.linspace(-6, 6, 481)
_FAR = np.array([-60.0, 60.0])


@lru_cache(maxsize=1024)
def family(activation: str) -> str:
    """Return the family of a Network's activation, by its curve from −6 to 6; one of FAMILIES.

    linear: a line. step: three values at most. tanh and sigmoid: never falls and levels off on
    both sides; a sigmoid is nowhere negative. rectifier: about level on one side, a line on the
    other. wave: turns more than once, or comes back to where it began. curve: anything else.

    Raises:
        NetworkError: there is no such activation.
    """
    f = activation_named(activation)
    with np.errstate(all="ignore"):
        y, far = f(_Z), f(_FAR)
    if not np.all(np.isfinite(y)):
        return "curve"
    size = float(np.ptp(y))
    if size == 0 or np.max(np.abs(np.diff(y, 2))) < 1e-9 * size:
        return "linear"
    if len(np.unique(y.round(9))) <= 3:
        return "step"
    slope = np.diff(y)
    if np.max(np.abs(slope)) > 0.3 * size:
        return "curve"  # it jumps
    signs = np.sign(slope[np.abs(slope) > 1e-4 * size])
    turns = int(np.count_nonzero(np.diff(signs)))
    with np.errstate(all="ignore"):
        level = np.abs(far - y[[0, -1]]) < 0.1 * size
    if turns == 0 and np.all(level):
        return "sigmoid" if y.min() >= -1e-9 * size else "tanh"
    if turns >= 2 or (turns == 1 and np.all(level) and abs(y[0] - y[-1]) < 0.1 * size):
        return "wave"
    first, middle, last = slope[:20].mean(), slope[350:370].mean(), slope[-20:].mean()
    flat, steep = sorted((abs(first), abs(last)))
    is_line = abs(middle - last) < 0.12 * steep
    return "rectifier" if flat < 0.15 * steep and is_line else "curve"
