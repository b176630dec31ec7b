"""Import: the network of a model, with the genome that its metadata tells of.

The graph counts. The ids of neurons are found by the tensors that export put them in; then the live
genes of the graph have to have the structure that the metadata names. What else the metadata says
is added to them, and the result counts only if its live genes are the graph's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, warn
from neat_onnx.files import parse_json
from neat_onnx.genome.blocks import restored_blocks
from neat_onnx.genome.document import (
    GENOME,
    NETWORK,
    GenomeDocument,
    genome_document,
    ids_of_tensors,
)
from neat_onnx.genome.joined import joined
from neat_onnx.genome.live import LiveGenes, live_genes
from neat_onnx.genome.places import Places, places_of
from neat_onnx.genome.port_hints import plain_ports, with_hints
from neat_onnx.genome.written import whole_file, written_numbers
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.ports import BatchAxis
from neat_onnx.lifting.trace import Lifted, trace_model
from neat_onnx.model import DataType, Model
from neat_onnx.model.ports import with_data_inputs, with_inner_outputs
from neat_onnx.network.document import ConnectionDocument
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.genes import NONE, Connections, Ints, Neurons, owned
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, moved_memory
from neat_onnx.network.pruning import with_weights_for_responses, without_idle
from neat_onnx.network.schedule import schedule

_SAMPLES = 16
_CLOSE = 1e-3  # of a network that is rounded to float32 in its file


@dataclass(frozen=True)
class Imported:
    """A network, with the graph that it was read from.

    Attributes:
        network: the network; without metadata of a genome, without neurons that no output needs.
        lifted: the network of the graph alone.
        model: the model that was lifted: the given one, repaired.
        as_exported: every live gene is, bit by bit, the one that was exported.
    """

    network: Network
    lifted: Lifted
    model: Model
    as_exported: bool = False


def import_network(
    model: Model, batch_axis: BatchAxis = "auto", outputs: Sequence[str] | None = None
) -> Network:
    """Return the network of a model. See `neat_onnx.import_model`, and `imported`."""
    return imported(model, batch_axis, outputs).network


def imported(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    *,
    check: bool = False,
) -> Imported:
    """Return the network of a model, and how it came about. See `neat_onnx.import_model`."""
    model = with_inner_outputs(with_data_inputs(repaired(model)), outputs or ())
    has_genome = GENOME in model.metadata
    ids = ids_of_tensors(model.metadata[GENOME]) if has_genome else None
    lifted = trace_model(model, batch_axis, outputs, check=check and not has_genome, ids=ids)
    found = Imported(genome_of_graph(lifted.network), lifted, model)
    if has_genome:
        try:
            net, as_exported = _with_genome(model, lifted)
            found = replace(found, network=net, as_exported=as_exported)
        except NeatOnnxError as error:
            warn(f"the metadata {GENOME} is left out of account: {error}")
            lifted = trace_model(model, batch_axis, outputs, check=check)
            found = Imported(genome_of_graph(lifted.network), lifted, model)
        else:
            if check and not as_exported:
                trace_model(model, batch_axis, outputs, check=True)
    return replace(found, network=with_hints(found.network, model))


def genome_of_graph(lifted: Network) -> Network:
    """The network of a graph without metadata: no neurons that no output needs, and weights for
    responses.
    """
    return with_weights_for_responses(without_idle(lifted))


def _with_genome(model: Model, lifted: Lifted) -> tuple[Network, bool]:
    """The network with its genome, and whether all numbers are as they were exported.

    Raises:
        NetworkError: the metadata is none, or is of another graph.
    """
    size = len(lifted.network) + len(lifted.network.connections)
    document = genome_document(model.metadata[GENOME], size)
    data_type = model.graph.number_type
    if data_type not in (DataType.FLOAT, DataType.DOUBLE):
        raise NetworkError(f"the graph's numbers are rounded to {data_type.name}")
    if document.whole is not None and document.whole == whole_file(model, GENOME):
        return _as_embedded(model, lifted.network), True
    for places in places_of(document, lifted):
        try:
            net = joined(lifted.network, places.place)
            live = live_genes(net, places.place, data_type)
        except LookupError:
            continue
        if live.structure() == document.structure:
            break
    else:
        raise NetworkError("the graph was changed after the export: its structure is another")
    exact = document.written == written_numbers(model.graph) or document.numbers in {
        live.numbers(data_type, folded=each) for each in (False, True)
    }
    restored = _restored(document, net, places, live, exact=exact)
    if NETWORK in model.metadata:
        try:
            if not exact:
                raise NetworkError("the graph has other numbers")
            embedded = _embedded(model.metadata[NETWORK], restored)
            return _checked(embedded, live, data_type), exact
        except NeatOnnxError as error:
            warn(f"the metadata {NETWORK} is left out of account: {error}")
    if not exact:
        restored = _with_numbers(restored, live, data_type)
    return _checked(restored, live, data_type), exact


def _checked(net: Network, live: LiveGenes, data_type: DataType) -> Network:
    """The network of a genome, if it computes what the graph computes.

    Raises:
        NetworkError: its live genes are others, or its neurons cannot be computed in any order.
    """
    place = np.arange(len(net))
    found = (live_genes(net, place, data_type, rounds=rounds) for rounds in (False, True))
    if not any(each.is_rounded(live, data_type) for each in found):
        raise NetworkError("it does not compute what the graph computes")
    schedule(net)  # the other neurons as well
    return net


@np.errstate(all="ignore")
def _as_embedded(model: Model, lifted: Network) -> Network:
    """The network in an unchanged export, whose graph has its neurons in steps.

    Raises:
        NetworkError: there is none, or it does not compute what the graph computes on samples.
    """
    if NETWORK not in model.metadata:
        raise NetworkError(f"there is no {NETWORK}")
    net = replace(Network.from_document(parse_json(model.metadata[NETWORK])), source=None)
    for ours, theirs in ((net.inputs, lifted.inputs), (net.outputs, lifted.outputs)):
        if [(each.name, each.shape) for each in ours] != [
            (each.name, each.shape) for each in theirs
        ]:
            raise NetworkError("its ports are others")
    schedule(net)
    x = np.random.default_rng(0).normal(size=(_SAMPLES, len(net.input_neurons)))
    got, want = evaluate(net, x), evaluate(lifted, x)
    if not np.allclose(got, want, rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
        raise NetworkError("it does not compute what the graph computes")
    return net


def _embedded(text: str, restored: Network) -> Network:
    """The network of network JSON, with the ports and the memory of the graph.

    Raises:
        NetworkError: it is none, or has other neurons.
    """
    net = Network.from_document(parse_json(text))
    if not np.array_equal(net.neurons.id, restored.neurons.id):
        raise NetworkError("its neurons are others")
    graphs = {name: getattr(restored, name) for name in ("inputs", "outputs", "memory")}
    return replace(net, source=None, **graphs)


def _restored(
    document: GenomeDocument, lifted: Network, places: Places, live: LiveGenes, *, exact: bool
) -> Network:
    """The live genes, with what the metadata says; of their numbers if they are as exported."""
    position = {each: at for at, each in enumerate(places.ids)}
    return Network(
        inputs=tuple(_placed(port, places.place) for port in plain_ports(lifted.inputs)),
        outputs=tuple(_placed(port, places.place) for port in plain_ports(lifted.outputs)),
        **_neurons(document, lifted, position, live, exact=exact),
        connections=_connections(document, lifted, position, live, exact=exact),
        library=document.library,
        blocks=restored_blocks(
            lifted,
            places.place,
            [[position.get(each, NONE) for each in ids] for ids in document.apart],
        ),
        memory=moved_memory(lifted.memory, places.place),
    )


def _placed(port: Port, place: Ints) -> Port:
    neurons = place[port.neurons]
    if np.any(neurons == NONE):
        raise NetworkError(f"a neuron of the port '{port.name}' has no id", where="ids")
    return replace(port, neurons=neurons)


def _neurons(
    document: GenomeDocument,
    lifted: Network,
    position: dict[int, int],
    live: LiveGenes,
    *,
    exact: bool,
) -> dict[str, Any]:
    count, genes = len(position), lifted.neurons
    columns: dict[str, list[Any]] = {
        "activation": ["identity"] * count,
        "aggregation": ["sum"] * count,
        "bias": [0.0] * count,
        "response": [1.0] * count,
        "initial": [0.0] * count,
        "name": [""] * count,
        "spelling": [""] * count,
    }
    of_graph = {
        "activation": lifted.activation_names,
        "aggregation": lifted.aggregation_names,
        "bias": genes.bias,
        "response": genes.response,
    }
    for name, values in of_graph.items():
        for at, value in zip(live.place.tolist(), values[live.neuron].tolist(), strict=True):
            columns[name][at] = value
    for at, value in zip(live.late_place.tolist(), live.initial.tolist(), strict=True):
        columns["initial"][at] = value
    computing = set(live.place.tolist())
    for fields in document.neurons:
        given = fields.model_dump(exclude_none=True, exclude={"ids"})
        for each in fields.ids:
            if each not in position:
                raise NetworkError(f"there is no neuron {each}", where="neurons")
            at = position[each]
            for name, value in given.items():
                if exact or name != "bias" or at not in computing:
                    columns[name][at] = value
    neurons, activations, aggregations = Neurons.of(list(position), **columns)
    return {"neurons": neurons, "activations": activations, "aggregations": aggregations}


def _connections(
    document: GenomeDocument,
    lifted: Network,
    position: dict[int, int],
    live: LiveGenes,
    *,
    exact: bool,
) -> Connections:
    known = live.genes
    columns: dict[str, Any] = {
        "source": known.source,
        "target": known.target,
        "weight": known.weight,
        "enabled": np.ones(len(known.edge), np.bool_),
        "delay": known.delay,
        "reads_state": known.reads_state,
        "gater": known.gater,
        "gate_delay": known.gate_delay,
        "initial_gain": known.gain,
    }
    if document.connections is not None:
        listed = document.connections
        of_graph = [each for each in listed if isinstance(each, int)]
        if sorted(of_graph) != list(range(len(known.edge))):
            raise NetworkError("it does not list each of the graph's once", where="connections")
        others = [_whole(each) for each in listed if not isinstance(each, int)]
        where = np.array([isinstance(each, int) for each in listed], np.bool_)
        for name, known_column in columns.items():
            column = np.empty(len(listed), known_column.dtype)
            column[where] = known_column[of_graph]
            values = [getattr(each, name) for each in others]
            if name in ("source", "target", "gater"):
                values = [_position(each, position) for each in values]
            column[~where] = values
            columns[name] = column
    fields = [(key, each.model_dump(exclude_none=True)) for key, each in document.genes.items()]
    columns = {name: column.copy() for name, column in columns.items()}
    for key, given in fields:
        if not key.isdecimal() or len(key) > 9 or int(key) >= len(columns["source"]):
            raise NetworkError(f"there is no connection {key[:20]}", where="genes")
        for name, value in given.items():
            if exact or name != "weight":
                columns[name][int(key)] = value
    return Connections(**{name: owned(column) for name, column in columns.items()})


def _whole(connection: list[int] | ConnectionDocument) -> ConnectionDocument:
    if isinstance(connection, ConnectionDocument):
        return connection
    if len(connection) != 2:
        raise NetworkError("a connection has two ends", where="connections")
    source, target = connection
    return ConnectionDocument(source=source, target=target, weight=0.0)


def _position(neuron: int | None, position: dict[int, int]) -> int:
    if neuron is None:
        return NONE
    if neuron not in position:
        raise NetworkError(f"there is no neuron {neuron}", where="connections")
    return position[neuron]


@np.errstate(all="ignore")
def _with_numbers(net: Network, live: LiveGenes, data_type: DataType) -> Network:
    """The network with the numbers of a graph of the same structure in its live genes."""
    found = live_genes(net, np.arange(len(net)), data_type)
    if found.structure() != live.structure():
        return net
    neurons, genes = net.neurons, net.connections
    bias, response, initial = neurons.bias.copy(), neurons.response.copy(), neurons.initial.copy()
    weight, gain = genes.weight.copy(), genes.initial_gain.copy()
    at, edge = found.neuron, found.genes.edge
    slope, scale = found.slope[at], found.weight / found.genes.weight
    for values, new, old in (
        (bias, live.bias, found.bias),
        (response, live.response, found.response),
    ):
        other = new != old  # -0.0 plus 0.0 would be 0.0
        values[at[other]] += (new - old)[other] / slope[other]
    initial[found.late] = live.initial
    weight[edge] += (live.weight - found.weight) / scale
    late = found.genes.gate_delay > 0
    gain[edge[late]] = live.genes.gain[late]
    genes = replace(genes, weight=owned(weight), initial_gain=owned(gain))
    neurons = replace(neurons, bias=owned(bias), response=owned(response), initial=owned(initial))
    return replace(net, neurons=neurons, connections=genes)
