"""Stages: in which of a few common steps each neuron of each member is computed.

Members have topological levels of different widths, and a level of all of them is as wide as the
widest. So neurons that nothing hurries wait: each kind of neuron has a fixed number of slots a
stage, and list scheduling, longest remaining path first, fills them.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import immediate_edges, schedule

_STRETCH = 1.5  # the slots are enough for the most neurons of a kind in so many times the levels


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


def stages_of(tasks: Sequence[Task]) -> list[Ints]:
    """Return the stage of each neuron of each member, from 1; 0 for inputs."""
    most = Counter[Hashable]()
    for task in tasks:
        most |= Counter(kind for kind in task.kinds if kind is not None)
    depth = max(int(task.urgency.max(initial=0)) + 1 for task in tasks)
    slots = {kind: ceil(count / (_STRETCH * depth)) for kind, count in most.items()}
    return [_scheduled(task, slots) for task in tasks]


def _scheduled(task: Task, slots: dict[Hashable, int]) -> Ints:
    """Fill stages with the most urgent neurons that are ready."""
    stage = np.zeros(len(task.kinds), np.int64)
    waiting = task.waiting.copy()
    ready = [j for j, kind in enumerate(task.kinds) if kind is not None and not waiting[j]]
    number = 0
    while ready:
        number += 1
        ready.sort(key=lambda j: (-int(task.urgency[j]), j))
        free = dict(slots)
        later, done = [], []
        for neuron in ready:
            kind = task.kinds[neuron]
            if not free.get(kind):
                later.append(neuron)
                continue
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
