"""A network as the page draws it: where everything stands, and the facts shown for each part."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.drawing.scene import families_of, kinds_of, labels_of, scene
from neat_onnx.network.genes import NONE, Bools, Ints, marked
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.pruning import with_neurons
from neat_onnx.network.schedule import contributing

_DIGITS = 3  # of places, which are in rows
_MOST_NEAR = 60  # neurons of a neighbourhood


def drawing(net: Network) -> dict[str, Any]:
    """Return the picture of `net`, in rows; see `neat_onnx.drawing.layout`.

    Returns:
        `neurons`: `place` is the position in the network, `kind` input, hidden or output.
        `connections`: `gene` is the position in the network, `edge` that among the enabled ones as
        the plan counts them, or -1; source, target and gater are positions in `neurons`. Places are
        those of `places` from `first` to that of the next one; `twin` counts connections before it
        with the same ends. `layers`: a label and neurons of each. `columns`, `width`, `height`.
    """
    return _shown(net, net, np.arange(len(net)), np.arange(len(net.connections)))


def neighbourhood(net: Network, centre: int) -> dict[str, Any]:
    """Return the picture of a neuron, of what it reads and of what reads it, as `drawing` does.

    A second step away is drawn too where there is room. Of too many, those of the largest weights
    are.
    """
    genes, kept = net.connections, marked(len(net), _near(net, centre))
    gated = (genes.gater == NONE) | kept[genes.gater]
    within = np.flatnonzero(kept[genes.source] & kept[genes.target] & gated)
    return _shown(net, _part(net, kept, within), np.flatnonzero(kept), within)


def neuron_called(net: Network, text: str) -> int | None:
    """Return the position of the neuron of that name or id; None if there is none."""
    known = {str(id): place for place, id in enumerate(net.neurons.id.tolist())}
    known |= {label: place for place, label in enumerate(labels_of(net))}
    return known.get(text.strip())


def _near(net: Network, centre: int) -> Ints:
    genes = net.connections
    order = np.argsort(-np.abs(genes.weight), kind="stable")
    ends = np.stack([genes.source, genes.target, genes.gater])[:, order]
    near = np.array([centre])
    for _ in range(2):
        touching = np.isin(ends, near).any(axis=0)
        found, first = np.unique(ends[:, touching].T, return_index=True)
        found = found[np.argsort(first)]
        others = found[(found != NONE) & ~np.isin(found, near)]
        if len(near) > 1 and len(near) + len(others) > _MOST_NEAR:
            break  # not half of the second step
        near = np.concatenate([near, others[: _MOST_NEAR - 1]])
    return near


def _part(net: Network, kept: Bools, within: Ints) -> Network:
    """Return some neurons and connections to be laid out, with the ends of ways as ports."""
    genes, members = net.connections.take(within), np.flatnonzero(kept)
    last = np.setdiff1d(members, genes.source)
    last = last if last.size else members[-1:]  # all of it goes round
    first = np.setdiff1d(members, np.concatenate([genes.target, last]))
    part = replace(
        net,
        inputs=(Port("from", (len(first),), first),) if first.size else (),
        outputs=(Port("to", (len(last),), last),),
        neurons=replace(net.neurons, name=labels_of(net)),
        connections=genes,
        blocks=(),
        memory=(),
        source=None,
    )
    return with_neurons(part, kept)


def _shown(net: Network, part: Network, place: Ints, gene: Ints) -> dict[str, Any]:
    """The picture of a part, whose neurons and connections are these of the network."""
    shown = scene(part)
    where, genes, neurons = shown.layout, part.connections, part.neurons
    edge = np.where(net.connections.enabled, np.cumsum(net.connections.enabled) - 1, NONE)
    return {
        "neurons": _records(
            place=place,
            id=neurons.id,
            name=[net.neuron_names[each] for each in place.tolist()],
            label=shown.label,
            kind=kinds_of(net)[place],
            family=families_of(net)[place],
            activation=part.activation_names,
            aggregation=part.aggregation_names,
            bias=neurons.bias,
            response=neurons.response,
            idle=~contributing(net)[place],
            cell=where.is_cell,
            column=where.column,
            x=where.x.round(_DIGITS),
            y=where.y.round(_DIGITS),
        ),
        "connections": _records(
            gene=gene,
            source=genes.source,
            target=genes.target,
            weight=genes.weight,
            enabled=genes.enabled,
            delay=genes.delay,
            gater=genes.gater,
            edge=edge[gene],
            first=where.first[:-1],
            twin=where.twin,
        ),
        "places": np.stack([where.place_x, where.place_y], axis=-1).round(_DIGITS).tolist(),
        "layers": [
            {"label": each.label, "neurons": each.neurons.ravel().tolist()} for each in shown.layers
        ],
        "columns": where.columns,
        "width": round(where.width, _DIGITS),
        "height": round(where.height, _DIGITS),
    }


def _records(**columns: Sequence[Any] | np.ndarray) -> list[Any]:
    """Return a dictionary for each row of columns of one length."""
    values = (
        column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()
    )
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
