"""The genome comes back from files that optimizers rewrote: single steps and sequences."""

import pytest
from cases import cases
from rewriting import by_converter, by_onnxruntime, extended, without_copies
from sweep import WHOLE, each

from neat_onnx import export, import_model

GROUPS = ("nts-net", "nap-net", "np-rec", "np-ff")
NETWORKS = {case.name: case.network() for case in cases(*GROUPS)}


def _trips() -> list[tuple[str, bool, str]]:
    """Every sequence, in one type or the other, and a few single steps."""
    named = [
        (name, sequence)
        for name, net in NETWORKS.items()
        for sequence in ((True, False) if net.has_memory else (False,))
    ]
    return [
        (name, sequence, dtype)
        for k, (name, sequence) in enumerate(named)
        for turn, dtype in enumerate(("float32", "float64"))
        if WHOLE or (turn == k % 2 and (sequence or k % 5 == 0))
    ]


@pytest.mark.parametrize(("name", "sequence", "dtype"), _trips())
def test_the_genome_comes_back(name: str, sequence: bool, dtype: str):
    model = export(NETWORKS[name], dtype=dtype, sequence=sequence)
    want = import_model(model.to_bytes())
    for rewritten in (without_copies, *each(4, [by_onnxruntime, by_converter, extended])):
        assert import_model(rewritten(model)) == want
