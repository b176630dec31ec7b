"""Models of any tool that are dropped on the page, and the form by which they are imported.

The form shows the axes of inputs and the names of outputs, and has the arguments of `import_model`
that a file may need.
"""

import warnings
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
    """The network of a model; a warning that import could not compare them is left out.

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
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_UNCHECKED)
        return neat_onnx.import_model(
            model,
            batch_axis=_BATCH_AXES[batch_axis],
            shapes=said.get("shapes"),
            outputs=said.get("outputs"),
            memory=said.get("memory"),
        )


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
