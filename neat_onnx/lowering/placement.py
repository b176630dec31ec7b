"""Placement: which tensor, and which of its columns, holds each signal."""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.genes import Bools, Ints, distinct

UNBOUND = -1


@dataclass(frozen=True)
class Columns:
    """A tensor and the signal in each of its columns.

    Attributes:
        tensor: its name.
        signals: in column order; in C order for a tensor of more axes.
        level: topological level of the block that produced it, 0 for inputs.
        shape: shape of one sample; None for a tensor [N, width].
        flat: wished names of the tensor, and of the node, that make [N, width] of another shape.
    """

    tensor: str
    signals: Ints
    level: int
    shape: tuple[int, ...] | None = None
    flat: tuple[str, str] = ("", "")


class Placement:
    """Record where signals stand.

    Attributes:
        columns: every tensor whose columns are signals, in order of creation.
        position: for each signal its position in `columns`, UNBOUND where it stands nowhere.
        joined: the tensor that concatenates several of `columns`, by their positions.
        shaped: the tensor [N, *shape] with the elements of another one, by its name and the shape;
            the shape None is [N, width].
        sequences: where rows are the samples of all steps, the tensor [T, N, width] with the
            elements of a tensor [T·N, width].
    """

    def __init__(self, signals: int, levels: int) -> None:
        self.columns: list[Columns] = []
        self.position: Ints = np.full(signals, UNBOUND, np.int64)
        self.joined: dict[tuple[int, ...], str] = {}
        self.shaped: dict[tuple[str, tuple[int, ...] | None], str] = {}
        self.sequences: dict[str, str] = {}
        self._width_of_level: Ints = np.zeros(levels + 2, np.int64)

    def width_before(self, level: int) -> int:
        """Number of columns of all tensors of lower levels."""
        return int(np.sum(self._width_of_level[:level]))

    def bind(self, columns: Columns) -> None:
        """Say that signals stand in the columns of a tensor."""
        self.position[columns.signals] = len(self.columns)
        self._width_of_level[columns.level] += len(columns.signals)
        self.columns.append(columns)

    def are_bound(self, signals: Ints) -> bool:
        """Whether all of these signals stand somewhere."""
        return not np.any(self.position[signals] == UNBOUND)

    def are_readable(self, signals: Ints, level: int) -> Bools:
        """Whether each of these signals stands in a tensor, up to this level.

        Signals bound behind the last level are inside of a node: no tensor has their columns.
        """
        levels = np.array([each.level for each in self.columns], np.int64)
        position = self.position[signals]
        readable: Bools = position != UNBOUND
        readable[readable] = levels[position[readable]] <= level
        return readable

    def check_readable(self, signals: Ints, level: int) -> None:
        """Raise AssertionError unless all of these signals are readable."""
        for position in distinct(self.position[signals]).tolist():
            if position == UNBOUND or self.columns[position].level > level:
                found = signals[self.position[signals] == position]
                raise AssertionError(f"level {level} reads signal {found[0]}, in no tensor so far")
