"""Units of unrolled cells side by side: a layer, for the steps that all of them take together.

Evolution that changes one unit in one step breaks its chain there. The layer goes on behind that
step.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from neat_onnx.network.cells import COUPLED_LSTM, GRU, LINEAR_GRU, LSTM
from neat_onnx.network.genes import NONE
from neat_onnx.operators.rnn.chains import Chain, ChainFinder
from neat_onnx.operators.rnn.reads import MIN_STEPS, Reads, Steps

_CELLS = (LSTM, GRU, LINEAR_GRU, COUPLED_LSTM)


def gated_layers(reads: Reads) -> Iterator[Steps]:
    """The layers of LSTM and GRU units; no weight is checked yet."""
    finder = ChainFinder(reads)
    for cell in _CELLS:
        for times in _together(reads, list(finder.chains(cell))):
            yield from _layers(times)


def _layers(times: dict[Chain, int]) -> Iterator[Steps]:
    """The layers of chains that begin at these times: wherever the most of them go on together."""
    ends = {time + len(chain.steps) for chain, time in times.items()}
    found = [
        [
            chain.between(first - time, end - time)
            for chain, time in times.items()
            if time <= first and end <= time + len(chain.steps)
        ]
        for first, end in pairwise(sorted(ends.union(times.values())))
    ]
    width = max(map(len, found))
    for chains in found:
        if len(chains) == width and len(chains[0].steps) >= MIN_STEPS:
            layer = _side_by_side(chains)
            yield from [] if layer is None else [layer]


def _together(reads: Reads, chains: Sequence[Chain]) -> Iterator[dict[Chain, int]]:
    """The chains of one layer each, with the times of their first steps."""
    beside = _beside(reads, chains)
    times: dict[int, int] = {}
    for start in range(len(chains)):
        if start in times:
            continue
        times[start], pending, found = 0, [start], dict[Chain, int]()
        while pending:
            k = pending.pop()
            found[chains[k]] = times[k]
            for other, later in beside[k]:
                if other not in times:
                    times[other] = times[k] + later
                    pending.append(other)
        yield found


def _beside(reads: Reads, chains: Sequence[Chain]) -> dict[int, list[tuple[int, int]]]:
    """For each chain, others of its layer, and how many steps later these begin.

    Units of one layer read the same signals in the same step, or each other one step ago.
    """
    beside: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def join(one: int, other: int, later: int) -> None:
        if one != other:
            beside[one].append((other, later))
            beside[other].append((one, -later))

    seen: dict[bytes, tuple[int, int]] = {}
    owner = {chain.steps[0]["hidden"]: k for k, chain in enumerate(chains)}
    for k, chain in enumerate(chains):
        names = chain.cell.rows_of("R")
        for step, parts in enumerate(chain.steps[1:], 1):
            other, place = seen.setdefault(reads.signals_into(parts[names[0]]), (k, step))
            join(k, other, step - place)
        for name in names:
            for read in reads.into(chain.steps[1][name]):
                join(k, owner.get(read.signal, k), 0)
    return beside


def _side_by_side(chains: Sequence[Chain]) -> Steps | None:
    """The units in the order of their neurons; None if they are not all alike."""
    chains = sorted(chains, key=lambda chain: chain.steps[0]["hidden"])
    alike = {
        (chain.functions, chain.start == NONE, *(tuple(step) for step in chain.steps))
        for chain in chains
    }
    if len(alike) != 1:
        return None
    cell, functions = chains[0].cell, chains[0].functions
    steps = [
        {name: np.array([chain.steps[k][name] for chain in chains]) for name in step}
        for k, step in enumerate(chains[0].steps)
    ]
    start = np.array([chain.start for chain in chains])
    return Steps(cell, functions, steps, {} if start[0] == NONE else {cell.keeper: start})
