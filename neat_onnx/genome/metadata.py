"""The genome that the metadata of a model tells of.

The graph counts. The ids of neurons are found by the tensors that export put them in; then the live
genes of the graph have to have the structure that the metadata names. What else the metadata says
is added to them, and the result counts only if its live genes are the graph's.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, warn
from neat_onnx.files import parse_json
from neat_onnx.genome.checksums import registered_functions, whole_file, written_numbers
from neat_onnx.genome.document import GENOME, NETWORK, GenomeDocument, genome_document
from neat_onnx.genome.live import LiveGenes, live_genes
from neat_onnx.genome.restored import places_of, restored, with_numbers
from neat_onnx.lifting.trace import Lifted
from neat_onnx.model import DataType, Model
from neat_onnx.model.wiring import nodes_within
from neat_onnx.network.document import ConnectionDocument
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule
from neat_onnx.network.whole_numbers import neurons_of_types


def document_of(model: Model) -> GenomeDocument | None:
    """The document of a model's genome; None without one, or with a warning that tells why."""
    text, data_type = model.metadata.get(GENOME), model.graph.number_type
    if text is None:
        return None
    try:
        if data_type not in (DataType.FLOAT, DataType.DOUBLE):
            raise NetworkError(f"the graph's numbers are rounded to {data_type.name}")
        return genome_document(text)
    except NeatOnnxError as error:
        leave_out(error)
        return None


def leave_out(error: NeatOnnxError) -> None:
    """Warn that the genome of a model is left out."""
    warn(f"the metadata {GENOME} is left out of account: {error}")


def with_genome(model: Model, lifted: Lifted, document: GenomeDocument) -> tuple[Network, bool]:
    """The network with its genome, and whether all numbers are as they were exported.

    Raises:
        NetworkError: the document is of another graph.
    """
    data_type = model.graph.number_type
    if document.whole is not None and whole_file(model, GENOME).startswith(document.whole):
        return _in_steps(model, lifted.network, document.functions), True
    if _rounds(model, lifted):
        raise NetworkError("the graph was changed after the export: it rounds numbers")
    for places in places_of(document, lifted):
        try:
            live = live_genes(lifted.network, places.place, data_type)
        except LookupError:
            continue
        if live.structure.startswith(document.structure):
            break
    else:
        raise NetworkError("the graph was changed after the export: its structure is another")
    exact = written_numbers(model.graph).startswith(document.numbers)
    net = restored(document, lifted, places, live)
    if NETWORK in model.metadata:
        try:
            embedded = _embedded(model)
            if not np.array_equal(embedded.neurons.id, net.neurons.id):
                raise NetworkError("its neurons are others")
            graphs = {name: getattr(net, name) for name in ("inputs", "outputs", "memory")}
            embedded = replace(embedded, **graphs)
            if not exact:
                embedded = with_numbers(embedded, live, data_type)
            return _checked(embedded, live, data_type), exact
        except NeatOnnxError as error:
            warn(f"the metadata {NETWORK} is left out of account: {error}")
    if _is_of_the_graph(document):
        if document.connections:
            schedule(net)  # the other neurons as well
        return net, exact
    if not exact:
        net = with_numbers(net, live, data_type)
    return _checked(net, live, data_type), exact


def _rounds(model: Model, lifted: Lifted) -> bool:
    """Whether a Cast may round: the trace of a file of ours takes none for one that does."""
    casts = [node for node in nodes_within(model.graph) if node.op_type == "Cast"]
    for name, holds in neurons_of_types(lifted.network).items() if casts else ():
        to = [cast.output[0] for cast in casts if cast.given_attributes["to"] == DataType[name]]
        if not all(each in lifted.tensors and holds[lifted.tensors[each]].all() for each in to):
            return True
    return False


def _is_of_the_graph(document: GenomeDocument) -> bool:
    """Whether a document says nothing that is computed with: names, and disabled connections."""
    fields = {name for neuron in document.neurons for name in neuron.model_fields_set}
    return (
        fields <= {"ids", "name", "spelling"}
        and not document.genes
        and all(
            isinstance(each, int) or (isinstance(each, ConnectionDocument) and not each.enabled)
            for each in document.connections
        )
    )


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


def _in_steps(model: Model, lifted: Network, functions: str | None) -> Network:
    """The network in a file that nobody has changed, whose graph has its neurons in steps.

    Raises:
        NetworkError: there is none, it has other ports than the graph, or the functions that users
            registered have another checksum than `functions`.
    """
    net = _embedded(model)
    if functions is not None and not (registered_functions(net) or "").startswith(functions):
        raise NetworkError("a function that it names is registered with another formula")
    ours, theirs = (
        [(each.name, each.shape) for each in (*of.inputs, *of.outputs)] for of in (net, lifted)
    )
    if ours != theirs:
        raise NetworkError("its ports are others")
    schedule(net)
    return net


def _embedded(model: Model) -> Network:
    """The network of network JSON.

    Raises:
        NetworkError: there is none.
    """
    if NETWORK not in model.metadata:
        raise NetworkError(f"there is no {NETWORK}")
    return Network.from_document(parse_json(model.metadata[NETWORK])).without_source()
