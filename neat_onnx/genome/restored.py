"""A genome: the live genes of a graph, with what the metadata says beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.genome.document import NEURON_DEFAULTS, GenomeDocument
from neat_onnx.genome.live import LiveGenes, live_genes, rounded
from neat_onnx.lifting.trace import Lifted
from neat_onnx.model import DataType
from neat_onnx.network.document import ConnectionDocument
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons, owned
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, moved_memory
from neat_onnx.network.spatial import moved_blocks


@dataclass(frozen=True)
class Places:
    """Places of neurons in a genome.

    Attributes:
        position: the place of each id.
        place: the place of each neuron of the graph, NONE for those that the genome has not.
    """

    position: dict[int, int]
    place: Ints


def places_of(document: GenomeDocument, lifted: Lifted) -> Iterator[Places]:
    """Yield where the neurons of a graph may stand in the genome, the likeliest first.

    They are found by the names of tensors. Where an optimizer has taken a tensor away, with an
    Identity for instance, its neurons are those of a tensor of the same size, none of which has a
    place, or those that are left in their order: export and import both number by levels. The
    checksum of the structure tells which it is.

    Raises:
        NetworkError: an id is missing, or stands twice.
    """
    listed = dict.fromkeys(each for ids in document.ids.values() for each in ids)
    named = set(document.order)
    order = [*document.order, *(each for each in listed if each not in named)]
    position = {each: at for at, each in enumerate(order)}
    if len(position) < len(order) or not position.keys() >= listed.keys():
        raise NetworkError("its ids do not fit together", where="order")
    place = [NONE] * len(lifted.network)
    missing = dict.fromkeys(listed)

    def put(ids: list[int], neurons: Ints | None) -> None:
        """Give places to the neurons of a tensor that have none, if there is one for each id."""
        if neurons is None or len(neurons) != len(ids):
            return
        for each, neuron in zip(ids, neurons.tolist(), strict=True):
            if each in missing and place[neuron] == NONE:
                place[neuron] = position[each]
                del missing[each]

    for tensor, ids in document.ids.items():
        put(ids, lifted.tensors.get(tensor))
    yield Places(position, np.array(place))
    if missing:
        in_order = np.array(place)
        left = np.flatnonzero((in_order == NONE) & ~_products(lifted.network))
        if len(left) == len(missing):
            in_order[left] = [position[each] for each in missing]
            yield Places(position, in_order)
        for tensor, ids in document.ids.items():
            if missing.keys() >= set(ids) and tensor not in lifted.tensors:
                level = tensor.partition("_")[2]  # Biased_1_max ends in the neurons of Layer_1_max
                free = [
                    (name.partition("_")[2] != level, neurons)
                    for name, neurons in lifted.tensors.items()
                    if name not in document.ids and len(neurons) == len(ids)
                    if all(place[at] == NONE for at in neurons.tolist())
                ]
                put(ids, min(free, key=lambda each: each[0], default=(True, None))[1])
        yield Places(position, np.array(place))


def _products(lifted: Network) -> Bools:
    """Which neurons are the product of two values, as only a graph has them for itself, (n,)."""
    live = lifted.live
    found: Bools = lifted.fan_in == 1
    found[live.target[live.gater == NONE]] = False
    found &= lifted.activation_names == "identity"
    return found


def restored(document: GenomeDocument, lifted: Lifted, places: Places, live: LiveGenes) -> Network:
    """The live genes, with what the metadata says.

    Raises:
        NetworkError: the metadata does not fit to the graph, or to itself.
    """
    net, position, place = lifted.network, places.position, places.place
    for port in (*net.inputs, *net.outputs):
        if (place[port.neurons] == NONE).any():
            raise NetworkError(f"a neuron of the port '{port.name}' has no id", where="ids")
    inputs, outputs = (  # what the metadata does not say of them was an option of the export
        tuple(Port(port.name, port.shape, owned(place[port.neurons])) for port in ports)
        for ports in (net.inputs, net.outputs)
    )
    neurons, activations, aggregations = Neurons.of(
        list(position), **_columns_of_neurons(document, net, position, live)
    )
    return Network(
        inputs=inputs,
        outputs=outputs,
        neurons=neurons,
        activations=activations,
        aggregations=aggregations,
        connections=_connections(document, position, live),
        library=document.library,
        blocks=moved_blocks(net.blocks, place),
        memory=moved_memory(net.memory, place),
    )


def _columns_of_neurons(
    document: GenomeDocument, net: Network, position: dict[int, int], live: LiveGenes
) -> dict[str, list[Any]]:
    columns = {name: [value] * len(position) for name, value in NEURON_DEFAULTS.items()}
    places, at = live.place.tolist(), live.neuron
    for name, where, values in (
        ("activation", places, net.activation_names[at]),
        ("aggregation", places, net.aggregation_names[at]),
        ("bias", places, net.neurons.bias[at]),
        ("response", places, net.neurons.response[at]),
        ("initial", live.late_place.tolist(), live.initial),
    ):
        for place, value in zip(where, values.tolist(), strict=True):
            columns[name][place] = value
    for fields in document.neurons:
        given = fields.model_dump(exclude_none=True, exclude={"ids"})
        for place in _positions(fields.ids, position, "neurons"):
            for name, value in given.items():
                columns[name][place] = value
    return columns


def _connections(
    document: GenomeDocument, position: dict[int, int], live: LiveGenes
) -> Connections:
    known, count = live.genes, len(live.genes.edge)
    columns: dict[str, Any] = {
        "source": known.source,
        "target": known.target,
        "weight": known.weight,
        "enabled": np.ones(count, np.bool_),
        "delay": known.delay,
        "reads_state": known.reads_state,
        "gater": known.gater,
        "gate_delay": known.gate_delay,
        "initial_gain": known.gain,
    }
    if document.connections:
        columns = _with_others(columns, document.connections, position)
    if document.genes:
        columns = {name: column.copy() for name, column in columns.items()}
    for key, fields in document.genes.items():
        if not key.isdecimal() or len(key) > 9 or int(key) >= len(columns["weight"]):
            raise NetworkError(f"there is no connection {key[:20]}", where="genes")
        for name, value in fields.model_dump(exclude_none=True).items():
            columns[name][int(key)] = value
    return Connections(**{name: owned(column) for name, column in columns.items()})


def _with_others(
    columns: dict[str, Any], listed: Sequence[Any], position: dict[int, int]
) -> dict[str, Any]:
    """The connections of the graph, as columns, with others among them as the metadata lists them.

    Raises:
        NetworkError: it lists one of the graph's twice, or one that is none, or another neuron.
    """
    count = len(columns["weight"])
    named = {each for each in listed if isinstance(each, int)}
    listed = [*listed, *(each for each in range(count) if each not in named)]
    is_known = np.array([isinstance(each, int) for each in listed], np.bool_)
    of_graph = np.array([each for each in listed if isinstance(each, int)], np.int64)
    others = [_whole(each) for each in listed if not isinstance(each, int)]
    if not np.array_equal(np.sort(of_graph), np.arange(count)):
        raise NetworkError("it does not list each of the graph's once", where="connections")
    whole: dict[str, Any] = {}
    for name, values in columns.items():
        given = [getattr(each, name) for each in others]
        if name in ("source", "target", "gater"):
            given = _positions(given, position, "connections")
        column = whole[name] = np.empty(len(is_known), values.dtype)
        column[is_known], column[~is_known] = values[of_graph], given
    return whole


def _whole(connection: list[int] | ConnectionDocument) -> ConnectionDocument:
    if isinstance(connection, ConnectionDocument):
        return connection
    if len(connection) != 2:
        raise NetworkError("a connection has two ends", where="connections")
    source, target = connection
    return ConnectionDocument.model_construct(source=source, target=target, weight=0.0)


def _positions(ids: Sequence[int | None], position: dict[int, int], where: str) -> list[int]:
    """The places of neurons; NONE for none."""
    unknown = next((each for each in ids if each is not None and each not in position), None)
    if unknown is not None:
        raise NetworkError(f"there is no neuron {unknown}", where=where)
    return [NONE if each is None else position[each] for each in ids]


@np.errstate(all="ignore")
def with_numbers(net: Network, live: LiveGenes, data_type: DataType) -> Network:
    """The network with the numbers of a graph of the same structure in its live genes.

    A gene whose number is the graph's but for rounding to the type stays as it is.
    """
    found, in_type = (
        live_genes(net, np.arange(len(net)), data_type, rounds=rounds) for rounds in (False, True)
    )
    if found.structure != live.structure or in_type.structure != live.structure:
        return net
    neurons, genes = net.neurons, net.connections
    bias, response, initial = neurons.bias.copy(), neurons.response.copy(), neurons.initial.copy()
    weight, gain = genes.weight.copy(), genes.initial_gain.copy()
    for name, values, place, factor in (
        ("bias", bias, found.neuron, found.slope),
        ("response", response, found.neuron, found.slope),
        ("weight", weight, found.genes.edge, found.weight / found.genes.weight),
    ):
        new, old, of_type = (getattr(each, name) for each in (live, found, in_type))
        other = (new != of_type) & (new != rounded(old, data_type))
        values[place[other]] += ((new - old) / factor)[other]
    for values, place, new, old in (
        (initial, found.late, live.initial, found.initial),
        (gain, found.genes.edge, live.genes.gain, found.genes.gain),
    ):
        other = new != rounded(old, data_type)
        values[place[other]] = new[other]
    genes = replace(genes, weight=owned(weight), initial_gain=owned(gain))
    neurons = replace(neurons, bias=owned(bias), response=owned(response), initial=owned(initial))
    return replace(net, neurons=neurons, connections=genes)
