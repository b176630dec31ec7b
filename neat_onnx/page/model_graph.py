"""A model as the page shows it: its nodes with their shapes, its initializers, its textual form."""

from typing import Any

from neat_onnx.genome.document import GENOME, genome_document
from neat_onnx.model import Model
from neat_onnx.model.inference import inferred_facts
from neat_onnx.network.network import Network

_MAX_NODES = 300  # that are drawn
_MAX_ELEMENTS = 20_000  # of all initializers together, that are written as text


def model_graph(net: Network, model: Model) -> dict[str, Any]:
    """Describe a model beside the network that it computes.

    Returns:
        `nodes`, and how many are `omitted`; of each `op` and `name`, positions of the nodes that it
        `reads`, names and shapes of its `initializers` (`W0 3×2`), the `shape` of its first output,
        and positions of the `neurons` that it computes. `text`, `json`: the model; None if long.
    """
    from onnx import printer  # noqa: PLC0415 - only when it is looked at

    graph = model.graph
    shapes = {name: facts.shape for name, facts in inferred_facts(model).items()}
    weights = {tensor.name for tensor in graph.initializer}
    drawn = graph.node[:_MAX_NODES]
    maker = {name: place for place, node in enumerate(drawn) for name in node.output}
    neurons = _neurons(net, model)
    elements = sum(tensor.size for tensor in graph.initializer)
    short = elements <= _MAX_ELEMENTS
    return {
        "nodes": [
            {
                "op": node.op_type,
                "name": node.name,
                "reads": sorted({maker[name] for name in node.input if name in maker}),
                "initializers": [
                    f"{name} {_sized(shapes.get(name))}" for name in node.input if name in weights
                ],
                "shape": _sized(shapes.get(node.output[0])) if node.output else "",
                "neurons": neurons[place],
            }
            for place, node in enumerate(drawn)
        ],
        "omitted": len(graph.node) - len(drawn),
        "elements": elements,
        "text": str(printer.to_text(model.to_proto())) if short else None,
        "json": model.to_json() if short else None,
    }


def _neurons(net: Network, model: Model) -> list[list[int]]:
    """The neurons of each node: of its outputs, or of the nodes that read an unnamed output."""
    given = model.metadata.get(GENOME)
    ids = genome_document(given).ids if given else {}
    position = dict(zip(net.neurons.id.tolist(), range(len(net)), strict=True))
    of: dict[str, set[int]] = {
        name: {position[id] for id in named if id in position} for name, named in ids.items()
    }
    found = []
    for node in reversed(model.graph.node):
        own = set().union(*(of.get(name, set()) for name in node.output))
        found.append(sorted(own))
        for name in () if node.op_type == "Concat" else node.input:
            if name not in ids:
                of.setdefault(name, set()).update(own)
    return found[::-1]


def _sized(shape: Any) -> str:
    return "×".join("?" if size is None else str(size) for size in shape) if shape else ""
