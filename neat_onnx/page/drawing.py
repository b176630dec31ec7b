"""A network as the page draws it: where everything stands, and the facts shown for each part."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.drawing.scene import Scene, family, scene
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.pruning import with_neurons
from neat_onnx.network.schedule import contributing
from neat_onnx.page.plan import named_ports

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
    return _shown(net, scene(net), np.arange(len(net)), np.arange(len(net.connections)))


def neighbourhood(net: Network, centre: int) -> dict[str, Any]:
    """Return the picture of a neuron, of what it reads and of what reads it, as `drawing` does.

    A second step away is drawn too where there is room. Of too many, those of the largest weights
    are.
    """
    near = _near(net, centre)
    kept = np.zeros(len(net), np.bool_)
    kept[near] = True
    genes = net.connections
    within = np.flatnonzero(kept[genes.source] & kept[genes.target])
    return _shown(net, scene(_part(net, kept, within)), np.flatnonzero(kept), within)


def neuron_called(net: Network, text: str) -> int | None:
    """Return the position of the neuron of that name or id; None if there is none."""
    known = {str(id): place for place, id in enumerate(net.neurons.id.tolist())}
    known |= {label: place for place, label in enumerate(_labels(net))}
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
    genes, members, labels = net.connections.take(within), np.flatnonzero(kept), _labels(net)
    last = np.setdiff1d(members, genes.source)
    last = last if last.size else members[-1:]  # all of it goes round
    first = np.setdiff1d(members, np.concatenate([genes.target, last]))
    inside = (genes.gater != NONE) & kept[genes.gater]
    narrowed = replace(
        net,
        inputs=(Port("from", (len(first),), first),) if first.size else (),
        outputs=(Port("to", (len(last),), last),),
        connections=replace(genes, gater=np.where(inside, genes.gater, NONE)),
        blocks=(),
        memory=(),
        source=None,
    )
    part = with_neurons(narrowed, kept)
    names = tuple(labels[place] for place in members)
    return replace(part, neurons=replace(part.neurons, name=names, spelling=()))


def _labels(net: Network) -> list[str]:
    labels = [name or str(id) for name, id in zip(net.neuron_names, net.neurons.id, strict=True)]
    ports = named_ports(net)
    for kind in ("output", "input"):
        for place, name in zip(ports[f"{kind}_neurons"], ports[f"{kind}s"], strict=True):
            labels[place] = name
    return labels


def _shown(net: Network, shown: Scene, place: Ints, gene: Ints) -> dict[str, Any]:
    where, genes, neurons = shown.layout, shown.net.connections, shown.net.neurons
    kind = np.full(len(net), "hidden", object)
    kind[net.output_neurons] = "output"
    kind[net.input_neurons] = "input"
    families = np.array([family(name) for name in net.activations] or [""], object)
    edge = np.where(net.connections.enabled, np.cumsum(net.connections.enabled) - 1, NONE)
    return {
        "neurons": _records(
            place=place.tolist(),
            id=neurons.id.tolist(),
            name=[net.neuron_names[each] for each in place.tolist()],
            label=shown.label,
            kind=kind[place].tolist(),
            family=np.where(net.is_input, "input", families[net.neurons.activation])[place],
            activation=shown.net.activation_names.tolist(),
            aggregation=shown.net.aggregation_names.tolist(),
            bias=neurons.bias.tolist(),
            response=neurons.response.tolist(),
            idle=(~contributing(net))[place].tolist(),
            cell=where.is_cell.tolist(),
            column=where.column.tolist(),
            x=_rounded(where.x),
            y=_rounded(where.y),
        ),
        "connections": _records(
            gene=gene.tolist(),
            source=genes.source.tolist(),
            target=genes.target.tolist(),
            weight=genes.weight.tolist(),
            enabled=genes.enabled.tolist(),
            delay=genes.delay.tolist(),
            gater=genes.gater.tolist(),
            edge=edge[gene].tolist(),
            first=where.first[:-1].tolist(),
            twin=where.twin.tolist(),
        ),
        "places": list(zip(_rounded(where.place_x), _rounded(where.place_y), strict=True)),
        "layers": [
            {"label": each.label, "neurons": each.neurons.ravel().tolist()} for each in shown.layers
        ],
        "columns": where.columns,
        "width": round(where.width, _DIGITS),
        "height": round(where.height, _DIGITS),
    }


def _rounded(values: np.ndarray) -> list[float]:
    return [float(value) for value in values.round(_DIGITS)]


def _records(**columns: Sequence[Any] | np.ndarray) -> list[Any]:
    """Return a dictionary for each row of columns of one length."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
