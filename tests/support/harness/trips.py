"""Networks on the way through ONNX and back, and the genes of a library's documents to compare."""

from collections import Counter

from support.examples.cases import cases

from neat_onnx import export, import_model, load_model

EXCEPT = {  # the library itself does not go by this flag
    "nts-net-disabled-3": "a disabled self-connection acts"
}


def documents(*groups):
    """Documents of the corpora, by the names of their cases."""
    return {
        case.name: case.source if case.kind == "network-json" else case.document["source_network"]
        for case in cases(*groups)
    }


def through_json(net):
    return import_model(load_model(export(net).to_json()))


def through_float32(net):
    return import_model(load_model(export(net, embed_network=True).to_proto().SerializeToString()))


def listed(document):
    """The nodes of NeatapticTS in their order, and its connections between gene ids."""
    ids = [node.get("geneId", at) for at, node in enumerate(document["nodes"])]
    kinds = {"variant": "hidden", "constant": "hidden"}  # synonyms there
    nodes = [
        (id, "input")
        if node["type"] == "input"
        else (id, kinds.get(node["type"], node["type"]), node["bias"], node["squash"])
        for id, node in zip(ids, document["nodes"], strict=True)
    ]
    names = dict(enumerate(ids))
    genes = Counter(
        (
            ids[gene["from"]],
            ids[gene["to"]],
            gene["weight"],
            names.get(gene.get("gater")),
            gene.get("enabled", True),
        )
        for gene in document["connections"]
    )
    return nodes, genes


def keyed(document):
    """The genes of neat-python's JSON, by their keys."""
    nodes = {node["id"]: node for node in document["nodes"] if node["type"] != "input"}
    edges = {(e["from"], e["to"]): (e["weight"], e["enabled"]) for e in document["connections"]}
    names = ("type", "bias", "response", "activation", "aggregation")
    return {key: [node[name] for name in names] for key, node in nodes.items()}, edges


def live(genome):
    """The genes of a genome, live or a stand-in."""
    nodes = {
        key: (float(node.bias), float(node.response), node.activation, node.aggregation)
        for key, node in genome.nodes.items()
    }
    edges = {
        key: (float(gene.weight), bool(gene.enabled)) for key, gene in genome.connections.items()
    }
    return nodes, edges
