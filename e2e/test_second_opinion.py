"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json

import onnx
import pytest
from site_page import DIST, case, source_text

import neat_onnx

VERSION = json.loads((DIST / "runtime" / "files.json").read_text())["version"]
CASES = [
    *("nts-net-dag-24", "np-atom-agg-median", "np-rec-01"),
    *("nap-net-random-1", "np-atom-act-sin"),
]


@pytest.mark.parametrize("name", CASES)
def test_both_runtimes_agree_and_are_named(second_opinion, name):
    neat = second_opinion
    assert neat.choose(f"{name}.json", source_text(name)) == "done"
    assert f"onnx.reference {onnx.__version__}" in neat.text("verdict-words")
    assert neat.second_verdict().startswith("Equal")
    assert neat.text("second-runtime") == f"onnxruntime-web {VERSION}"


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"sequence": True}])
def test_other_types_and_whole_sequences_are_run_too(second_opinion, options):
    net = neat_onnx.load_network(case("nap-net-lstm-1")["source"])
    model = neat_onnx.export(net, **options)
    assert second_opinion.choose("model.onnx", model.to_bytes()) == "done"
    assert second_opinion.second_verdict() == "Equal"
