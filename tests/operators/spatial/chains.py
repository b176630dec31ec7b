"""Random chains for hypothesis: convolutions and pools on one another, then dense layers or none.

They are neurons and connections. What they slide is said by mappings, or by the network's blocks.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from neat_onnx.network.genes import NONE, Connections, Floats, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import POOLS, Kind, SpatialBlock, receptive_fields
from neat_onnx.network.window import Sizes, Window

CURVES = ("identity", "relu", "tanh", "sigmoid", "softsign", "gelu", "selu", "neat_tanh",
          "neat_sigmoid", "neat_lelu")  # fmt: skip
MAPPED: tuple[Kind, ...] = ("Conv", "Conv", "MaxPool", "AveragePool")
CARRIED: tuple[Kind, ...] = (*MAPPED, "ConvTranspose", "GlobalMaxPool", "GlobalAveragePool")


@dataclass(frozen=True)
class Chain:
    """A chain, and how to export it.

    Attributes:
        net: without blocks if it is `mapped`.
        kinds: of its spatial layers, in order: the nodes that export has to write.
        options: those that a second export has, too.
        mappings: those that it does without.
    """

    net: Network
    kinds: list[Kind]
    options: dict[str, Any]
    mappings: dict[str, Any]


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
        moved = [block.moved(order) for block in self.blocks]
        return Network(
            inputs=(Port(inputs.name, inputs.shape, order[inputs.neurons]),),
            outputs=(Port(outputs.name, outputs.shape, order[outputs.neurons]),),
            neurons=neurons,
            connections=Connections.of(order[source[kept]], order[target[kept]], weight[kept]),
            activations=activations,
            aggregations=aggregations,
            blocks=tuple(block for block in moved if block is not None) if blocks else (),
        )


@st.composite
def chains(draw: st.DrawFn, *, mapped: bool) -> Chain:
    """Chains of one to three spatial layers, over one to three axes where no mapping has to say."""
    axes = 2 if mapped else draw(st.sampled_from((1, 2, 2, 3)))
    shape = (draw(st.integers(1, 3)), *(draw(st.integers(2, 9 - 2 * axes)) for _ in range(axes)))
    building = Building(np.random.default_rng(draw(st.integers(0, 2**32 - 1))))
    current = first = building.neurons(shape)
    flat = draw(st.booleans())
    options: dict[str, Any] = {
        "opset": draw(st.sampled_from((13, 18, 22))),
        "fold": draw(st.sampled_from((False, False, True))),
        "flatten_after_pooling": draw(st.booleans()),
    }
    for _ in range(draw(st.integers(1, 3))):
        current = _spatial(draw, building, current, mapped)
        last = building.blocks[-1]
        late = last.window.leaves_out_a_late_start(last.sources.shape[1:])
        if late or (last.kind == "AveragePool" and set(last.window.dilations) != {1}):
            options["opset"] = 22  # since 22, and since 19
    for _ in range(draw(st.integers(0, 2))):
        read = current.ravel()
        if not mapped and draw(st.booleans()):  # a connection that skips what is between
            read = np.union1d(read, first.ravel())
        current = building.dense(read, draw(st.integers(1, 4)), draw(st.sampled_from(CURVES)))
    order = np.arange(len(building.activation))
    if not mapped and draw(st.booleans()):
        order = building.random.permutation(order)
    port = Port("input", (first.size,) if flat else shape, first.ravel())
    ends = (current.size,) if draw(st.booleans()) else current.shape
    net = building.network(
        port,
        Port("output", ends, current.ravel()),
        blocks=not mapped,
        order=order,
        sparse=not mapped and draw(st.booleans()),
    )
    return Chain(
        net=net,
        kinds=[block.kind for block in building.blocks],
        options=options,
        mappings=mappings_of(building.blocks, draw(st.booleans()) or flat) if mapped else {},
    )


def _spatial(draw: st.DrawFn, building: Building, sources: Ints, mapped: bool) -> Ints:
    """A spatial layer of any kind over these."""
    kind = draw(st.sampled_from(MAPPED if mapped else CARRIED))
    channels, space = len(sources), sources.shape[1:]
    curve = draw(st.sampled_from(CURVES))
    if kind.startswith("Global"):
        window = Window.of(space)
        return building.slide(kind, sources, (channels, *(1,) * len(space)), window, curve)
    window = draw(_windows(space, pool=kind in POOLS))
    if kind in POOLS:
        curve = draw(st.sampled_from(("identity", "identity", curve)))
        counted = kind == "AveragePool" and draw(st.booleans())
        shape = (channels, *window.positions(space))
        return building.slide(kind, sources, shape, window, curve, count_padding=counted)
    groups = draw(st.sampled_from([k for k in (1, 1, 2, 3) if channels % k == 0]))
    out = groups * draw(st.integers(1, 3 if groups == 1 else 2))
    positions = window.positions(space)
    if kind == "ConvTranspose":
        more = [draw(st.integers(0, stride - 1)) for stride in window.strides]
        window = Window.of(window.kernel, strides=window.strides, dilations=window.dilations)
        positions = tuple(
            (count - 1) * stride + reach + extra
            for count, stride, reach, extra in zip(
                space, window.strides, window.reach, more, strict=True
            )
        )
    return building.slide(kind, sources, (out, *positions), window, curve, groups)


@st.composite
def _windows(draw: st.DrawFn, space: Sizes, *, pool: bool) -> Window:
    """A window that shows something of the space at each of its positions."""

    def sizes(low: int, high: int) -> Sizes:
        return tuple(draw(st.integers(low, high)) for _ in space)

    kernel = tuple(map(min, sizes(1, 3), space))
    strides = sizes(1, 3)
    window = Window.of(
        kernel,
        strides=strides,
        dilations=sizes(1, 2),
        begin=tuple(draw(st.integers(0, taps - 1)) for taps in kernel),  # runtimes want no more
        end=tuple(draw(st.integers(0, taps - 1)) for taps in kernel),
        ceil=pool and draw(st.booleans()),
    )
    taps = window.taps(space)
    if not len(taps) or not np.all(np.any(taps != NONE, axis=1)):
        return Window.of(kernel, strides=strides)
    return window


# --- mappings -------------------------------------------------------------------------------------


def mappings_of(blocks: list[SpatialBlock], sizes_of_pools: bool) -> dict[str, Any]:
    """The options that say what the layers of a chain are, from the first one on."""
    found: dict[str, Any] = {"conv2d_mappings": [], "pool2d_mappings": []}
    for level, block in enumerate(blocks, 1):
        if block.kind == "Conv":
            mapping = {"layer_index": level} | _window(block.window) | _sizes("in", block.sources)
            mapping |= _sizes("out", block.neurons) | {"groups": block.groups}
            found["conv2d_mappings"].append(mapping)
            continue
        mapping = {"after_layer_index": level - 1, "type": block.kind} | _window(block.window)
        mapping |= {"ceil_mode": block.window.ceil, "count_include_pad": block.count_padding}
        found["pool2d_mappings"].append(
            mapping | (_sizes("in", block.sources) if sizes_of_pools else {})
        )
    return found


def _window(window: Window) -> dict[str, int]:
    names = ("kernel", "stride", "dilation")
    rows = (window.kernel, window.strides, window.dilations)
    found = {
        f"{name}_{axis}": row[k]
        for name, row in zip(names, rows, strict=True)
        for k, axis in enumerate(("height", "width"))
    }
    sides = ("pad_top", "pad_left", "pad_bottom", "pad_right")
    return found | dict(zip(sides, window.pads, strict=True))


def _sizes(side: str, neurons: Ints) -> dict[str, int]:
    channels, height, width = neurons.shape
    return {f"{side}_channels": channels, f"{side}_height": height, f"{side}_width": width}
