"""Responses as weights: a response multiplies a sum, and of one input it can be its weight."""

from dataclasses import replace

import numpy as np

from neat_onnx.network.genes import owned
from neat_onnx.network.network import Network


def with_weights_for_responses(net: Network) -> Network:
    """The network with the responses of neurons of one input as the weights of their connections.

    That is done where no digit is lost, for weights of 1 and -1, and outside of blocks, which share
    their weights. The result is `net` where there is no such neuron.
    """
    genes, links = net.neurons, net.connections
    inputs = np.bincount(links.target, minlength=len(net))
    candidates = (genes.response != 1.0) & (inputs == 1) & (net.aggregation_names == "sum")
    for block in net.blocks:
        candidates[block.neurons] = False
    found = candidates[links.target] & (np.abs(links.weight) == 1.0) & links.enabled
    if not np.any(found):
        return net
    target = links.target[found]
    weight, response = links.weight.copy(), genes.response.copy()
    weight[found] *= response[target]
    response[target] = 1.0
    return replace(
        net,
        neurons=replace(genes, response=owned(response)),
        connections=replace(links, weight=owned(weight)),
    )
