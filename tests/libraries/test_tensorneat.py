"""TensorNEAT's `network_dict`, against the `forward` of its genomes transcribed to numpy."""

import json
from typing import Any

import numpy as np
import pytest

from neat_onnx import NetworkError, OptionError, export, load_network, verify
from neat_onnx.libraries.tensorneat.names import ACTIVATION_NAMES, AGGREGATION_NAMES

INPUTS, OUTPUTS = 3, 2
pytestmark = pytest.mark.filterwarnings("ignore:tensorneat reads 0:neat_onnx.NeatOnnxWarning")
X = np.random.default_rng(5).normal(size=(6, INPUTS))


def inv(z: float) -> float:
    return 1 / (max(z, 1e-7) if z > 0 else min(z, -1e-7))


ACT = {
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "scaled_sigmoid": lambda z: 1 / (1 + np.exp(-z)) * 3,
    "tanh": np.tanh,
    "scaled_tanh": lambda z: np.tanh(z) * 3,
    "sin": np.sin,
    "relu": lambda z: max(z, 0),
    "lelu": lambda z: z if z > 0 else 0.005 * z,
    "identity": lambda z: z,
    "inv": inv,
    "log": lambda z: np.log(max(z, 1e-7)),
    "exp": np.exp,
    "abs": abs,
}
AGG = {
    "sum": np.sum,
    "product": np.prod,
    "max": np.max,
    "min": np.min,
    "maxabs": lambda z: z[np.argmax(np.abs(z))],
    "mean": np.mean,
}


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
            "agg": str(random.choice(sorted(AGG))),
            "act": str(random.choice(sorted(ACT))),
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


def forward(network: dict[str, Any], row: Any, updates: int) -> list[float]:
    """NaN is what has no value yet; it is masked out."""
    values = dict.fromkeys((node["idx"] for node in network["nodes"].values()), np.nan)
    for _ in range(updates):
        values.update(zip(range(INPUTS), row, strict=True))
        new = dict(values)
        for node in network["nodes"].values():
            key = node["idx"]
            ins = [
                values[conn["in"]] * conn["weight"]
                for conn in network["conns"].values()
                if conn["out"] == key and not np.isnan(values[conn["in"]])
            ]
            if ins and key >= INPUTS:
                z = node["bias"] + node["res"] * AGG[node["agg"]](np.array(ins))
                new[key] = z if key < INPUTS + OUTPUTS else ACT[node["act"]](z)
        values = new
    return [values[key] for key in range(INPUTS, INPUTS + OUTPUTS)]


def test_all_functions_have_names():
    assert set(ACTIVATION_NAMES) == set(ACT)
    assert set(AGGREGATION_NAMES) == set(AGG)


@pytest.mark.parametrize("seed", range(30))
def test_feedforward_genomes(seed: int):
    network = genome(seed)
    net = load_network(json.dumps(network).encode(), inputs=INPUTS, outputs=OUTPUTS)
    want = [forward(network, row, len(network["nodes"])) for row in X]
    np.testing.assert_allclose(net.activate(X), want, rtol=1e-12, atol=1e-12)
    listed = {key: list(value.values()) for key, value in network.items()}
    assert load_network(listed, inputs=INPUTS, outputs=OUTPUTS) == net


@pytest.mark.parametrize("cycles", [2, 5])
@pytest.mark.parametrize("seed", range(8))
def test_recurrent_genomes_start_anew_with_each_sample(seed: int, cycles: int):
    network = genome(seed, cyclic=True)
    net = load_network(network, inputs=INPUTS, outputs=OUTPUTS, cycles=cycles)
    assert not net.has_memory
    want = [forward(network, row, cycles) for row in X]
    np.testing.assert_allclose(net.activate(X), want, rtol=1e-10, atol=1e-10)


def test_one_is_exported():
    net = load_network(genome(3), inputs=INPUTS, outputs=OUTPUTS)
    assert verify(net, export(net, dtype="float64"), samples=16).passed


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {}, OptionError, "does not say its inputs"),
        ({}, {"inputs": INPUTS}, OptionError, "does not say its outputs"),
        ({}, {"inputs": 40, "outputs": OUTPUTS}, NetworkError, "there is no node"),
        ({"nodes": 3}, {}, NetworkError, "expected an object or a list"),
        ({"nodes": [3]}, {}, NetworkError, "expected an object"),
        ({"nodes": [{"idx": "x"}]}, {}, NetworkError, "idx should be a small integer"),
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
            "weight should be a finite number",
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
