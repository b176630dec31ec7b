"""goNEAT's genomes, against outputs of its own and its algorithm, transcribed from its Go.

`goneat/evolved.jsonl` holds genomes that it evolved, with the outputs that it computed: without
cycles after `Flush` and `ForwardSteps` of the depth, with cycles in sequence by `ForwardSteps(3)`.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.peers.transcribed import GONEAT, GoNEAT

from neat_onnx import (
    NeatOnnxWarning,
    NetworkError,
    OptionError,
    load_network,
    load_networks,
)
from neat_onnx.libraries.goneat import ACTIVATION_NAMES

TYPES = ("HIDN", "INPT", "OUTP", "BIAS")


def genome(seed: int, *, cyclic: bool = False) -> tuple[list[Any], list[Any]]:
    """Nodes (id, type, activation) and genes (source, target, weight, enabled)."""
    random = np.random.default_rng(seed)
    hidden = int(random.integers(0, 7))
    kinds = [3, 1, 1, 2, 2, *[0] * hidden]
    names = random.choice(sorted(GONEAT), len(kinds)).tolist()
    nodes = [
        (key, kind, name) for key, (kind, name) in enumerate(zip(kinds, names, strict=True), 1)
    ]
    ids, order = [key for key, *_ in nodes], {3: 0, 1: 0, 0: 1, 2: 2}
    genes = [(int(random.integers(1, 4)), key, random.normal(), True) for key in (4, 5)]
    genes += [(1, key, random.normal(), True) for key in ids[3:] if cyclic]
    for _ in range(3 * hidden + 2):
        i, j = random.choice(ids, 2).tolist()
        before = (order[kinds[i - 1]], i) < (order[kinds[j - 1]], j)
        if j > 3 and (before or cyclic):
            genes.append((i, j, float(random.normal()), bool(random.random() < 0.8)))
    return nodes, genes


def plain(nodes: list[Any], genes: list[Any], key: int = 1) -> str:
    lines = [f"genomestart {key}", "trait 1 0.1 0 0 0 0 0 0 0"]
    lines += [f"node {i} 0 {int(kind in (1, 3))} {kind} {name}" for i, kind, name in nodes]
    lines += [
        f"gene 1 {i} {j} {weight!r} false {at} 0 {str(enabled).lower()}"
        for at, (i, j, weight, enabled) in enumerate(
            [(i, j, float(weight), enabled) for i, j, weight, enabled in genes], 1
        )
    ]
    return "\n".join([*lines, f"genomeend {key}", ""])


def in_yaml(nodes: list[Any], genes: list[Any], *, flow: bool | None) -> str:
    document = {
        "id": 1,
        "traits": [{"id": 1, "params": [0.1, 0.0]}],
        "nodes": [
            {"id": i, "trait_id": 0, "type": TYPES[kind], "activation": name}
            for i, kind, name in nodes
        ],
        "genes": [
            {"src_id": i, "tgt_id": j, "weight": float(weight), "trait_id": 1, "innov_num": 1,
             "mut_num": 0, "recurrent": False, "enabled": enabled}
            for i, j, weight, enabled in genes
        ],
    }  # fmt: skip
    return "# a genome\n" + yaml.safe_dump(
        {"genome": document}, default_flow_style=flow, width=10**6
    )


pytestmark = pytest.mark.filterwarnings("ignore:goneat reads 0:neat_onnx.NeatOnnxWarning")
EVOLVED = [
    json.loads(line)
    for line in (Path(__file__).parent / "goneat" / "evolved.jsonl").read_text("utf-8").splitlines()
]
X = np.random.default_rng(0).normal(size=(5, 2))


def test_every_activation_has_a_name():
    assert set(ACTIVATION_NAMES) == set(GONEAT)


@pytest.mark.parametrize("seed", range(40))
def test_genomes_without_cycles_compute_the_same(seed: int):
    nodes, genes = genome(seed)
    net = load_network(plain(nodes, genes).encode())
    assert net.library == "goneat"
    want = [GoNEAT(nodes, genes).forward(row, len(nodes)) for row in X]
    np.testing.assert_allclose(net.activate(X), want, rtol=1e-12, atol=1e-12)
    block = in_yaml(nodes, genes, flow=False)
    alone = block.replace("  - ", "  -\n    ")  # as goNEAT's own files have modules
    for text in (in_yaml(nodes, genes, flow=None), block, alone):
        assert load_network(text.encode()) == net


@pytest.mark.parametrize("case", EVOLVED)
def test_genomes_that_goneat_evolved_compute_what_it_computed(case):
    net = load_network(case["genome"].encode(), **case["options"])
    got = net.run(case["inputs"]) if case["options"] else net.activate(case["inputs"])
    np.testing.assert_allclose(got, case["outputs"], rtol=1e-12, atol=1e-12)


def test_a_genome_without_cycles_that_is_deeper_than_the_updates_is_read_with_a_warning():
    nodes = [(1, 1, "NullActivation"), (2, 2, "TanhActivation"), (3, 0, "TanhActivation")]
    text = plain(nodes, [(1, 3, 1.0, True), (3, 2, 1.0, True)]).encode()
    with pytest.warns(NeatOnnxWarning, match="no cycle and is 2 updates deep"):
        net = load_network(text, cycles=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_network(text, cycles=2) == load_network(text) == net


@pytest.mark.parametrize("cycles", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_genomes_with_cycles_take_updates_in_a_step(seed: int, cycles: int):
    nodes, genes = genome(seed, cyclic=True)
    genes.append((4, 4, 0.5, True))
    net = load_network(plain(nodes, genes).encode(), cycles=cycles)
    peer = GoNEAT(nodes, genes)
    want = [peer.forward(row, cycles) for row in X]
    np.testing.assert_allclose(net.run(X), want, rtol=1e-12, atol=1e-12)


def test_a_cycle_needs_the_number_of_updates():
    nodes, genes = genome(0, cyclic=True)
    with pytest.raises(OptionError, match="has a cycle"):
        load_network(plain(nodes, [*genes, (4, 4, 0.5, True)]).encode())


def test_a_node_that_wakes_late_in_a_cyclic_network_is_refused():
    nodes = [(1, 1, "NullActivation"), (2, 2, "TanhActivation"), (3, 0, "TanhActivation")]
    genes = [(1, 3, 1.0, True), (3, 2, 1.0, True), (3, 3, 0.5, True)]
    with pytest.raises(NetworkError, match=r"at 0 in its first update.*node 2"):
        load_network(plain(nodes, genes).encode(), cycles=2)


def test_a_population_is_read_by_ids():
    text = plain(*genome(1), 3) + plain(*genome(2), 8)
    assert list(load_networks(text.encode())) == [3, 8]
    with pytest.raises(NetworkError, match="a population of 2 networks"):
        load_network(text.encode())
    assert load_network(text.encode(), genome=8) == load_network(plain(*genome(2)).encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("genomestart 1\nnode 1 0 1", "a node is"),
        ("genomestart 1\nnode 1 0 1 7 X", "type of a node is 0 to 3"),
        ("genomestart 1\nnode 1 0 0 2 Nope\ngenomeend 1", "unknown activation 'Nope'"),
        ("genomestart 1\nnode 1 0 1 1\nnode 2 0 0 2\ngene 1 1 2 x true 1 0 true", "finite number"),
        ("genomestart 1\nnode 1 0 1 1\nnode 2 0 0 2\ngene 1 1 9 1 true 1 0 true", "no node"),
        ("genomestart 1\nnode 1 0 1 1\nnode 1 0 0 2", "two nodes have one id"),
        ("genomestart 1\nnode 1 0 1 1\nnode 2 0 0 2", "does not activate"),
        ("genomestart 1\nnode 1 0 1 1", "without outputs"),
        ("genomestart 1\nnode x 0 1 1", "small integer"),
        ("genome:\n  id: 1", "no nodes are understood"),
        ("genome:\n  id: 1\n  nodes: &a [", "no nodes are understood"),
        ("genome:\n  id: 1\n  nodes:\n    - {id: 1, type: OUTP", "'activation' is missing"),
        ("genome:\n  id: 1\n  modules:\n    - {id: 1}", "modules cannot be read"),
        ("genome:\n  id: 1\n  modules:\n    -\n      id: 1", "modules cannot be read"),
    ],
)
def test_bad_files_are_refused(text: str, message: str):
    with pytest.raises(NetworkError, match=message):
        load_network(text.encode())
