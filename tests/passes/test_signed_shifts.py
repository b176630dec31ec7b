"""Shifts of signed integers, as PyTorch's newer exporter writes `<<` and `>>`."""

import onnx
import pytest
from support.examples.graphs import assert_lifts

from neat_onnx import ModelError, import_model

TYPES = {"int32": (6, "uint32", 12, 32), "int64": (7, "uint64", 13, 64)}


def shifted(kind: str, nodes: str, mask: int = 0, by: int = 2) -> onnx.ModelProto:
    """Whole numbers n of x, and of nodes that shift them, m."""
    number, unsigned, of_bits, _ = TYPES[kind]
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (float[N, 3] x) => (float[N, 3] y)
    <{unsigned} two = {{{by}}}, {unsigned} mask = {{{mask}}}, {kind} zero = {{0}}> {{
        n = Cast <to = {number}> (x) bits = Cast <to = {of_bits}> (n) {nodes}
        y = Cast <to = 1> (m)
    }}"""
    return onnx.parser.parse_model(text.replace("SIGNED", str(number)))


LEFT = 'moved = BitShift <direction = "LEFT"> (bits, two) m = Cast <to = SIGNED> (moved)'
RIGHT = """less = Less (n, zero) moved = BitShift <direction = "RIGHT"> (bits, two)
    filled = BitwiseOr (moved, mask) a = Cast <to = SIGNED> (filled)
    b = Cast <to = SIGNED> (moved) m = Where (less, a, b)"""


@pytest.mark.parametrize("kind", TYPES)
def test_a_shift_of_signed_integers(kind: str):
    assert_lifts(shifted(kind, LEFT), scale=9)
    bits = TYPES[kind][-1]
    assert_lifts(shifted(kind, RIGHT, 3 << bits - 2), rows=40, scale=9)


OTHERS = {
    "one bit": (RIGHT, 1 << 31),
    "no bits": (LEFT.replace("LEFT", "RIGHT"), 0),
    "bits of another number": (RIGHT.replace("(moved, mask)", "(bits, mask)"), 3 << 30),
    "bits of large numbers": (
        f"big = Neg (n) {RIGHT}".replace("(n, zero)", "(big, zero)"),
        3 << 30,
    ),
    "of another type": (RIGHT.replace("SIGNED", "7"), 3 << 30),
}


def test_a_shift_into_the_sign_is_refused():
    with pytest.raises(ModelError, match="cut off to the bits of UINT32"):
        import_model(shifted("int32", LEFT, by=31))


@pytest.mark.parametrize(("nodes", "mask"), OTHERS.values(), ids=OTHERS)
def test_other_bits_of_negative_numbers_are_refused(nodes: str, mask: int):
    with pytest.raises(ModelError, match="cut off to the bits of UINT32"):
        import_model(shifted("int32", nodes, mask))
