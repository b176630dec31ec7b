"""Export: the metadata of a genome.

Export knows in which column of which tensor it has put each neuron, and which genes it has written:
the live ones. The document says the rest.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.genome.checksums import registered_functions, whole_file, written_numbers
from neat_onnx.genome.document import DIGITS, GENOME, NETWORK, NEURON_DEFAULTS
from neat_onnx.genome.formulas import IDENTITY
from neat_onnx.genome.live import LiveGenes, live_genes
from neat_onnx.genome.port_hints import hints_entry
from neat_onnx.lifting.recognition import known_activation
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import DataType, MetadataEntry, Model
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.cells import part_at, part_name
from neat_onnx.network.document import ConnectionDocument
from neat_onnx.network.expression import scalar_slope
from neat_onnx.network.genes import NONE, Bools, Ints, marked, place_among
from neat_onnx.network.network import Network
from neat_onnx.network.runtime_formulas import writable

_CONNECTION_DEFAULTS = {
    name: field.default for name, field in ConnectionDocument.model_fields.items()
}


def genome_metadata(
    ctx: LoweringContext, model: Model, others: Mapping[str, str]
) -> dict[str, str]:
    """The metadata entries that bring back the genome of a network.

    Args:
        ctx: the export.
        model: its model.
        others: its other metadata.
    """
    net, folded, data_type = ctx.net, ctx.options.fold, model.graph.number_type
    live = live_genes(net, np.arange(len(net)), data_type, rounds=not folded)
    ids, held = net.neurons.id, _tensors(ctx, model)
    listed = list(dict.fromkeys(np.concatenate([*held.values()]).tolist()))
    document: dict[str, Any] = {
        "library": net.library,
        "structure": live.structure[:DIGITS],
        "numbers": written_numbers(model.graph)[:DIGITS],
        "ids": {name: ids[neurons].tolist() for name, neurons in held.items()},
    }
    optional = {
        "order": ids[: len(_listed(listed, len(ids)))].tolist(),
        "neurons": _neurons(net, live, folded=folded),
        **_connections(net, live, folded=folded),
    }
    document |= {key: value for key, value in optional.items() if value}
    entries = hints_entry(net)
    if ctx.options.embed_network or _in_steps(ctx, data_type):
        entries[NETWORK] = _text(json.loads(net.to_json()))
        kept = [MetadataEntry(key=key, value=text) for key, text in {**others, **entries}.items()]
        if (functions := registered_functions(net)) is not None:
            document["functions"] = functions[:DIGITS]
        document["whole"] = whole_file(model.model_copy(update={"metadata_props": kept}), GENOME)
    return {GENOME: _text(document), **entries}


def _in_steps(ctx: LoweringContext, data_type: DataType) -> bool:
    """Whether import cannot tell the genes from the graph.

    It makes several neurons of a registered aggregation, and of a formula without a name in other
    primitives; and it calls a registered activation by the name of the package's own one whose
    formula, with its slope or without, is written alike.
    """
    if not all(aggregation_named(name).builtin for name in ctx.net.aggregations):
        return True
    for each in map(activation_named, ctx.net.activations):
        if each.builtin:
            continue
        for formula in (each.expression, scalar_slope(each.expression)[1]):
            written = writable(formula, data_type.dtype, far_from_zero=ctx.far_from_zero)
            if not each.name.startswith(FORMULA) and (known := known_activation(written)):
                if known[0] != each.name:
                    return True
            elif written != formula:
                return True
    return False


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _tensors(ctx: LoweringContext, model: Model) -> dict[str, Ints]:
    """The neurons in the columns of each tensor, or part inside a node; those of outputs stand in
    the outputs, whose names optimizers keep.
    """
    ports = {port.name: port.neurons.ravel() for port in ctx.net.outputs}
    shown = marked(len(ctx.net), ctx.net.output_neurons)
    genes = ctx.net.live
    read = np.concatenate([genes.source, genes.gater[genes.gater != NONE]])
    shown[read[ctx.net.activation_names[read] == "identity"]] = False  # else part of what reads it
    # of several nodes, or squared by what it gates: told by the tensor that others read
    own = np.array([name.startswith(FORMULA) for name in ctx.net.activation_names], np.bool_)
    own[genes.source[genes.source == genes.gater]] = True
    shown &= ~own
    as_sequence, lasting = ctx.places.sequences, _outputs_of_bodies(model)
    inside = [each.signals for each in ctx.places.columns if part_at(each.tensor)[1]]
    is_part = marked(len(ctx.net), *inside)
    found: dict[str, Ints] = {}
    level = ctx.schedule.level
    for columns in sorted(
        (each for each in ctx.places.columns if np.any(each.signals[:1] < len(ctx.net))),
        key=lambda each: int(level[each.signals[0]]) if part_at(each.tensor)[1] else -1,
    ):
        neurons = columns.signals
        tensor, part = part_at(as_sequence.get(columns.tensor, columns.tensor))
        tensor = ctx.renamed.get(tensor, tensor)
        if part:
            found[part_name(tensor, part)] = neurons
        elif not np.all(shown[neurons]) and not np.any(is_part[neurons]):
            found[tensor if np.any(own[neurons]) else lasting.get(tensor, tensor)] = neurons
    return found | ports


def _outputs_of_bodies(model: Model) -> dict[str, str]:
    """By tensor, the output of a body of a node that is an Identity of it."""
    return {
        node.input[0]: node.output[0]
        for outer in model.graph.node
        for body in subgraphs(outer)
        for outputs in ({entry.name for entry in body.outputs},)
        for node in body.node
        if node.op_type == "Identity" and node.output[0] in outputs
    }


def _neurons(net: Network, live: LiveGenes, *, folded: bool) -> list[dict[str, Any]]:
    """Fields of neurons that the graph does not give, or gives otherwise; those alike together."""
    genes, initial = net.neurons, np.zeros(len(net))
    initial[live.late] = live.initial
    columns: dict[str, Any] = {
        "activation": net.activation_names,
        "aggregation": net.aggregation_names,
        "bias": genes.bias,
        "response": genes.response,
        "initial": genes.initial,
        "name": np.array(net.neuron_names, object),
        "spelling": np.array(net.spellings, object),
    }
    told = {
        name: _unlike(column, initial if name == "initial" else NEURON_DEFAULTS[name])
        for name, column in columns.items()
    }
    for name, which in _given_otherwise(net, live, folded=folded).items():
        told[name][live.neuron] = which
    alike: dict[str, tuple[list[int], dict[str, Any]]] = {}
    for neuron in np.flatnonzero(np.any([*told.values()], axis=0)).tolist():
        fields = {
            name: column[neuron : neuron + 1].tolist()[0]
            for name, column in columns.items()
            if told[name][neuron]
        }
        alike.setdefault(repr(fields), ([], fields))[0].append(int(genes.id[neuron]))
    return [{"ids": ids, **fields} for ids, fields in alike.values()]


def _given_otherwise(net: Network, live: LiveGenes, *, folded: bool) -> dict[str, Bools]:
    """For each live neuron, the fields that its graph gives otherwise, or that are no part of it.

    An aggregation of one input, or a mean, is a sum there; so is one of none, whose bias is all.
    """
    at, moved, sloped = live.neuron, live.moved, live.slope != 1.0
    bias, response = net.neurons.bias[at], net.neurons.response[at]
    names, aggregations = net.activation_names[at], net.aggregation_names[at]
    functions, kinds = np.array(live.functions, object).reshape(-1, 2).T
    is_sum, curved, responds = kinds == "sum", functions != IDENTITY, response != 1.0
    unnamed = np.array([name.startswith(FORMULA) for name in names], np.bool_)
    is_mean = is_sum & (aggregations == "mean")  # or a sum with a response there
    of_none = (aggregations == "product") & (net.fan_in[at] == 0)
    alone = ~np.isin(at, live.genes.target)
    divided = is_mean & ~responds & (bias == 0.0)  # a quotient alone may be in f
    in_one = is_sum & (live.bias == 0.0) & sloped
    in_one &= np.isin(names, names[in_one & responds])  # of a block, all have what one has
    return {
        "activation": unnamed
        | (~curved & (names != "identity"))
        | in_one
        | divided
        | (is_mean | folded & curved) & sloped,
        "aggregation": is_sum & (aggregations != "sum"),
        "bias": of_none | moved | folded & (bias != live.bias) | (bias == 0.0) & np.signbit(bias),
        "response": (alone | of_none) & responds
        | is_mean
        | moved
        | in_one
        | folded & (sloped | responds),
    }


def _unlike(ours: np.ndarray[Any, Any], theirs: Any) -> Bools:
    """Which values differ; -0.0 is not 0.0."""
    different = np.asarray(ours != theirs, np.bool_)
    if ours.dtype.kind == "f":
        different |= np.signbit(ours) != np.signbit(theirs)
    return different


def _connections(net: Network, live: LiveGenes, *, folded: bool) -> dict[str, Any]:
    """Connections before the last that are the graph's in its order, and fields of the graph's."""
    genes, edge = net.connections, live.genes.edge
    found: dict[str, Any] = {
        "connections": [
            _as_in_json(net, at) if place == NONE else place
            for at, place in enumerate(_listed(edge, len(genes)).tolist())
        ]
    }
    in_formula = np.isin(live.genes.target, live.neuron[live.moved])
    graphs = {
        "weight": np.where(folded | in_formula, live.weight, live.genes.weight),
        "reads_state": live.genes.reads_state,
        "gate_delay": live.genes.gate_delay,
        "initial_gain": live.genes.gain,
    }
    differs = {name: getattr(genes, name)[edge] != values for name, values in graphs.items()}
    if folded:  # a slope into the weights of a sum, unless the activation keeps it
        slope, is_sum = np.ones(len(net)), [kind == "sum" for _, kind in live.functions]
        slope[live.neuron[is_sum]] = live.slope[is_sum]
        differs["weight"] |= genes.weight[edge] != live.weight / slope[live.genes.target]
    found["genes"] = {
        str(edge[at]): {
            name: getattr(genes, name)[edge[at]].item()
            for name, which in differs.items()
            if which[at]
        }
        for at in np.flatnonzero(np.any([*differs.values()], axis=0)).tolist()
    }
    return found


def _listed(genes: Ints | list[int], count: int) -> Ints:
    """The entries that a list in genome order needs, of `count`: the place of each among `genes`,
    or NONE. Behind them stands the rest of `genes`, in their order.
    """
    place = place_among(genes, count)
    named = np.flatnonzero((place == NONE) | (place >= np.append(place[1:], count)))
    return place[: named[-1] + 1] if len(named) else place[:0]


def _as_in_json(net: Network, at: int) -> dict[str, Any] | list[int]:
    """A connection as in network JSON, without the fields that are as by default; its ends alone
    where these are all that there is to say.
    """
    genes, ids = net.connections, net.neurons.id
    fields = {name: getattr(genes, name)[at].item() for name in _CONNECTION_DEFAULTS}
    for name in ("source", "target", "gater"):
        fields[name] = None if fields[name] == NONE else int(ids[fields[name]])
    said = {name: each for name, each in fields.items() if each != _CONNECTION_DEFAULTS[name]}
    is_bare = len(said) == 3 and said["weight"] == 0.0 and not np.signbit(said["weight"])
    return [said["source"], said["target"]] if is_bare else said
