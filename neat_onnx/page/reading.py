"""Files that are dropped on the page: one network of several, or a model and how it is imported."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import neat_onnx
from neat_onnx.errors import DocumentError, ModelError, OptionError, warn
from neat_onnx.files import parse_json, sniff, unpacked
from neat_onnx.libraries.load import picked
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.model import is_model
from neat_onnx.network.network import Network

_FACTS = {
    "time_step", "advance_time", "cycles", "inputs", "outputs", "version", "initial_gain",
}  # fmt: skip
_IMPORT = {"batch_axis", "shapes", "outputs", "memory"}
_UNCHECKED = "the imported network is not compared"
_MAX_LISTED = 1000  # members of a population that a list shows


class Picked(NamedTuple):
    """One network of a file, its id if it is one of several, and facts of all, the best first."""

    net: Network
    genome: int | None
    members: list[dict[str, int]]


def read(data: bytes, params: Mapping[str, Any]) -> Picked | Model:
    """Read a file: its model, or of its networks the one asked for, or else the best.

    Args:
        data: the content.
        params: `name` of the file; and of a network the text of its `config`, `facts` that it does
            not say, as `load_networks` takes them, and the id of a `genome`.

    Raises:
        NeatOnnxError: as `load_model` and `load_networks` do; or there is no such network.
    """
    content = parse_json(data) if sniff(data) == "json" else data
    if is_model(content, str(params.get("name", ""))):
        return neat_onnx.load_model(content)
    facts = params.get("facts") or {}
    if not isinstance(facts, dict):
        raise OptionError("the facts are no object with a number for each name", where="facts")
    facts = {name: value for name, value in facts.items() if name in _FACTS}
    nets = neat_onnx.load_networks(content, config=params.get("config"), **facts)
    if not nets:
        raise DocumentError("there is no network in this population")
    genome = params.get("genome")
    wanted = next(iter(nets)) if genome is None else genome
    net = picked(nets, wanted)
    if len(nets) == 1:
        return Picked(net, None, [])
    members = [
        {"id": id, "neurons": len(net), "connections": len(net.connections)}
        for id, net in list(nets.items())[:_MAX_LISTED]
    ]
    return Picked(net, wanted, members)


def network_of(data: bytes, params: Mapping[str, Any]) -> Network:
    """Read the network of a file, or import its model."""
    found = read(data, params)
    return found.net if isinstance(found, Picked) else imported(made_valid(found), None)


def made_valid(model: Model) -> Model:
    """Return the model as valid ONNX, or as it is, with a warning: it may be imported even so."""
    try:
        return neat_onnx.convert(model)
    except ModelError as error:
        warn(f"the model is not valid ONNX, and stays as it is: {error.message}")
        return model


def imported(model: Model, options: object) -> Network:
    """Import a model; without a check where onnx's evaluator does not run it, which the page's
    second runtime does.

    Args:
        model: the model.
        options: arguments of `import_model` as JSON, with "none" for `batch_axis=None`; or None.

    Raises:
        OptionError: an option that it has not, or a wrong value of one.
        ModelError: as of `import_model`.
    """
    said = options or {}
    if not isinstance(said, dict) or not said.keys() <= _IMPORT:
        names = ", ".join(sorted(_IMPORT))
        raise OptionError(f"an import has the options {names}", where="import")
    if said.get("batch_axis") == "none":
        said = {**said, "batch_axis": None}
    try:
        return neat_onnx.import_model(model, **said)
    except ModelError as error:
        if not error.message.startswith(_UNCHECKED):
            raise
        return neat_onnx.import_model(model, check=False, **said)


def model_ports(model: Model, net: Network | None = None) -> dict[str, Any]:
    """Describe the inputs and outputs of a model for the form of an import.

    Returns:
        `inputs` and `outputs`: names, and axes, null for one without a name. `imported`: the names
        of the outputs of its network, if it could be imported. `memory`: the output that feeds
        each state.
    """

    def listed(entries: Sequence[ValueInfo]) -> list[dict[str, Any]]:
        return [{"name": entry.name, "axes": list(entry.shape or ())} for entry in entries]

    return {
        "inputs": listed(model.graph.inputs),
        "outputs": listed(model.graph.outputs),
        "imported": [port.name for port in (net.outputs if net else model.graph.outputs)],
        "memory": {port.input: port.output for port in net.memory} if net else {},
    }


def facts_of_checkpoint(data: bytes) -> dict[str, float | None]:
    """Return the `size`, best `fitness` and number of `species` of a checkpoint of neat-python.

    All are None for another file: opening it says more.
    """
    from neat_onnx.libraries.neat_python.pickled import unpickled  # noqa: PLC0415 - pickles alone

    try:
        found = unpickled(unpacked(data))
    except DocumentError:
        found = None
    if not (isinstance(found, tuple) and len(found) > 3 and isinstance(found[2], Mapping)):
        return dict.fromkeys(("size", "fitness", "species"))
    genomes, species = found[2], getattr(found[3], "species", None)
    known = [getattr(one, "fitness", None) for one in genomes.values()]
    return {
        "size": len(genomes),
        "fitness": max((float(one) for one in known if isinstance(one, int | float)), default=None),
        "species": len(species) if isinstance(species, Mapping) else None,
    }
