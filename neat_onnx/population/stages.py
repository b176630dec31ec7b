"""Stages: in which of a few common steps each neuron of each member is computed.

Members have topological levels of different widths, and a level of all of them is as wide as the
widest. So neurons that nothing hurries wait: each kind of neuron has a fixed number of slots a
stage, and list scheduling, longest remaining path first, fills them. A few numbers of slots are
tried, and the one whose padded matrices are smallest is taken.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import immediate_edges, schedule

_STRETCH = (1.0, 1.25, 1.5, 2.0, 3.0)
_NODES_COST = 32_000  # elements of weights whose reading takes as long as the nodes of a stage
_PRODUCT_COST = 250  # the same for one matrix product, of which a stage has one a member


@dataclass(frozen=True)
class Task:
    """A member as list scheduling sees it.

    Attributes:
        kinds: the kind of each neuron; None for inputs.
        waiting: how many neurons, inputs left out, each one reads in the same step.
        readers: the neurons that read each one in the same step.
        urgency: the longest chain of readers of each one.
    """

    kinds: Sequence[Hashable | None]
    waiting: Ints
    readers: Sequence[Sequence[int]]
    urgency: Ints


def task_of(net: Network, kinds: Sequence[Hashable | None]) -> Task:
    """Prepare a member whose neurons are of these kinds.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    plan = schedule(net)
    source, target = immediate_edges(net)
    free = net.is_input[source]
    source, target = source[~free], target[~free]
    readers: list[list[int]] = [[] for _ in range(len(net))]
    for i, j in zip(source.tolist(), target.tolist(), strict=True):
        readers[i].append(j)
    urgency = np.zeros(len(net), np.int64)
    for level in reversed(plan.levels):
        for neuron in level.tolist():
            urgency[neuron] = max((urgency[j] + 1 for j in readers[neuron]), default=0)
    return Task(kinds, np.bincount(target, minlength=len(net)), readers, urgency)


def stages_of(tasks: Sequence[Task], columns: int) -> list[Ints]:
    """Return the stage of each neuron of each member, from 1; 0 for inputs.

    Args:
        columns: number of columns before the first stage.
    """
    most: dict[Hashable, int] = defaultdict(int)
    for task in tasks:
        for kind, count in _counted(task.kinds).items():
            most[kind] = max(most[kind], count)
    depth = max(int(task.urgency.max(initial=0)) + 1 for task in tasks)
    found: list[tuple[float, list[Ints]]] = []
    for stretch in _STRETCH:
        slots = {kind: ceil(count / (depth * stretch)) for kind, count in most.items()}
        stages = [_scheduled(task, slots) for task in tasks]
        found.append((_cost(tasks, stages, columns), stages))
    levels = [_scheduled(task, None) for task in tasks]
    found.append((_cost(tasks, levels, columns), levels))
    return min(found, key=lambda each: each[0])[1]


def _counted(kinds: Sequence[Hashable | None]) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = defaultdict(int)
    for kind in kinds:
        if kind is not None:
            counts[kind] += 1
    return counts


def _scheduled(task: Task, slots: dict[Hashable, int] | None) -> Ints:
    """Fill stages with the most urgent neurons that are ready; None for `slots`: with all."""
    stage = np.zeros(len(task.kinds), np.int64)
    waiting = task.waiting.copy()
    ready = [j for j, kind in enumerate(task.kinds) if kind is not None and not waiting[j]]
    number = 0
    while ready:
        number += 1
        ready.sort(key=lambda j: (-int(task.urgency[j]), j))
        free = dict(slots or {})
        later, done = [], []
        for neuron in ready:
            kind = task.kinds[neuron]
            if slots is not None and not free[kind]:
                later.append(neuron)
                continue
            if slots is not None:
                free[kind] -= 1
            stage[neuron] = number
            done.append(neuron)
        for neuron in done:
            for reader in task.readers[neuron]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    later.append(reader)
        ready = later
    return stage


def _cost(tasks: Sequence[Task], stages: Sequence[Ints], columns: int) -> float:
    """Return the size of a member's padded matrices, with the overhead of the stages."""
    widths: dict[tuple[int, Hashable], int] = defaultdict(int)
    for task, stage in zip(tasks, stages, strict=True):
        counts = _counted(
            [
                None if kind is None else (int(number), kind)
                for number, kind in zip(stage.tolist(), task.kinds, strict=True)
            ]
        )
        for key, count in counts.items():
            widths[key] = max(widths[key], count)  # type: ignore[index]
    total: dict[int, int] = defaultdict(int)
    for (number, _), width in widths.items():
        total[number] += width
    size, before = 0, columns
    for number in sorted(total):
        size += before * total[number]
        before += total[number]
    return size + len(total) * (_PRODUCT_COST + _NODES_COST / len(tasks))
