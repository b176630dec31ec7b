"""Models of any tool that are dropped on the page, and the form by which they are imported.

The form shows the axes of inputs and the names of outputs, and has the arguments of `import_model`
that a file may need.
"""

from collections.abc import Sequence
from typing import Any, Literal

import neat_onnx
from neat_onnx.errors import ModelError, OptionError, warn
from neat_onnx.model import Model, ValueInfo
from neat_onnx.network.network import Network

_BATCH_AXES: dict[object, Literal["auto"] | None] = {"auto": "auto", "none": None}
_UNCHECKED = "the imported network is not compared"
_OPTIONS = {"batch_axis", "shapes", "outputs", "memory"}


def made_valid(model: Model) -> Model:
    """The model as valid ONNX, or as it was read, with a warning: it may be imported even so."""
    try:
        return neat_onnx.convert(model)
    except ModelError as error:
        warn(f"the model is not valid ONNX, and stays as it is: {error.message}")
        return model


def imported(model: Model, options: object) -> Network:
    """The network of a model; without a check where onnx's evaluator does not run the model,
    which the page's second runtime does.

    Args:
        model: the model.
        options: the form of an import, an object of JSON: `batch_axis` ("auto" or
            "none"), `shapes`, `outputs` and `memory` as `import_model` has them; None or {} for
            none of them.

    Raises:
        OptionError: an option that it has not, or a wrong value of one.
        ModelError: as of `import_model`.
    """
    said = options or {}
    if not isinstance(said, dict) or not _OPTIONS.issuperset(said):
        raise OptionError(
            f"an import has the options {', '.join(sorted(_OPTIONS))}", where="import"
        )
    batch_axis = said.get("batch_axis", "auto")
    if batch_axis not in ("auto", "none"):
        raise OptionError('it has to be "auto" or "none"', where="import.batch_axis")
    arguments: dict[str, Any] = {
        "batch_axis": _BATCH_AXES[batch_axis],
        **{name: said.get(name) for name in ("shapes", "outputs", "memory")},
    }
    try:
        return neat_onnx.import_model(model, **arguments)
    except ModelError as error:
        if not error.message.startswith(_UNCHECKED):
            raise
        return neat_onnx.import_model(model, check=False, **arguments)


def model_ports(model: Model, net: Network | None = None) -> dict[str, Any]:
    """The inputs and outputs of a model as a form shows them, an object of JSON.

    Args:
        model: the model.
        net: the network of it, if it could be imported.

    Returns:
        `inputs` and `outputs`: names, and axes, null for one without a name. `imported`: the names
        of the outputs of the network. `memory`: the output that feeds each state.
    """
    return {
        "inputs": _listed(model.graph.inputs),
        "outputs": _listed(model.graph.outputs),
        "imported": [port.name for port in (net.outputs if net else model.graph.outputs)],
        "memory": {port.input: port.output for port in net.memory} if net else {},
    }


def _listed(entries: Sequence[ValueInfo]) -> list[dict[str, Any]]:
    return [{"name": entry.name, "axes": list(entry.shape or ())} for entry in entries]
