"""Genes on the way from a library through ONNX and back to it: none is changed, none is lost."""

import base64
import json
from pathlib import Path

import pytest
from support.harness.sweep import each
from support.harness.trips import (
    EXCEPT,
    documents,
    keyed,
    listed,
    live,
    through_float32,
    through_json,
)

from neat_onnx import load_network, to_neat_python
from neat_onnx.libraries.neat_python.pickled import unpickled

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

RECORDED = json.loads((Path(__file__).parent / "neat_python" / "recorded.json").read_text("utf-8"))
GENOMES = {
    case["name"]: case
    for case in RECORDED["cases"]
    if case["kind"] in ("ff", "rec")
    and "custom" not in case["name"]
    and case["name"]
    not in ("ff-messy0-0.92", "ff-messy0-1.0.0")  # they leave out what 1.1 computes
}


def some(*groups, always=()):
    """Every ninth document of these groups, and a few more; with WHOLE=1 all."""
    found = documents(*groups)
    return {name: found[name] for name in [*each(9, list(found)), *always]}


NTS = some("nts-net", "nts-onnx", always=(*EXCEPT, "nts-net-edge-2"))
NP = some("np-ff", "np-rec", "np-atom")


@pytest.mark.parametrize("trip", [through_json, through_float32])
def test_neataptic_ts_gets_its_genes_back(trip):
    for name, document in NTS.items():
        nodes, genes = listed(trip(load_network(document)).to_library("neataptic-ts"))
        want_nodes, want_genes = listed(document)
        assert nodes == want_nodes, name
        assert (genes == want_genes) != (name in EXCEPT), name


@pytest.mark.parametrize("trip", [through_json, through_float32])
def test_neat_python_gets_its_genes_back(trip):
    for name, document in NP.items():
        back = trip(load_network(document)).to_library("neat-python")
        assert back["topology"] == document["topology"], name
        assert keyed(back) == keyed(document), name


def genome_of(data):
    """The genome in a pickle, alone or beside its config."""
    found = unpickled(data)
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("name", GENOMES)
def test_a_genome_comes_back_whole(name):
    case = GENOMES[name]
    data = base64.b64decode(case["file"])
    config = None if case["config"] is None else RECORDED["configs"][case["config"]]
    step = 0 if case["kind"] == "rec" and case["version"] >= "2" else None
    net = load_network(data, config, time_step=step)
    assert live(to_neat_python(through_json(net))[0]) == live(genome_of(data))
