"""Networks with convolutions and pools, made of neurons and connections."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neat_onnx.network.genes import Connections, Floats, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import POOLS, Kind, SpatialBlock, moved_blocks, receptive_fields
from neat_onnx.network.window import Sizes, Window


@dataclass
class Building:
    """A network in the making: genes in lists, a neuron is its position."""

    random: np.random.Generator
    activation: list[str] = field(default_factory=list)
    aggregation: list[str] = field(default_factory=list)
    bias: list[Floats] = field(default_factory=list)
    response: list[Floats] = field(default_factory=list)
    links: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)
    blocks: list[SpatialBlock] = field(default_factory=list)

    def neurons(
        self,
        shape: Sizes,
        activation: str = "identity",
        aggregation: str = "sum",
        bias: Any = 0.0,
        response: Any = 1.0,
    ) -> Ints:
        """New neurons, in C order."""
        start, count = len(self.activation), math.prod(shape)
        self.activation += [activation] * count
        self.aggregation += [aggregation] * count
        self.bias.append(np.broadcast_to(bias, count))
        self.response.append(np.broadcast_to(response, count))
        return np.arange(start, start + count).reshape(shape)

    def dense(self, sources: Ints, width: int, activation: str) -> Ints:
        """A layer that reads all of `sources`."""
        made = self.neurons((width,), activation, bias=self.random.normal(size=width))
        weight = self.random.normal(size=(width, sources.size)) / math.sqrt(sources.size)
        source, target = np.meshgrid(sources.ravel(), made)
        self.links.append((source.ravel(), target.ravel(), weight.ravel()))
        return made

    def slide(
        self,
        kind: Kind,
        sources: Ints,
        shape: Sizes,
        window: Window,
        activation: str,
        groups: int = 1,
        count_padding: bool = False,
    ) -> Ints:
        """A spatial layer of that shape; some weights of a convolution are 0."""
        blank = np.zeros(shape, np.int64)
        block = SpatialBlock(kind, sources, blank, window, groups, count_padding)
        fields = receptive_fields(block)
        if kind not in POOLS:
            kernel = self.random.normal(size=block.weight_shape)
            kernel *= self.random.random(kernel.shape) > 0.1
            kernel /= math.sqrt(max(kernel[0].size, 1))
            each = math.prod(shape[1:])
            bias = np.repeat(self.random.normal(size=shape[0]), each)
            made = self.neurons(shape, activation, bias=bias)
            weight = kernel.ravel()[fields.weight]
        else:
            aggregation = "max" if "Max" in kind else "mean"
            response: Any = 1.0
            if count_padding:
                present = np.bincount(fields.neuron, minlength=blank.size)
                response = present / np.tile(window.divisors(sources.shape[1:]), shape[0])
            made = self.neurons(shape, activation, aggregation, response=response)
            weight = np.ones(len(fields.neuron))
        self.links.append((sources.ravel()[fields.source], made.ravel()[fields.neuron], weight))
        self.blocks.append(replace(block, neurons=made))
        return made

    def network(
        self, inputs: Port, outputs: Port, *, blocks: bool, order: Ints, sparse: bool
    ) -> Network:
        """The network.

        Args:
            blocks: it carries them.
            order: the position of each neuron.
            sparse: connections of the weight 0 are left out.
        """
        source, target, weight = (np.concatenate(parts) for parts in zip(*self.links, strict=True))
        kept = (weight != 0.0) | (not sparse)
        count = len(self.activation)
        back = np.argsort(order)
        neurons, activations, aggregations = Neurons.of(
            self.random.permutation(count),
            [self.activation[j] for j in back],
            [self.aggregation[j] for j in back],
            bias=np.concatenate(self.bias)[back],
            response=np.concatenate(self.response)[back],
        )
        return Network(
            inputs=(Port(inputs.name, inputs.shape, order[inputs.neurons]),),
            outputs=(Port(outputs.name, outputs.shape, order[outputs.neurons]),),
            neurons=neurons,
            connections=Connections.of(order[source[kept]], order[target[kept]], weight[kept]),
            activations=activations,
            aggregations=aggregations,
            blocks=moved_blocks(self.blocks, order) if blocks else (),
        )
