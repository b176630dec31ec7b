"""Networks that neataptic and carrot evolve on, by their own mutation and crossover."""

import json

import numpy as np
import pytest
from support.examples.cases import assert_within
from support.peers.judging import run_node
from test_judged import SAMPLE, require

from neat_onnx import NetworkError

GENERATIONS = 5


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("library", ["neataptic", "carrot"])
def test_a_library_evolves_on_from_a_written_network(library):
    require(library)
    written, lines = [], ""
    for case in SAMPLE:
        try:
            document = case.network().to_library(library)
        except NetworkError:
            continue
        rows = case.inputs[:6] if case.sequence else case.inputs[:1]
        lines += json.dumps({"document": document, "inputs": rows.tolist()}) + "\n"
        written.append((case, len(rows)))
    assert len({case.group for case, _ in written}) >= 4
    answers = run_node("evolve_on.cjs", [library, str(GENERATIONS)], lines).splitlines()
    for (case, rows), answer in zip(written, map(json.loads, answers), strict=True):
        assert "error" not in answer, answer["error"]
        champion = np.array(answer["champion"], np.float64)
        assert_within(champion, case.outputs[:rows], case.tolerance64[:rows])
        assert len(answer["best"]) == GENERATIONS
        assert answer["best"] == sorted(answer["best"]), "elitism loses no champion"
