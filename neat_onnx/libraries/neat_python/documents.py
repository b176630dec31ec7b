"""The JSON that neat-python exports, of genes."""

from typing import Any

from neat_onnx.libraries.neat_python.draft import Draft, NodeGene
from neat_onnx.libraries.neat_python.static import AGGREGATION_NAMES, connection_document


def _input(key: int) -> dict[str, Any]:
    return {
        "id": key,
        "type": "input",
        "activation": {"name": "identity", "custom": False},
        "aggregation": {"name": "none", "custom": False},
        "bias": 0.0,
        "response": 1.0,
    }


def document_of_draft(draft: Draft) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network with these genes."""
    topology = {
        "num_inputs": len(draft.inputs),
        "num_outputs": len(draft.outputs),
        "input_keys": draft.inputs,
        "output_keys": draft.outputs,
    }
    inputs = [] if draft.timed else [_input(key) for key in draft.inputs]
    return {
        "format_version": "1.0",
        "network_type": draft.kind,
        "metadata": {"neat_python_version": draft.version},
        "topology": topology,
        "nodes": [*inputs, *(node_document(node, draft) for node in _documented(draft))],
        "connections": [
            connection_document(gene.source, gene.target, gene.weight, gene.enabled)
            for gene in draft.connections
        ],
    }


def _documented(draft: Draft) -> list[NodeGene]:
    """The nodes of a document; it has no silent ones where the network is recurrent."""
    fed = {gene.target for gene in draft.connections if gene.enabled}
    return [node for node in draft.nodes if draft.kind != "recurrent" or node.key in fed]


def node_document(node: NodeGene, draft: Draft) -> dict[str, Any]:
    """Return a node as neat-python's JSON has it."""
    return {
        "id": node.key,
        "type": "output" if node.key in draft.outputs else "hidden",
        "activation": {"name": node.activation, "custom": node.custom},
        "aggregation": {
            "name": node.aggregation,
            "custom": node.aggregation not in AGGREGATION_NAMES,
        },
        "bias": node.bias,
        "response": node.response,
        **node.numbers,
    }
