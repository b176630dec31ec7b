"""Import: the network of a model, with the genome that its metadata tells of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, warn
from neat_onnx.files import parse_json
from neat_onnx.genome.blocks import restored_blocks
from neat_onnx.genome.checksum import CHECKSUM, agree, checksum
from neat_onnx.genome.compact import Others, each_neuron, with_others
from neat_onnx.genome.document import (
    CONNECTION_FIELDS,
    GENOME,
    NETWORK,
    GenomeDocument,
    backwards,
    carried_over,
    filled,
    matches,
)
from neat_onnx.genome.gene_checksum import GENES, gene_checksum
from neat_onnx.genome.in_graph import lifted_neurons
from neat_onnx.genome.of_graph import genome_of_graph
from neat_onnx.genome.port_hints import with_hints, without_options
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.core import BatchAxis, Lifted, lift
from neat_onnx.model import DataType, Model
from neat_onnx.model.inner_outputs import with_inner_outputs
from neat_onnx.network.document import ConnectionDocument, NeuronDocument
from neat_onnx.network.genes import NONE, Connections, Ints, Neurons, owned
from neat_onnx.network.memory import moved_memory
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.parsing import parse

_STEPS, _SAMPLES = 3, 5  # few: a genome that is read in another way differs on nearly all
# far above the rounding of genes, which the graph's have, and far below another function
_TOLERANCE = {DataType.FLOAT: 1e-3, DataType.DOUBLE: 1e-6}


@dataclass(frozen=True)
class Imported:
    """A network, with the graph that it was read from.

    Attributes:
        network: the network; without metadata of a genome, without neurons that no output needs.
        lifted: the network of the graph alone.
        model: the model that was lifted: the given one, repaired.
        as_exported: the graph is, bit by bit, the one that the genome was exported with.
    """

    network: Network
    lifted: Lifted
    model: Model
    as_exported: bool = False


def import_network(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    *,
    lifted: Lifted | None = None,
) -> Network:
    """Return the network of a model. See `neat_onnx.import_model`, and `imported`."""
    return imported(model, batch_axis, outputs, lifted=lifted).network


def imported(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    *,
    lifted: Lifted | None = None,
) -> Imported:
    """Return the network of a model, and how it came about.

    Args:
        model, batch_axis, outputs: see `neat_onnx.import_model`.
        lifted: the network of the graph alone, if that is known.
    """
    found = _with_genome(model, batch_axis, outputs, lifted)
    network = with_hints(found.network, found.model)
    return found if network is found.network else replace(found, network=network)


def _with_genome(
    model: Model,
    batch_axis: BatchAxis,
    outputs: Sequence[str] | None,
    lifted: Lifted | None,
) -> Imported:
    """The network with the genome that the metadata tells of, if it is of the graph."""
    as_read, model = model, with_inner_outputs(repaired(model), outputs or ())
    if lifted is None or model is not as_read:
        lifted = lift(model, batch_axis, outputs)
    graphs = Imported(lifted.network, lifted, model)
    given = {key: read for key, read in _READERS.items() if key in model.metadata}
    as_exported = agree(model.metadata.get(CHECKSUM), checksum(as_read, model.metadata))
    try:
        if given and not as_exported:
            graphs = _with_genes(graphs, batch_axis, outputs)
            lifted = graphs.lifted
    except NetworkError as error:
        warn(f"the metadata {next(iter(given))} is left out of account: {error}")
        return _of_graph(graphs)
    for key, read in given.items():
        try:
            net = read(parse_json(model.metadata[key]), lifted)
            _check_same_function(net, lifted.network, model.graph.number_type)
        except NeatOnnxError as error:
            warn(f"the metadata {key} is left out of account: {error}")
        else:
            return replace(graphs, network=net, as_exported=as_exported)
    return replace(_of_graph(graphs), as_exported=as_exported and not given)


def _with_genes(found: Imported, batch_axis: BatchAxis, outputs: Sequence[str] | None) -> Imported:
    """The graph with the genes of its metadata: as it was read, or with the ends of its layers.

    Raises:
        NetworkError: neither has these genes.
    """
    try:
        _check_genes(found.model, found.lifted)
    except NetworkError as error:
        for model in _with_ends(found.model, found.lifted):
            try:
                lifted = lift(model, batch_axis, outputs)
                _check_genes(found.model, lifted)
            except NeatOnnxError:
                continue
            return replace(found, network=lifted.network, lifted=lifted)
        raise error from None
    return found


def _with_ends(model: Model, lifted: Lifted) -> Iterator[Model]:
    """The model with the ends of layers that an optimizer took away, in a few ways."""
    # of rewritten files alone
    from neat_onnx.genome.ends import with_ends  # noqa: PLC0415

    try:
        ids = parse(GenomeDocument, parse_json(model.metadata[GENOME]), NetworkError).ids
    except (NeatOnnxError, KeyError):
        return
    layers = list(ids)
    open_ended = [name for name in ids if len(lifted.tensors.get(name, ())) != len(ids[name])]
    both = (with_ends(model, names) for names in (open_ended, layers))
    copied = with_ends(model, layers, copied=True)
    whole = (with_ends(model, names, whole=True) for names in (open_ended, layers))
    tried = [model]
    for each in (*both, copied, *whole):
        if not any(each is other for other in tried):
            tried.append(each)
            yield each


def _of_graph(found: Imported) -> Imported:
    return replace(found, network=genome_of_graph(found.network))


def _check_genes(model: Model, lifted: Lifted) -> None:
    """Refuse metadata of other genes: one bit of a weight is enough to make them others.

    A graph that was rewritten, by an optimizer, has another checksum and the same genes.

    Raises:
        NetworkError: there is no checksum of genes, or it is not that of the graph's.
    """
    if CHECKSUM not in model.metadata and GENES not in model.metadata:
        raise NetworkError("it comes without a checksum", where=CHECKSUM)
    changed = "the graph, or the metadata, was changed after the export"
    try:
        document = parse(GenomeDocument, parse_json(model.metadata[GENOME]), NetworkError)
        at = _in_order(document, lifted_neurons(document, lifted))
    except (NeatOnnxError, KeyError) as error:
        raise NetworkError(f"{changed}: {error}", where=CHECKSUM) from error
    data_type = model.graph.number_type
    facts = lifted.network, at, data_type, model.metadata
    known = model.metadata.get(GENES)
    if not any(agree(known, gene_checksum(*facts, as_made=each)) for each in (False, True)):
        raise NetworkError(changed, where=CHECKSUM)


def _embedded(value: Any, lifted: Lifted) -> Network:
    return Network.from_document(value)


def _restored(value: Any, lifted: Lifted) -> Network:
    """The genome: the lifted network with the difference applied."""
    document = parse(GenomeDocument, value, NetworkError)
    lifted_of = lifted_neurons(document, lifted)
    order = document.order if document.order is not None else list(lifted_of)
    at = _in_order(document, lifted_of)
    if len(set(order)) != len(order) or not set(lifted_of) <= set(order):
        raise NetworkError("its ids do not fit together", where="order")
    position = {neuron: k for k, neuron in enumerate(order)}
    net = lifted.network
    back = backwards(at, len(net))
    return Network(
        inputs=tuple(_moved(port, back) for port in without_options(net.inputs)),
        outputs=tuple(_moved(port, back) for port in without_options(net.outputs)),
        connections=_restored_connections(document, net, at, position),
        **_restored_neurons(document, net, at, order),
        library=document.library,
        blocks=restored_blocks(net, at, document.apart, position),
        memory=moved_memory(net.memory, back),
    )


def _in_order(document: GenomeDocument, lifted_of: dict[int, int]) -> Ints:
    """The lifted neuron of each neuron in the order of the genome, NONE where it has none."""
    order = document.order if document.order is not None else list(lifted_of)
    return np.array([lifted_of.get(neuron, NONE) for neuron in order], np.int64)


def _moved(port: Port, back: Ints) -> Port:
    neurons = back[port.neurons]
    if np.any(neurons == NONE):
        raise NetworkError(f"a neuron of the port '{port.name}' has no id", where="ids")
    return replace(port, neurons=neurons)


def _restored_neurons(
    document: GenomeDocument, net: Network, at: Ints, order: list[int]
) -> dict[str, Any]:
    changed = each_neuron(document.neurons)
    placed = at != NONE
    columns: dict[str, list[Any]] = {
        "activation": np.where(placed, net.activation_names[at], "identity").tolist(),
        "aggregation": np.where(placed, net.aggregation_names[at], "sum").tolist(),
        "bias": np.where(placed, net.neurons.bias[at], 0.0).tolist(),
        "response": np.where(placed, net.neurons.response[at], 1.0).tolist(),
        "initial": np.where(placed, net.neurons.initial[at], 0.0).tolist(),
        "name": [""] * len(order),
        "spelling": [""] * len(order),
    }
    for k, neuron in enumerate(order):
        if neuron in changed:
            gene = parse(NeuronDocument, changed[neuron], NetworkError)
            for key in gene.model_fields_set - {"id"}:
                columns[key][k] = getattr(gene, key)
        elif not placed[k]:
            raise NetworkError(f"neuron {neuron} stands nowhere", where="order")
    neurons, activations, aggregations = Neurons.of(order, **columns)
    return {"neurons": neurons, "activations": activations, "aggregations": aggregations}


def _restored_connections(
    document: GenomeDocument, net: Network, at: Ints, position: dict[int, int]
) -> Connections:
    known = carried_over(net, at, zeros=document.zeros)
    if document.added or document.moved:
        genes = _with_others(document, known, position)
    elif document.connections is None:
        genes = known
    else:
        try:
            pairs = [(position[a], position[b]) for a, b in document.connections]
        except (KeyError, ValueError):
            raise NetworkError("a connection's end has no id", where="connections") from None
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        found = filled(known, matches(known, ends[:, 0], ends[:, 1], len(at)))
        genes = replace(found, source=ends[:, 0], target=ends[:, 1])
    listed = {name for changes in document.genes.values() for name in changes}
    columns = {name: getattr(genes, name).copy() for name in CONNECTION_FIELDS if name in listed}
    for key, changes in document.genes.items():
        if not key.isdigit() or int(key) >= len(genes):
            raise NetworkError(f"there is no connection {key}", where="genes")
        gene = {"source": 0, "target": 0, "weight": 0.0} | changes
        whole = parse(ConnectionDocument, gene, NetworkError)
        for name in changes:
            value = getattr(whole, name)
            if name == "gater":
                value = position.get(value, NONE)
            columns[name][int(key)] = value
    genes = replace(genes, **{name: owned(column) for name, column in columns.items()})
    if np.any(np.isnan(genes.weight)):
        raise NetworkError("the graph has fewer connections than the genome", where="connections")
    return genes


def _with_others(
    document: GenomeDocument, known: Connections, position: dict[int, int]
) -> Connections:
    """The connections of the graph, with those added and moved at their positions.

    Raises:
        NetworkError: a position, or an id, is none; all connections are listed besides.
    """
    if document.connections is not None:
        raise NetworkError("it stands beside `connections`, which lists all", where="added")
    total = len(known) + len(document.added)
    added, ends = _at_positions(document.added, total, position, "added")
    at, pairs = _at_positions(document.moved, total, position, "moved")
    if len(np.unique(np.append(added, at))) < len(added) + len(at):
        raise NetworkError("a position stands twice", where="added")
    moved = matches(known, pairs[:, 0], pairs[:, 1], len(position))
    if np.any(moved == NONE) or len(np.unique(moved)) < len(moved):
        raise NetworkError("the graph does not have a connection once", where="moved")
    return with_others(known, Others(added, at), ends, moved)


def _at_positions(
    listed: dict[str, list[int]], total: int, position: dict[int, int], where: str
) -> tuple[Ints, Ints]:
    """Sorted positions of connections, and their sources and targets (k, 2)."""
    if not all(key.isdecimal() and int(key) < total for key in listed):
        raise NetworkError("a position is beyond the connections", where=where)
    given = sorted((int(key), ends) for key, ends in listed.items())
    try:
        ends = np.array([(position[a], position[b]) for _, (a, b) in given], np.int64)
    except (KeyError, ValueError):
        raise NetworkError("a connection's end has no id", where=where) from None
    return np.array([place for place, _ in given], np.int64), ends.reshape(-1, 2)


def _check_same_function(net: Network, lifted: Network, data_type: DataType) -> None:
    """Refuse a genome that does not compute the same as the graph.

    The checksum has shown that both are as they were exported; this shows that we still read them
    alike. Compared on a few samples, with room for genes that only the graph has rounded, unless
    the genes are the same.
    """
    if [(p.name, p.shape) for p in net.inputs + net.outputs] != [
        (p.name, p.shape) for p in lifted.inputs + lifted.outputs
    ]:
        raise NetworkError("its inputs and outputs are not those of the graph")
    if data_type not in _TOLERANCE:
        raise NetworkError(f"its numbers are {data_type.name}, and no network was exported so")
    if net.has_same_genes(lifted):
        return
    x = np.random.default_rng(0).normal(size=(_STEPS, _SAMPLES, len(net.input_neurons)))
    ours, graphs = net.run(x), lifted.run(x)
    scale = np.maximum(1.0, np.abs(graphs))
    with np.errstate(all="ignore"):
        wrong = np.abs(ours - graphs) > _TOLERANCE[data_type] * scale
    if np.any(wrong | (np.isnan(ours) != np.isnan(graphs))):
        raise NetworkError("it does not compute what the graph computes")


_READERS = {NETWORK: _embedded, GENOME: _restored}
