"""A genome of goNEAT, and its form as plain text.

genomestart 1
trait 1 0.1 0 0 0 0 0 0 0
node ID TRAIT SENSOR TYPE ACTIVATION
gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED
genomeend 1
"""

from dataclasses import dataclass, field

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.genome_graph import Edge
from neat_onnx.libraries.names import finite_number
from neat_onnx.network.activations import FORMULA

_STEEP, _SHIFT = "4.924273 * z", "2.4621365"


def _approximation(reach: str, factor: str) -> str:
    """Two parabolas that meet at 0.5, 0 and 1 beyond ±reach."""
    low, high = f"(z + {reach})", f"(z - {reach})"
    left = f"where(less(z, -{reach}), 0.0, {low} * {low} * {factor})"
    right = f"where(less(z, {reach}), 1.0 - {high} * {high} * {factor}, 1.0)"
    return f"where(less(z, 0.0), {left}, {right})"


_FORMULAS = {
    "SigmoidReducedActivation": "sigmoid(0.5 * z)",
    "SigmoidBipolarActivation": f"2.0 * sigmoid({_STEEP}) - 1.0",
    "SigmoidSteepenedActivation": f"sigmoid({_STEEP})",
    "SigmoidApproximationActivation": _approximation("4.0", "0.03125"),
    "SigmoidSteepenedApproximationActivation": _approximation("1.0", "0.5"),
    "SigmoidInverseAbsoluteActivation": "0.5 + (z / (1.0 + abs(z))) * 0.5",
    "SigmoidLeftShiftedActivation": f"sigmoid(z + {_SHIFT})",
    "SigmoidLeftShiftedSteepenedActivation": f"sigmoid({_STEEP} + {_SHIFT})",
    "SigmoidRightShiftedSteepenedActivation": f"sigmoid({_STEEP} - {_SHIFT})",
    "TanhActivation": "tanh(0.9 * z)",
    "GaussianBipolarActivation": "2.0 * exp(-((z * 2.5) * (z * 2.5))) - 1.0",
    "NullActivation": "clip(z, 0.0, 0.0)",
    "SignActivation": "sign(z)",
    "SineActivation": "sin(2.0 * z)",
    "StepActivation": "where(less(z, 0.0), 0.0, 1.0)",
}

ACTIVATION_NAMES = {
    "SigmoidPlainActivation": "sigmoid",
    "GaussianActivation": "gaussian",
    "LinearActivation": "identity",
    "LinearAbsActivation": "abs",
    "LinearClippedActivation": "hard_tanh",
    **{name: FORMULA + text for name, text in _FORMULAS.items()},
}

DEFAULT = "SigmoidSteepenedActivation"
"""The activation of a node whose line names none."""


HIDDEN, INPUT, OUTPUT, BIAS = "HIDN", "INPT", "OUTP", "BIAS"
TYPES = (HIDDEN, INPUT, OUTPUT, BIAS)
"""The types of nodes, at the numbers that plain text has for them."""

_TRUTHS = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}


@dataclass(frozen=True)
class NodeLine:
    """A node: its id, one of `TYPES`, goNEAT's name of its activation, and where it stands."""

    id: int
    kind: str
    activation: str
    where: str


@dataclass
class Genome:
    """Nodes and genes in the order of the file."""

    id: int = 0
    nodes: list[NodeLine] = field(default_factory=list)
    genes: list[Edge] = field(default_factory=list)


def plain_genomes(content: str) -> list[Genome]:
    """Return the genomes of a file of plain text.

    Raises:
        NetworkError: a line of a node or of a gene has other fields than theirs.
    """
    found: list[Genome] = []
    open_ = False
    for number, line in enumerate(content.removeprefix("\ufeff").splitlines(), 1):
        head, *fields = line.split() or [""]
        if head == "genomestart" or (head in ("trait", "node", "gene") and not open_):
            found.append(Genome())
            open_ = True
        where = f"line {number}"
        if head == "node":
            found[-1].nodes.append(_node(fields, where))
        elif head == "gene":
            found[-1].genes.append(_gene(fields, where))
        elif head in ("genomestart", "genomeend"):
            if not found:
                raise NetworkError("a genome ends that never began", where=where)
            found[-1].id = integer(fields[0] if fields else "", where)
            open_ = head == "genomestart"
    return found


def _node(fields: list[str], where: str) -> NodeLine:
    if not 4 <= len(fields) <= 5:
        raise NetworkError("a node is `node ID TRAIT SENSOR TYPE ACTIVATION`", where=where)
    kind = integer(fields[3], where)
    if not 0 <= kind < len(TYPES):
        raise NetworkError(f"the type of a node is 0 to 3, got {kind}", where=where)
    activation = fields[4] if len(fields) == 5 else DEFAULT
    return NodeLine(integer(fields[0], where), TYPES[kind], activation, where)


def _gene(fields: list[str], where: str) -> Edge:
    if len(fields) != 8 or fields[7].lower() not in _TRUTHS:
        raise NetworkError(
            "a gene is `gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED`",
            where=where,
        )
    source, target = integer(fields[1], where), integer(fields[2], where)
    return Edge(
        source, target, finite_number(fields[3], "weight", where), _TRUTHS[fields[7].lower()]
    )


def integer(text: str, where: str) -> int:
    """Return the integer that a text is.

    Raises:
        NetworkError: it is none, or not one of 32 bits.
    """
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        raise NetworkError(f"expected a small integer, got '{text[:40]}'", where=where)
    return int(text)
