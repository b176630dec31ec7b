"""goNEAT's genomes, against outputs of its own.

`goneat/evolved.jsonl` holds genomes that it evolved, with the outputs that it computed: without
cycles after `Flush` and `ForwardSteps` of the depth, with cycles in sequence by `ForwardSteps(3)`.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from neat_onnx import NeatOnnxWarning, NetworkError, OptionError, load_network, load_networks
from neat_onnx.libraries.goneat import ACTIVATION_NAMES

TYPES = ("HIDN", "INPT", "OUTP", "BIAS")


NODES = [
    (1, 3, "NullActivation"), (2, 1, "NullActivation"), (3, 1, "NullActivation"),
    (4, 2, "TanhActivation"), (5, 0, "SigmoidPlainActivation"),
]  # fmt: skip
GENES = [
    (1, 5, -1.25, True), (2, 5, 0.5, True), (3, 5, 2.0, False), (5, 4, 1.5, True),
    (3, 4, 1e-7, True),
]  # fmt: skip
LOOP = (4, 4, 0.5, True)


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


def test_the_evolved_genomes_have_every_activation():
    text = "".join(case["genome"] for case in EVOLVED)
    assert all(f"{name}" in text for name in ACTIVATION_NAMES)


def test_yaml_is_read_in_every_form():
    net = load_network(plain(NODES, GENES).encode())
    assert net.library == "goneat"
    assert len(net.connections) == 4
    block = in_yaml(NODES, GENES, flow=False)
    alone = block.replace("  - ", "  -\n    ")  # as goNEAT's own files have modules
    for text in (in_yaml(NODES, GENES, flow=None), block, alone):
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
    assert load_network(text, cycles=2) == load_network(text) == net


def test_a_cycle_needs_the_number_of_updates():
    with pytest.raises(OptionError, match="has a cycle"):
        load_network(plain(NODES, [*GENES, LOOP]).encode())


def test_a_node_that_wakes_late_in_a_cyclic_network_is_refused():
    nodes = [(1, 1, "NullActivation"), (2, 2, "TanhActivation"), (3, 0, "TanhActivation")]
    genes = [(1, 3, 1.0, True), (3, 2, 1.0, True), (3, 3, 0.5, True)]
    with pytest.raises(NetworkError, match=r"at 0 in its first update.*node 2"):
        load_network(plain(nodes, genes).encode(), cycles=2)


def test_a_disabled_gene_of_a_bias_adds_nothing():
    nodes = [(1, 1, "NullActivation"), (2, 3, "NullActivation"), (3, 2, "TanhActivation")]
    genes = [(1, 3, 1.0, True), (2, 3, 0.5, True), (2, 3, 9.0, False)]
    assert load_network(plain(nodes, genes).encode()).neurons.bias.tolist() == [0.0, 0.5]


def test_a_population_is_read_by_ids():
    text = plain(NODES, GENES, 3) + plain(NODES, [*GENES, (2, 4, 9.0, True)], 8)
    assert list(load_networks(text.encode())) == [3, 8]
    with pytest.raises(NetworkError, match="a population of 2 networks"):
        load_network(text.encode())
    assert load_network(text.encode(), genome=8) == load_networks(text.encode())[8]


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
