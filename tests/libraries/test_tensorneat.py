"""TensorNEAT's `network_dict`, against outputs of its own.

`tensorneat/evolved.jsonl` holds genomes that it evolved, with what `forward` computes in float64:
as they are, and with connections added at random as recurrent ones.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neat_onnx import NetworkError, OptionError, load_network
from neat_onnx.libraries.tensorneat import ACTIVATION_NAMES, AGGREGATION_NAMES

INPUTS, OUTPUTS = 3, 2
pytestmark = pytest.mark.filterwarnings("ignore:tensorneat reads 0:neat_onnx.NeatOnnxWarning")

EVOLVED = [
    json.loads(line)
    for line in (Path(__file__).parent / "tensorneat" / "evolved.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", EVOLVED)
def test_genomes_that_tensorneat_evolved_compute_what_it_computed(case):
    net = load_network(case["document"], **case["options"])
    np.testing.assert_allclose(
        net.activate(case["inputs"]), case["outputs"], rtol=1e-12, atol=1e-12
    )


def test_an_output_may_read_hidden_nodes_alone_after_several_updates():
    node = {"bias": 0.5, "res": 1.0, "agg": "sum", "act": "tanh"}
    nodes = [{"idx": key, **node} for key in range(3)]
    conns = [{"in": 0, "out": 2, "weight": 2.0}, {"in": 2, "out": 1, "weight": 3.0}]
    conns.append({"in": 2, "out": 2, "weight": 0.1})
    document = {"nodes": nodes, "conns": conns}
    net = load_network(document, inputs=1, outputs=1, cycles=2)
    assert net.activate([1.0])[0] == pytest.approx(0.5 + 3.0 * np.tanh(2.5), rel=1e-15)
    with pytest.raises(NetworkError, match="after 1 updates its output is NaN"):
        load_network(document, inputs=1, outputs=1, cycles=1)


NODE = {"bias": 0.5, "res": 1.0, "agg": "sum", "act": "tanh"}
PAIRS = [(0, 3), (1, 4), (2, 5), (5, 3)]
GENOME = {
    "nodes": {str(key): {"idx": key, **NODE} for key in range(6)},
    "conns": {str(pair): {"in": pair[0], "out": pair[1], "weight": 0.5} for pair in PAIRS},
}


def test_the_evolved_genomes_have_every_function():
    nodes = [node for case in EVOLVED for node in case["document"]["nodes"]]
    assert {node["act"] for node in nodes} == set(ACTIVATION_NAMES)
    assert {node["agg"] for node in nodes} == set(AGGREGATION_NAMES)


def test_lists_are_read_as_objects_are():
    net = load_network(json.dumps(GENOME).encode(), inputs=INPUTS, outputs=OUTPUTS)
    listed = {key: list(value.values()) for key, value in GENOME.items()}
    assert load_network(listed, inputs=INPUTS, outputs=OUTPUTS) == net


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {}, OptionError, "does not say its inputs"),
        ({}, {"inputs": INPUTS}, OptionError, "does not say its outputs"),
        ({}, {"inputs": 40, "outputs": OUTPUTS}, NetworkError, "there is no node"),
        ({}, {"inputs": 2**62, "outputs": 2**64}, NetworkError, "there is no node"),
        ({"nodes": 3}, {}, NetworkError, "nodes is not a list"),
        ({"nodes": [3]}, {}, NetworkError, "is not an object"),
        ({"nodes": [{"idx": "x"}]}, {}, NetworkError, "idx is not an integer"),
        ({"conns": []}, {"inputs": INPUTS, "outputs": OUTPUTS}, NetworkError, "its output is NaN"),
        (
            {"conns": [{"in": 0, "out": 0, "weight": 1.0}]},
            {"inputs": INPUTS, "outputs": OUTPUTS},
            NetworkError,
            "0 is an input",
        ),
        (
            {"conns": [{"in": 0, "out": 3, "weight": "x"}]},
            {"inputs": INPUTS, "outputs": OUTPUTS},
            NetworkError,
            "weight is not a number",
        ),
        ({}, {"inputs": INPUTS, "outputs": OUTPUTS, "cycles": 0}, OptionError, "positive integer"),
    ],
)
def test_bad_documents_are_refused(change: Any, options: Any, error: Any, message: str):
    with pytest.raises(error, match=message):
        load_network(GENOME | change, **options)


def test_a_cycle_needs_the_number_of_updates():
    loop = {"(3, 3)": {"in": 3, "out": 3, "weight": 0.5}}
    with pytest.raises(OptionError, match="has a cycle"):
        load_network(GENOME | {"conns": GENOME["conns"] | loop}, inputs=INPUTS, outputs=OUTPUTS)
