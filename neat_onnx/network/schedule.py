"""Order: which neurons can be computed together, which matter at all, and which are on cycles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    Ints,
    concatenated_ranges,
    distinct,
    marked,
    owned,
    stable_order,
)
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.structure import Structure

_MAX_NAMED_IN_A_CYCLE = 12
_FEW = 32  # edges that take as long as array operations of any number
_CONTRIBUTING = "contributing neurons"  # the key of an answer that a network keeps


@dataclass(frozen=True)
class Schedule:
    """Topological levels over the connections without delay.

    Attributes:
        level: the level of each neuron, shape (n,): 0 for inputs, else 1 + the highest level it
            reads from in the same step.
        levels: for each level from 0, the neurons on it in ascending order.
    """

    level: Ints
    levels: tuple[Ints, ...]

    @property
    def depth(self) -> int:
        """The number of levels after the inputs."""
        return len(self.levels) - 1

    @classmethod
    def of(cls, level: Ints, count: int, neurons: Ints | None = None) -> "Schedule":
        """The schedule of the level of each neuron, one of `count`; of some neurons, in order."""
        neurons = np.arange(len(level)) if neurons is None else neurons
        order = neurons[np.argsort(level[neurons], kind="stable")]
        starts = np.searchsorted(level[order], np.arange(count + 1))
        return cls(level, tuple(order[starts[k] : starts[k + 1]] for k in range(count)))


def immediate_edges(net: Structure) -> tuple[Ints, Ints]:
    """(source, target) of every dependency within one step: connections and gates without delay."""
    live = net.live
    return _edges_of(live, live.delay == 0, (live.gater != NONE) & (live.gate_delay == 0))


def _edges_of(live: Connections, kept: Bools, gated: Bools) -> tuple[Ints, Ints]:
    """(source, target) of the connections that are kept, and (gater, target) of gated ones."""
    if kept.all() and not gated.any():
        return live.source, live.target  # without a copy, as in most networks
    source = np.concatenate([live.source[kept], live.gater[gated]])
    return source, np.concatenate([live.target[kept], live.target[gated]])


def _edges_with_blocks(net: Structure, blocks: Sequence[SpatialBlock]) -> tuple[Ints, Ints, Ints]:
    """The edges without delay, and for each neuron the one of its block that stands for all."""
    one_of = np.arange(len(net))
    edges = [immediate_edges(net)]
    if not blocks:
        return *edges[0], one_of
    for block in blocks:
        members = block.neurons.ravel()
        one_of[members] = members[0]
        edges.append((block.sources.ravel(), np.full(block.sources.size, members[0])))
    source, target = (one_of[np.concatenate(ends)] for ends in zip(*edges, strict=True))
    return source, target, one_of


def schedule(net: Structure, blocks: Sequence[SpatialBlock] = ()) -> Schedule:
    """The levels of `net`; the neurons of a block are on one level, above all that it slides over.

    Raises:
        NetworkError: connections without delay form a cycle; the message names its neurons.
    """
    source, target, one_of = _edges_with_blocks(net, blocks)
    outside = net.is_input | (one_of != np.arange(len(net)))
    level, number = levels_of(source, target, net.input_neurons, outside)
    level = level[one_of]
    if np.any(level < 0):
        raise _cycle_error(net, source, target, level < 0)
    return Schedule.of(level, max(number, 1))


def levels_of(source: Ints, target: Ints, inputs: Ints, outside: Bools) -> tuple[Ints, int]:
    """The level of each neuron of a graph, -1 on a cycle and behind one; and how many there are.

    Level 0 is `inputs`; these, and others that have no level of their own, are `outside`, (n,).
    """
    waiting = np.bincount(target, minlength=len(outside))
    roots = np.flatnonzero((waiting == 0) & ~outside)
    return Edges(source, target, len(outside)).walked(inputs, roots, waiting)


def stands_on_a_level(found: Schedule, block: SpatialBlock) -> bool:
    """Whether all neurons of a block are on one level, above all that it slides over: any number of
    such blocks makes no cycle, as every edge still leads upwards.
    """
    levels = found.level[block.neurons.ravel()]
    return bool(np.all(levels == levels[0]) and np.all(found.level[block.sources] < levels[0]))


def with_late_sinks(
    before: Schedule, net: Structure, needed: Bools, blocks: Sequence[SpatialBlock] = ()
) -> Schedule:
    """The schedule with every neuron that no `needed` one reads in the same step on the last level.

    Outputs of an irregular network then come out together. Neurons of blocks stay where they are.
    """
    source, target = immediate_edges(net)
    # a window may skip a source
    read = marked(len(net), source[needed[target]], *_ends_of(blocks))
    level = before.level.copy()
    level[~read & ~net.is_input] = before.depth
    return Schedule.of(level, before.depth + 1, np.sort(np.concatenate(before.levels)))


def contributing(net: Structure, blocks: Sequence[SpatialBlock] = ()) -> Bools:
    """Which neurons some output, or some block, depends on, at this step or a later one, (n,).

    An export asks several times: a network keeps the answer.
    """
    if not blocks and (known := net.__dict__.get(_CONTRIBUTING)) is not None:
        return known  # type: ignore[no-any-return]
    source, target = _influences(net)
    needed = marked(len(net), net.output_neurons, *_ends_of(blocks))
    found = owned(Edges(target, source, len(net)).reached(needed))
    if not blocks:
        net.__dict__[_CONTRIBUTING] = found
    return found


def remembering(net: Structure) -> Bools:
    """Which neurons depend on an earlier step, directly or through others of this step, (n,)."""
    live = net.live
    late = (live.delay > 0) | ((live.gater != NONE) & (live.gate_delay > 0))
    return Edges(*_influences(net), len(net)).reached(marked(len(net), live.target[late]))


def _ends_of(blocks: Sequence[SpatialBlock]) -> list[Ints]:
    """The neurons of blocks, and their sources."""
    return [side for block in blocks for side in (block.neurons, block.sources)]


def _influences(net: Structure) -> tuple[Ints, Ints]:
    """(neuron, neuron that reads it, or whose input it gates)."""
    live = net.live
    return _edges_of(live, np.ones(len(live), np.bool_), live.gater != NONE)


class Edges:
    """Edges sorted by where they start, to walk from many neurons at once."""

    def __init__(self, source: Ints, target: Ints, count: int) -> None:
        if (source[1:] < source[:-1]).any():
            order = stable_order(source)
            source, target = source[order], target[order]
        self._target = target
        self._start = np.searchsorted(source, np.arange(count + 1))

    def leaving(self, neurons: Ints) -> Ints:
        """The targets of all edges from `neurons`, repeats included."""
        starts, ends = self._start[neurons], self._start[neurons + 1]
        if neurons.size and (starts[1:] == ends[:-1]).all():
            return self._target[starts[0] : ends[-1]]  # they stand side by side
        return self._target[concatenated_ranges(starts, ends - starts)]

    def reached(self, found: Bools) -> Bools:
        """The neurons that were found, and all that edges lead to from them, (n,)."""
        first = np.flatnonzero(found)
        return self.walked(first, first[:0], np.where(found, 0, 1))[0] >= 0

    def walked(self, first: Ints, second: Ints, waiting: Ints) -> tuple[Ints, int]:
        """Walk the edges, with all neurons that are reached in one step at once.

        Args:
            first, second: the neurons where the walk begins, and those that it joins in step 1.
            waiting: for how many edges each neuron waits until it is reached; written to.

        Returns:
            The step in which each neuron is reached, -1 for never, (n,); and the number of steps.
        """
        step, number = np.full(len(waiting), -1, np.int64), 0
        frontier = first
        while frontier.size or (number == 0 and second.size):
            step[frontier] = number
            targets = self.leaving(frontier)
            reached = distinct(targets)
            reached = reached[waiting[reached] > 0]
            if len(targets) < len(waiting):
                np.subtract.at(waiting, targets, 1)
            else:
                waiting -= np.bincount(targets, minlength=len(waiting))
            frontier = reached[waiting[reached] <= 0]
            if number == 0:
                frontier = np.concatenate([frontier, second])
            number += 1
            if frontier.size <= _FEW:
                frontier, number = self._walked_in_line(frontier, number, waiting, step)
        return step, number

    def _walked_in_line(
        self, frontier: Ints, number: int, waiting: Ints, step: Ints
    ) -> tuple[Ints, int]:
        """Walk on while few edges leave in a step: array operations take as long as some of them.

        A network may be as deep as it has neurons.
        """
        start, target, left, found = (x.data for x in (self._start, self._target, waiting, step))
        at = frontier.tolist()
        while at:
            edges = [(start[neuron], start[neuron + 1]) for neuron in at]
            if sum(end - begin for begin, end in edges) > _FEW:
                break
            following = []
            for neuron, (begin, end) in zip(at, edges, strict=True):
                found[neuron] = number
                for neighbour in target[begin:end]:
                    left[neighbour] -= 1
                    if not left[neighbour]:
                        following.append(neighbour)
            at, number = following, number + 1
        return np.array(at, np.int64), number


def _cycle_error(net: Structure, source: Ints, target: Ints, stuck: Bools) -> NetworkError:
    inside = stuck[source] & stuck[target]
    before = dict(zip(target[inside].tolist(), source[inside].tolist(), strict=True))
    neuron = next(iter(before))
    seen: dict[int, int] = {}
    while neuron not in seen:
        seen[neuron] = len(seen)
        neuron = before[neuron]
    cycle = list(seen)[seen[neuron] :][::-1]
    names = [net.label(j) for j in cycle[:_MAX_NAMED_IN_A_CYCLE]]
    if len(cycle) > _MAX_NAMED_IN_A_CYCLE:
        names.append("…")
    return NetworkError(
        f"connections without delay form a cycle: {', '.join(names)}",
        where="connections",
        hint="Give one of the cycle's connections a delay of 1, or disable it",
    )


def components(source: Ints, target: Ints, count: int) -> Ints:
    """Return for each of `count` nodes one node that stands for its component.

    Nodes are in one component if edges lead from each to the other. The largest number that leads
    to a node is its colour; what leads to that number within the colour is one component.
    """
    found, nowhere = np.arange(count), (np.zeros(0, np.int64), np.zeros(count, np.bool_))
    ways = (source, target), (target, source)
    levels = [levels_of(*way, *nowhere)[0] for way in ways]
    left = (levels[0] < 0) & (levels[1] < 0)  # on a cycle, or between two: usually nothing
    while np.any(left):
        inside = left[source] & left[target]
        source, target = source[inside], target[inside]
        colour, before = np.arange(count), np.zeros(count, np.int64)
        while not np.array_equal(colour, before):
            before = colour.copy()
            np.maximum.at(colour, target, before[source])
        same = colour[source] == colour[target]
        roots = left & (colour == np.arange(count))
        whole = Edges(target[same], source[same], count).reached(roots)
        found[whole] = colour[whole]
        left &= ~whole
    return found
