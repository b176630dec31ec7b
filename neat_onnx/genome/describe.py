"""Export: the facts of a network that its graph does not hold."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.genome.blocks import ids_apart
from neat_onnx.genome.carried import Carried, carried_by
from neat_onnx.genome.compact import (
    MIN_BYTES_SAVED,
    VERSION_WITH_STEPS,
    matched,
    neurons_alike,
    shorter_text,
    text_of,
    with_others,
)
from neat_onnx.genome.document import (
    CONNECTION_FIELDS,
    GENOME,
    NETWORK,
    NEURON_FIELDS,
    GenomeDocument,
    filled,
    matches,
)
from neat_onnx.genome.gene_checksum import GENES, gene_checksum
from neat_onnx.genome.of_file import lifted_again, lifted_of_file
from neat_onnx.genome.of_graph import is_of_graph
from neat_onnx.genome.port_hints import hints_entry
from neat_onnx.lifting.core import Lifted
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import Model
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.cells import part_at, part_name
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, distinct
from neat_onnx.network.network import Network

_FEW_NEURONS = 8  # with fields of their own
_MAX_CONNECTIONS_LISTED = 1024


def genome_metadata(ctx: LoweringContext, model: Model, names: Mapping[str, str]) -> dict[str, str]:
    """The metadata entries that bring back the genome of a network; none where the graph does.

    Where import would make one neuron of several that are equal, the network is embedded.

    Args:
        ctx: the export.
        model: its model, with the metadata about states alone.
        names: the names in the model of tensors that had others.
    """
    lifted = lifted_again(model)
    if lifted is None:
        return {}
    data_type = model.graph.number_type
    if not ctx.options.embed_network and is_of_graph(ctx.net, lifted, data_type):
        return hints_entry(ctx.net, lifted.network)
    tensors = _tensors(ctx, model, lifted, names)
    lifted_of = _lifted_of(ctx, tensors, lifted)
    entries = hints_entry(ctx.net, lifted.network, with_genome=True)
    is_shared = _shared(lifted_of) | _made_anew(ctx.net, lifted, lifted_of)
    if ctx.options.embed_network or np.any(is_shared):
        entries[NETWORK] = json.dumps(json.loads(ctx.net.to_json()), separators=(",", ":"))
    if np.any(is_shared):
        return entries
    apart = ids_apart(ctx.net, ctx.apart, lifted.network, lifted_of)
    entries[GENOME] = _difference(ctx.net, lifted, tensors, lifted_of, apart)
    known = {**model.metadata, **entries}
    of_file = lifted_of_file(model, lifted)
    entries[GENES] = gene_checksum(
        of_file.network, _lifted_of(ctx, tensors, of_file), data_type, known
    )
    return entries


def _tensors(
    ctx: LoweringContext, model: Model, lifted: Lifted, names: Mapping[str, str]
) -> dict[str, Ints]:
    """For each tensor of neurons that import finds, its neurons; parts of cells come last.

    A layer may be a part of a formula for import, with its neurons in the output that it becomes.
    """
    as_sequence = ctx.places.sequences
    tensors = {
        tensor: columns.signals
        for columns in ctx.places.columns
        if (tensor := _named(as_sequence.get(columns.tensor, columns.tensor), names))
        in lifted.tensors
        and columns.signals[0] < len(ctx.net)
    }
    inside = np.zeros(len(ctx.net), np.bool_)
    inside[_joined({name: each for name, each in tensors.items() if part_at(name)[1]})] = True
    tensors = {  # the memory that a cell ends with is a part of it, and another output
        name: each for name, each in tensors.items() if part_at(name)[1] or not inside[each].any()
    }
    lasting = _lasting(model)
    tensors = {lasting.get(tensor, tensor): neurons for tensor, neurons in tensors.items()}
    held = np.zeros(len(ctx.net), np.bool_)
    held[_joined(tensors)] = True
    for port in ctx.net.outputs:
        neurons = port.neurons.ravel()
        if port.name not in lifted.tensors or np.any(held[neurons]):
            continue
        if len(distinct(neurons)) == len(neurons) == len(lifted.tensors[port.name]):
            tensors[port.name] = neurons
            held[neurons] = True
    return dict(sorted(tensors.items(), key=lambda item: bool(part_at(item[0])[1])))


def _named(name: str, names: Mapping[str, str]) -> str:
    """A tensor, or a part inside a node, by the name that it has now."""
    tensor, part = part_at(name)
    now = names.get(tensor, tensor)
    return part_name(now, part) if part else now


def _joined(tensors: dict[str, Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *tensors.values()])


def _lifted_of(ctx: LoweringContext, tensors: dict[str, Ints], lifted: Lifted) -> Ints:
    """The lifted neuron of each neuron, NONE where it has none."""
    lifted_of = np.full(len(ctx.net), NONE, np.int64)
    for tensor, neurons in tensors.items():
        lifted_of[neurons] = lifted.tensors[tensor]
    return lifted_of


def _shared(lifted_of: Ints) -> Bools:
    """Which neurons have the lifted neuron of one before them."""
    held = np.flatnonzero(lifted_of != NONE)
    shared = np.zeros(len(lifted_of), np.bool_)
    if len(distinct(lifted_of[held])) < len(held):
        shared[held] = True
        shared[held[np.unique(lifted_of[held], return_index=True)[1]]] = False
    return shared


def _made_anew(net: Network, lifted: Lifted, lifted_of: Ints) -> Bools:
    """Which neurons are others in the outputs: a Gather makes several of a neuron whose activation
    ends with a factor or an addend, if ports list it twice.
    """
    found = np.zeros(len(net), np.bool_)
    made = {port.name: port.neurons.ravel() for port in lifted.network.outputs}
    for port in net.outputs:
        neurons = port.neurons.ravel()
        shown = made.get(port.name, neurons)
        if len(shown) == len(neurons):
            found[neurons] |= lifted_of[neurons] != shown
    return found


def _lasting(model: Model) -> dict[str, str]:
    """By tensor, the output that is an Identity of it, of the graph or of a body of a node:
    optimizers keep the output's name.
    """
    bodies = [body for node in model.graph.node for body in subgraphs(node)]
    return {
        node.input[0]: node.output[0]
        for graph in (model.graph, *bodies)
        for outputs in ({entry.name for entry in graph.outputs},)
        for node in graph.node
        if node.op_type == "Identity" and node.output[0] in outputs
    }


def _difference(
    net: Network,
    lifted: Lifted,
    tensors: dict[str, Ints],
    lifted_of: Ints,
    apart: list[list[int]],
) -> str:
    """The genome document, as JSON; in version 2 where that is so many bytes shorter."""
    ids = net.neurons.id
    held = _joined(tensors)
    in_order = np.array_equal(held, np.arange(len(net)))
    genes = net.connections
    carried = carried_by(lifted.network, lifted_of, genes, len(net))
    known = carried.known
    plain = GenomeDocument.model_construct(  # of our own arrays: there is nothing to validate
        version=VERSION_WITH_STEPS if carried.zeros or apart else 1,
        zeros=carried.zeros,
        apart=apart,
        library=net.library,
        ids={
            name: ids[neurons].tolist() for name, neurons in tensors.items() if not part_at(name)[1]
        },
        parts=_parts(tensors, ids),
        order=None if in_order else ids.tolist(),
        neurons=_changed_neurons(net, lifted.network, lifted_of),
        genes=_changed_connections(net, known) if carried.same else {},
    )
    others = None if carried.same or carried.others is None else sum(map(len, carried.others))
    list_is_longer = others is not None and len(genes) > max(_MAX_CONNECTIONS_LISTED, 4 * others)
    if list_is_longer and (compact := _compact(plain, net, carried)) is not None:
        return text_of(compact)
    if not carried.same:
        pairs = np.stack([ids[genes.source], ids[genes.target]], axis=1).tolist()
        listed = filled(known, matches(known, genes.source, genes.target, len(net)))
        changed = _changed_connections(net, listed)
        plain = plain.model_copy(update={"connections": pairs, "genes": changed})
    return shorter_text(plain, _compact(plain, net, carried))


def _compact(plain: GenomeDocument, net: Network, carried: Carried) -> GenomeDocument | None:
    """The document in version 2, where that may be shorter.

    Args:
        plain: the document in version 1.
        net: the network.
        carried: the connections of the graph.
    """
    parts = (ids for each in plain.parts.values() for ids in each.values())
    long = sum(map(len, (*plain.ids.values(), *parts))) >= MIN_BYTES_SAVED // 8
    if len(plain.neurons) <= _FEW_NEURONS and carried.same and not long:
        return None
    genes, others = net.connections, None if carried.same else carried.others
    alike = neurons_alike(plain.neurons)
    if others is None and not long and len(plain.neurons) - len(alike) < _FEW_NEURONS:
        return None
    fields: dict[str, Any] = {"version": VERSION_WITH_STEPS, "neurons": alike}
    if others is not None:
        ends = [np.stack([genes.source[at], genes.target[at]], axis=1) for at in others]
        moved = matched(carried.known, genes, others.moved, len(net))
        whole = with_others(carried.known, others, ends[0], moved)
        fields |= {"connections": None, "genes": _changed_connections(net, whole)}
        for name, at, pairs in zip(others._fields, others, ends, strict=True):
            ids = net.neurons.id[pairs].tolist()
            fields[name] = dict(zip(map(str, at.tolist()), ids, strict=True))
    return plain.model_copy(update=fields)


def _parts(tensors: dict[str, Ints], ids: Ints) -> dict[str, dict[str, list[int]]]:
    """The ids of neurons inside nodes, by tensor and part."""
    found: dict[str, dict[str, list[int]]] = {}
    for name, neurons in tensors.items():
        tensor, part = part_at(name)
        if part:
            found.setdefault(tensor, {})[part] = ids[neurons].tolist()
    return found


def _changed_neurons(net: Network, lifted: Network, lifted_of: Ints) -> list[dict[str, Any]]:
    """For each neuron that differs from its lifted one, its id and the fields that differ."""
    held = lifted_of != NONE
    at = np.where(held, lifted_of, 0)
    columns = [
        ("activation", net.activation_names, lifted.activation_names[at]),
        ("aggregation", net.aggregation_names, lifted.aggregation_names[at]),
        *(
            (name, getattr(net.neurons, name), getattr(lifted.neurons, name)[at])
            for name in NEURON_FIELDS
        ),
    ]
    differs = [~held | _unlike(ours, theirs) for _, ours, theirs in columns]
    texts = {"name": net.neuron_names, "spelling": net.spellings}
    given = [np.array([bool(text) for text in each], np.bool_) for each in texts.values()]
    changed = []
    for neuron in np.flatnonzero(np.any([*differs, *given], axis=0)).tolist():
        gene: dict[str, Any] = {"id": int(net.neurons.id[neuron])}
        for (name, ours, _), different in zip(columns, differs, strict=True):
            if different[neuron]:
                gene[name] = ours[neuron : neuron + 1].tolist()[0]
        gene |= {name: each[neuron] for name, each in texts.items() if each[neuron]}
        changed.append(gene)
    return changed


def _changed_connections(net: Network, known: Connections) -> dict[str, dict[str, Any]]:
    """For each connection that differs from its known fields, the fields that differ."""
    genes = net.connections
    differs = {
        name: _unlike(getattr(genes, name), getattr(known, name)) for name in CONNECTION_FIELDS
    }
    changed: dict[str, dict[str, Any]] = {}
    for position in np.flatnonzero(np.any(list(differs.values()), axis=0)).tolist():
        gene = {
            name: getattr(genes, name)[position].item()
            for name, different in differs.items()
            if different[position]
        }
        if "gater" in gene:
            gater = gene["gater"]
            gene["gater"] = None if gater == NONE else int(net.neurons.id[gater])
        changed[str(position)] = gene
    return changed


def _unlike(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> Bools:
    """Which elements differ; of numbers, in any bit: -0.0 is not 0.0."""
    different: Bools = ours != theirs
    if ours.dtype == np.float64:
        different = different | (np.signbit(ours) != np.signbit(theirs))
    return different
