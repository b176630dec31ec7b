"""RNN, GRU and LSTM cells as tables: their parts, and which rows of ONNX's matrices are whose.

A cell is a few layers of neurons, its parts, each as wide as there are hidden units. A gate is a
part of sigmoid neurons, a product is a gated connection, memory is a delay of one step. A part
with weights computes, for x the inputs and h the hidden units one step ago,

    f( W·x + R·h + P ⊙ memory + b + Σ gate ⊙ source )

from its block of rows in the matrices W and R, in the biases Wb and Rb, and in the peepholes P. One
without weights only sums its links. Whoever builds, lifts, recognises or writes a cell reads this.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Link:
    """Each neuron of a part reads its own element of another part, with the weight 1.

    Attributes:
        source: the part that is read.
        gate: the part that multiplies it; "" for none.
        delay: steps.
    """

    source: str
    gate: str = ""
    delay: int = 0


@dataclass(frozen=True)
class Part:
    """One layer of neurons of a cell.

    Attributes:
        name: its name.
        activation: its activation, if the operator's are the default ones.
        rows: its block of rows in W, R and B; None for a part without weights.
        matrices: the matrices that it has rows of: W reads the inputs, R the hidden units.
        gate: the part that multiplies the hidden units that R reads; "" for none.
        links: the parts that it reads element by element.
        peephole: (block of P, delay) with which it reads the memory; None for none.
    """

    name: str
    activation: str
    rows: int | None = None
    matrices: Literal["", "W", "R", "WR"] = ""
    gate: str = ""
    links: tuple[Link, ...] = ()
    peephole: tuple[int, int] | None = None


@dataclass(frozen=True)
class Cell:
    """A cell of an ONNX operator.

    Attributes:
        operator: RNN, GRU or LSTM.
        parts: in an order in which they can be computed; the last gives the hidden units.
        blocks: blocks of rows in W and R.
        functions: the activations that the operator has by default.
        attribute: the attribute of the operator that is 1 for this cell; "" for none.
    """

    operator: Literal["RNN", "GRU", "LSTM"]
    parts: tuple[Part, ...]
    blocks: int
    functions: tuple[Literal["Sigmoid", "Tanh"], ...]
    attribute: str = ""

    @property
    def by_name(self) -> Mapping[str, Part]:
        """The parts by their names, in order."""
        return {part.name: part for part in self.parts}

    def rows_of(self, matrix: Literal["W", "R"]) -> tuple[str, ...]:
        """The parts that have rows in W or R, in the order of the rows."""
        found = {part.rows or 0: part.name for part in self.parts if matrix in part.matrices}
        return tuple(found[block] for block in sorted(found))

    @property
    def peepholes(self) -> tuple[str, ...]:
        """The parts that have a block in P, in the order of the blocks."""
        found = {part.peephole[0]: part.name for part in self.parts if part.peephole}
        return tuple(found[block] for block in sorted(found))


RNN = Cell("RNN", (Part("hidden", "tanh", 0, "WR"),), blocks=1, functions=("Tanh",))


def _gru(*candidate: Part, attribute: str = "") -> Cell:
    parts = (
        Part("update", "sigmoid", 0, "WR"),
        Part("reset", "sigmoid", 1, "WR"),
        *candidate,
        Part("fresh", "complement", links=(Link("update"),)),
        Part("hidden", "identity", links=(Link("candidate", "fresh"), Link("hidden", "update", 1))),
    )
    return Cell("GRU", parts, 3, functions=("Sigmoid", "Tanh"), attribute=attribute)


GRU = _gru(Part("candidate", "tanh", 2, "WR", gate="reset"))

LINEAR_GRU = _gru(
    Part("linear", "identity", 2, "R"),
    Part("candidate", "tanh", 2, "W", links=(Link("linear", "reset"),)),
    attribute="linear_before_reset",
)
"""A GRU with linear_before_reset: the reset gate multiplies R·h + Rb, not h."""

_LSTM_PARTS = (
    Part("entry", "sigmoid", 0, "WR", peephole=(0, 1)),
    Part("forget", "sigmoid", 2, "WR", peephole=(2, 1)),
    Part("candidate", "tanh", 3, "WR"),
    Part("memory", "identity", links=(Link("candidate", "entry"), Link("memory", "forget", 1))),
    Part("out", "sigmoid", 1, "WR", peephole=(1, 0)),
    Part("shown", "tanh", links=(Link("memory"),)),
    Part("hidden", "identity", links=(Link("shown", "out"),)),
)
LSTM = Cell("LSTM", _LSTM_PARTS, 4, functions=("Sigmoid", "Tanh", "Tanh"))

_INSIDE = "\0"  # no tensor's name has it


def part_name(tensor: str, part: str) -> str:
    """Return the key for the neurons of a part inside the node that gives `tensor`."""
    return f"{tensor}{_INSIDE}{part}"


def part_at(name: str) -> tuple[str, str]:
    """Return (tensor, part) of a key; the part is "" if the key is that of a tensor."""
    tensor, _, part = name.partition(_INSIDE)
    return tensor, part


RECOGNISED = (RNN, GRU, LINEAR_GRU, LSTM)
