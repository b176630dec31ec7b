"""TensorNEAT's `network_dict`, against outputs of its own and its `forward` transcribed to numpy.

`tensorneat/evolved.jsonl` holds genomes that it evolved, with what `forward` computes in float64:
as they are, and with connections added at random as recurrent ones.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.peers.transcribed import TENSORNEAT_ACT, TENSORNEAT_AGG, tensorneat

from neat_onnx import NetworkError, OptionError, load_network
from neat_onnx.libraries.tensorneat import ACTIVATION_NAMES, AGGREGATION_NAMES

INPUTS, OUTPUTS = 3, 2
pytestmark = pytest.mark.filterwarnings("ignore:tensorneat reads 0:neat_onnx.NeatOnnxWarning")
X = np.random.default_rng(5).normal(size=(6, INPUTS))

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


def genome(seed: int, *, cyclic: bool = False) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    hidden = int(random.integers(0, 6))
    count = INPUTS + OUTPUTS + hidden
    rank = [0] * INPUTS + [count] * OUTPUTS + list(range(1, hidden + 1))
    nodes = {
        str(k): {
            "idx": k,
            "bias": float(random.normal()),
            "res": float(random.normal()),
            "agg": str(random.choice(sorted(TENSORNEAT_AGG))),
            "act": str(random.choice(sorted(TENSORNEAT_ACT))),
        }
        for k in range(count)
    }
    pairs = {(int(random.integers(INPUTS)), o) for o in (INPUTS, INPUTS + 1)}
    for _ in range(3 * count):
        i, j = random.choice(count, 2).tolist()
        if j >= INPUTS and (cyclic or rank[i] < rank[j]):
            pairs.add((i, j))
    conns = {
        str(pair): {"in": pair[0], "out": pair[1], "weight": float(random.normal())}
        for pair in sorted(pairs)
    }
    return {"nodes": nodes, "conns": conns}


def test_all_functions_have_names():
    assert set(ACTIVATION_NAMES) == set(TENSORNEAT_ACT)
    assert set(AGGREGATION_NAMES) == set(TENSORNEAT_AGG)


@pytest.mark.parametrize("seed", range(30))
def test_feedforward_genomes(seed: int):
    network = genome(seed)
    net = load_network(json.dumps(network).encode(), inputs=INPUTS, outputs=OUTPUTS)
    want = [tensorneat(network, row, OUTPUTS) for row in X]
    np.testing.assert_allclose(net.activate(X), want, rtol=1e-12, atol=1e-12)
    listed = {key: list(value.values()) for key, value in network.items()}
    assert load_network(listed, inputs=INPUTS, outputs=OUTPUTS) == net


@pytest.mark.parametrize("cycles", [2, 5])
@pytest.mark.parametrize("seed", range(8))
def test_recurrent_genomes_start_anew_with_each_sample(seed: int, cycles: int):
    network = genome(seed, cyclic=True)
    net = load_network(network, inputs=INPUTS, outputs=OUTPUTS, cycles=cycles)
    assert not net.has_memory
    want = [tensorneat(network, row, OUTPUTS, cycles) for row in X]
    np.testing.assert_allclose(net.activate(X), want, rtol=1e-10, atol=1e-10)


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
        load_network(genome(3) | change, **options)


def test_a_cycle_needs_the_number_of_updates():
    network = genome(3)
    network["conns"]["(3, 3)"] = {"in": 3, "out": 3, "weight": 0.5}
    with pytest.raises(OptionError, match="has a cycle"):
        load_network(network, inputs=INPUTS, outputs=OUTPUTS)
