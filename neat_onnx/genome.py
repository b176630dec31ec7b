"""The genome in a model's metadata: what ONNX itself cannot say, and nothing else.

ONNX says which numbers are computed from which. It does not say what a neuron's id is, that a
connection is disabled, that two connections run in parallel, or in which order genes stand. Export
lifts the model that it has just written, compares the result with the network, and writes down the
difference. Import lifts the same graph and applies it. Weights therefore come from the graph: the
metadata holds only those the graph has no place for.

Metadata can be stale or wrong. It is applied only if the network that results computes what the
graph computes; otherwise there is a warning, and the graph alone counts.
"""

import json
import warnings
from typing import Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, NetworkError
from neat_onnx.lift import BatchAxis, Lifted, lift
from neat_onnx.lowering import LoweringContext
from neat_onnx.model import DataType, Model
from neat_onnx.network.document import (
    ConnectionDocument,
    NeuronDocument,
    parse_network_document,
)
from neat_onnx.network.network import NONE, Connections, Ints, Network, Neurons, Port, codes_of
from neat_onnx.parsing import Document, parse
from neat_onnx.text import parse_json

GENOME, NETWORK = "neat_onnx.genome", "neat_onnx.network"
_SAMPLES = 5
_TOLERANCE = {DataType.FLOAT: 1e-3, DataType.DOUBLE: 1e-6}


class GenomeDocument(Document):
    """The difference between a network and what its graph lifts to."""

    version: int = Field(1, ge=1, le=1)
    library: str = "neat-onnx"
    ids: dict[str, list[int]] = Field(
        description="For each tensor of neurons, the id of the neuron in each column."
    )
    order: list[int] | None = Field(
        None, description="All ids in genome order, where `ids` are not in that order."
    )
    neurons: list[dict[str, Any]] = Field(
        default_factory=list,
        description="What differs, of neurons with an id; all there is, of neurons without a place.",
    )
    connections: list[list[int]] | None = Field(
        None, description="All connections as [source, target], where they are not the graph's."
    )
    genes: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By position: the weight of a connection that the graph does not have, and "
        "whatever is not a plain connection.",
    )


# --- export --------------------------------------------------------------------------------------


def genome_metadata(ctx: LoweringContext, model: Model) -> dict[str, str]:
    """The metadata entries that bring back the genome of the network that `model` was made from."""
    entries = {}
    lifted = lift(model)
    places = {
        columns.tensor: columns.signals
        for columns in ctx.columns
        if columns.tensor in lifted.tensors and columns.signals[0] < len(ctx.net)
    }
    document = _difference(ctx.net, lifted, places)
    entries[GENOME] = json.dumps(
        document.model_dump(exclude_defaults=True, mode="json"), separators=(",", ":")
    )
    if ctx.options.embed_network:
        entries[NETWORK] = json.dumps(json.loads(ctx.net.to_json()), separators=(",", ":"))
    return entries


def _difference(net: Network, lifted: Lifted, places: dict[str, Ints]) -> GenomeDocument:
    ids = net.neurons.id
    home = np.full(len(net), NONE, np.int64)  # the lifted neuron of each neuron
    for tensor, neurons in places.items():
        home[neurons] = lifted.tensors[tensor]
    placed = np.concatenate([np.empty(0, np.int64), *places.values()])
    in_order = np.array_equal(placed, np.arange(len(net)))
    source, target, weight = _lifted_connections(lifted.network, home, len(net))
    genes = net.connections
    same = np.array_equal(source, genes.source) and np.array_equal(target, genes.target)
    known = weight if same else _find(source, target, weight, genes, len(net))
    return GenomeDocument(
        library=net.library,
        ids={tensor: ids[neurons].tolist() for tensor, neurons in places.items()},
        order=None if in_order else ids.tolist(),
        neurons=_changed_neurons(net, lifted.network, home),
        connections=None if same else np.stack([ids[genes.source], ids[genes.target]], 1).tolist(),
        genes=_changed_connections(net, known),
    )


def _lifted_connections(net: Network, home: Ints, count: int) -> tuple[Ints, Ints, Any]:
    """The lifted connections between neurons that have a place, in canonical order: by target, then
    by source, both as positions in the genome.
    """
    back = np.full(len(net), NONE, np.int64)
    placed = np.flatnonzero(home != NONE)
    back[home[placed]] = placed
    source, target = back[net.connections.source], back[net.connections.target]
    inside = (source != NONE) & (target != NONE)
    source, target, weight = source[inside], target[inside], net.connections.weight[inside]
    key = target * count + source
    if np.any(key[1:] <= key[:-1]):
        order = np.argsort(key, kind="stable")
        source, target, weight = source[order], target[order], weight[order]
    return source, target, weight


def _find(source: Ints, target: Ints, weight: Any, genes: Connections, count: int) -> Any:
    """The lifted weight of each gene, NaN where there is none."""
    if not len(weight):
        return np.full(len(genes), np.nan)
    keys, wanted = target * count + source, genes.target * count + genes.source
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[position] == wanted, weight[position], np.nan)


def _changed_neurons(net: Network, lifted: Network, home: Ints) -> list[dict[str, Any]]:
    """For each neuron that differs from its lifted one, its id and what differs."""
    changed = []
    placed = home != NONE
    at = np.where(placed, home, 0)
    differs = ~placed | np.array([bool(name) for name in net.neuron_names])
    for key, ours, theirs in _neuron_columns(net, lifted, at):
        differs |= ~net.is_input & (np.asarray(ours != theirs))
        del key
    for neuron in np.flatnonzero(differs).tolist():
        gene = {"id": int(net.neurons.id[neuron])}
        for key, ours, theirs in _neuron_columns(net, lifted, at):
            if not placed[neuron] or (not net.is_input[neuron] and ours[neuron] != theirs[neuron]):
                gene[key] = ours[neuron].item() if hasattr(ours[neuron], "item") else ours[neuron]
        if net.neuron_names[neuron]:
            gene["name"] = net.neuron_names[neuron]  # type: ignore[assignment]
        changed.append(gene)
    return changed


def _neuron_columns(net: Network, lifted: Network, at: Ints) -> list[tuple[str, Any, Any]]:
    return [
        ("activation", net.activation_names, lifted.activation_names[at]),
        ("aggregation", net.aggregation_names, lifted.aggregation_names[at]),
        *(
            (key, getattr(net.neurons, key), getattr(lifted.neurons, key)[at])
            for key in ("bias", "response", "initial")
        ),
    ]


def _changed_connections(net: Network, known: Any) -> dict[str, dict[str, Any]]:
    """For each gene whose weight is not `known`, or that is not plain, what differs."""
    genes = net.connections
    plain = (
        genes.enabled
        & (genes.delay == 0)
        & ~genes.reads_state
        & (genes.gater == NONE)
        & (genes.gate_delay == 0)
        & (genes.initial_gain == 0)
    )
    special = np.flatnonzero(~plain | (known != genes.weight))
    if not special.size:
        return {}
    documents = net.to_document().connections
    changed = {}
    for position in special.tolist():
        gene = documents[position].model_dump(exclude_defaults=True)
        del gene["source"], gene["target"]
        if known[position] == genes.weight[position]:
            del gene["weight"]
        changed[str(position)] = gene
    return changed


# --- import --------------------------------------------------------------------------------------


def import_network(model: Model, batch_axis: BatchAxis = "auto") -> Network:
    """The network of a model. See `neat_onnx.import_model`."""
    lifted = lift(model, batch_axis)
    for key, read in ((NETWORK, _embedded), (GENOME, _restored)):
        text = model.metadata.get(key)
        if text is None:
            continue
        try:
            net = read(parse_json(text), lifted)
            _check_same_function(net, lifted.network, model.graph.inputs[0].elem_type)
        except NeatOnnxError as error:
            warnings.warn(
                f"the metadata {key} is left out of account: {error}", NeatOnnxWarning, stacklevel=3
            )
        else:
            return net
    return lifted.network


def _embedded(value: Any, lifted: Lifted) -> Network:
    return parse_network_document(value).to_network()


def _restored(value: Any, lifted: Lifted) -> Network:
    """The genome: the lifted network with the difference applied."""
    document = parse(GenomeDocument, value, NetworkError)
    home = _homes(document, lifted)
    order = document.order if document.order is not None else list(home)
    at = np.array([home.get(neuron, NONE) for neuron in order], np.int64)
    if len(set(order)) != len(order) or not set(home) <= set(order):
        raise NetworkError("its ids do not fit together", where="order")
    position = {neuron: k for k, neuron in enumerate(order)}
    net = lifted.network
    back = np.full(len(net), NONE, np.int64)
    back[at[at != NONE]] = np.flatnonzero(at != NONE)
    return Network(
        inputs=tuple(_moved(port, back) for port in net.inputs),
        outputs=tuple(_moved(port, back) for port in net.outputs),
        connections=_restored_connections(document, net, at, position),
        **_restored_neurons(document, net, at, order),
        library=document.library,
    )


def _homes(document: GenomeDocument, lifted: Lifted) -> dict[int, int]:
    """The lifted neuron of each id."""
    home: dict[int, int] = {}
    for tensor, ids in document.ids.items():
        places = lifted.tensors.get(tensor)
        if places is None or len(places) != len(ids):
            raise NetworkError(f"the graph has no {len(ids)} neurons in '{tensor}'", where="ids")
        home.update(zip(ids, places.tolist(), strict=True))
    if len(set(home.values())) != sum(len(ids) for ids in document.ids.values()):
        raise NetworkError("its ids do not fit the graph", where="ids")
    return home


def _moved(port: Port, back: Ints) -> Port:
    neurons = back[port.neurons]
    if np.any(neurons == NONE):
        raise NetworkError(f"a neuron of the port '{port.name}' has no id", where="ids")
    return Port(port.name, port.shape, neurons)


def _restored_neurons(
    document: GenomeDocument, net: Network, at: Ints, order: list[int]
) -> dict[str, Any]:
    changed = {gene.get("id"): gene for gene in document.neurons}
    placed = at != NONE
    columns: dict[str, list[Any]] = {
        "activation": np.where(placed, net.activation_names[at], "identity").tolist(),
        "aggregation": np.where(placed, net.aggregation_names[at], "sum").tolist(),
        "bias": np.where(placed, net.neurons.bias[at], 0.0).tolist(),
        "response": np.where(placed, net.neurons.response[at], 1.0).tolist(),
        "initial": np.where(placed, net.neurons.initial[at], 0.0).tolist(),
        "name": [""] * len(order),
    }
    for k, neuron in enumerate(order):
        if neuron in changed:
            gene = parse(NeuronDocument, changed[neuron], NetworkError)
            for key in gene.model_fields_set - {"id"}:
                columns[key][k] = getattr(gene, key)
        elif not placed[k]:
            raise NetworkError(f"neuron {neuron} stands nowhere", where="order")
    activations, activation = codes_of(columns["activation"])
    aggregations, aggregation = codes_of(columns["aggregation"])
    neurons = Neurons(
        id=np.array(order, np.int64),
        activation=activation,
        aggregation=aggregation,
        bias=np.array(columns["bias"], np.float64),
        response=np.array(columns["response"], np.float64),
        initial=np.array(columns["initial"], np.float64),
        name=tuple(columns["name"]) if any(columns["name"]) else (),
    )
    return {"neurons": neurons, "activations": activations, "aggregations": aggregations}


def _restored_connections(
    document: GenomeDocument, net: Network, at: Ints, position: dict[int, int]
) -> Connections:
    source, target, weight = _lifted_connections(net, at, len(at))
    if document.connections is not None:
        try:
            pairs = [(position[a], position[b]) for a, b in document.connections]
        except (KeyError, ValueError):
            raise NetworkError("a connection's end has no id", where="connections") from None
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        plain = Connections.of(ends[:, 0], ends[:, 1], np.zeros(len(ends)))
        weight = _find(source, target, weight, plain, len(at))
        source, target = ends[:, 0], ends[:, 1]
    changes: dict[str, Any] = {}
    weight = weight.copy()
    for key, gene in document.genes.items():
        if not key.isdigit() or int(key) >= len(weight):
            raise NetworkError(f"there is no connection {key}", where="genes")
        k = int(key)
        whole = parse(
            ConnectionDocument,
            {"source": 0, "target": 0, "weight": float(weight[k])} | gene
            if np.isfinite(weight[k])
            else {"source": 0, "target": 0} | gene,
            NetworkError,
        )
        weight[k] = whole.weight
        for name in whole.model_fields_set - {"source", "target", "weight"}:
            value = getattr(whole, name)
            changes.setdefault(name, {})[k] = (
                position.get(value, NONE) if name == "gater" else value
            )
    plain = Connections.of(source, target, weight)
    for name, values in changes.items():
        column = getattr(plain, name)
        column[list(values)] = list(values.values())
    if np.any(np.isnan(weight)):
        raise NetworkError("the graph has fewer connections than the genome", where="connections")
    return plain


def _check_same_function(net: Network, lifted: Network, data_type: DataType) -> None:
    """Refuse a genome that does not compute what the graph does.

    Compared on a few samples, with room for the rounding of what only one of them has rounded.
    """
    if [(p.name, p.shape) for p in net.inputs + net.outputs] != [
        (p.name, p.shape) for p in lifted.inputs + lifted.outputs
    ]:
        raise NetworkError("its inputs and outputs are not those of the graph")
    x = np.random.default_rng(0).normal(size=(_SAMPLES, len(net.input_neurons)))
    ours, graphs = net.activate(x), lifted.activate(x)
    scale = np.maximum(1.0, np.abs(graphs))
    with np.errstate(all="ignore"):
        wrong = np.abs(ours - graphs) > _TOLERANCE[data_type] * scale
    if np.any(wrong | (np.isnan(ours) != np.isnan(graphs))):
        raise NetworkError("it does not compute what the graph computes")
