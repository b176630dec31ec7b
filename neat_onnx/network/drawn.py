"""Networks drawn by a room that stands above this package: it is given here."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from neat_onnx.network.network import Network

Form = Literal["svg", "html"]
Drawer = TypeVar("Drawer", bound=Callable[["Network", Form], str])

_draw: list[Callable[["Network", Form], str]] = []


def draw_networks_with(draw: Drawer) -> Drawer:
    """Make `draw` the function that draws a network in a form. A decorator."""
    _draw[:] = [draw]
    return draw


def drawn(network: "Network", form: Form) -> str:
    """See `Network.to_svg`; HTML has a table of a few numbers below the drawing."""
    return _draw[0](network, form)
