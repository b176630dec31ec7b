"""Networks written for neat-python: its own code loads them, computes the same, and evolves on."""

import json
import pickle

import neat
import numpy as np
import pytest
from support.examples.cases import CORPORA

import neat_onnx
from neat_onnx import DocumentError, NetworkError, load_network

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

KINDS = neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation
NAMES = sorted(
    path.stem
    for path in CORPORA.glob("*.json")
    if path.stem.startswith(("np-ff", "np-rec", "np-atom", "nts-net", "nap-net"))
)


def source(name):
    return json.loads((CORPORA / f"{name}.json").read_text(encoding="utf-8"))["source"]


def live(genome, config):
    kind = (
        neat.nn.FeedForwardNetwork
        if config.genome_config.feed_forward
        else neat.nn.RecurrentNetwork
    )
    return kind.create(genome, config)


def same(net, genome, config, rows=8):
    x = np.random.default_rng(5).normal(size=(rows, len(net.input_neurons)))
    network = live(genome, config)
    try:
        want = np.array([network.activate(row.tolist()) for row in x])
    except OverflowError:  # square and cube raise it there
        return
    got = net.activate(x) if config.genome_config.feed_forward else net.run(x)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)


def test_what_neat_python_can_say_it_computes_and_the_rest_is_refused():
    said, refused = [], []
    for name in NAMES:
        net = load_network(source(name))
        try:
            genome, config = neat_onnx.to_neat_python(net)
        except NetworkError as error:
            assert "neat-python cannot hold" in str(error)
            refused.append(name)
            continue
        said.append(name)
        same(net, genome, config)
        again = load_network(net.to_library("neat-python"))
        x = np.random.default_rng(6).normal(size=(6, len(net.input_neurons)))
        np.testing.assert_allclose(again.run(x), net.run(x), rtol=1e-12, atol=1e-12)
    ours = [name for name in NAMES if name.startswith("np-")]
    assert set(ours) <= set(said)
    assert refused
    assert len(said) > len(ours)


def genes(net):
    ids, edges = net.neurons.id, net.connections
    rows = zip(ids[edges.source], ids[edges.target], edges.weight, edges.enabled, strict=True)
    return {(int(s), int(t)): (float(w), bool(e)) for s, t, w, e in rows}


def test_a_pickle_and_its_configuration_stand_side_by_side(tmp_path):
    net = load_network(source("np-ff-05"))
    net.save(tmp_path / "winner.pkl", library="neat-python")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["winner.ini", "winner.pkl"]
    genome = pickle.loads((tmp_path / "winner.pkl").read_bytes())
    config = neat.Config(neat.DefaultGenome, *KINDS, str(tmp_path / "winner.ini"))
    same(net, genome, config)
    again = load_network(tmp_path / "winner.pkl", tmp_path / "winner.ini")
    assert genes(again) == genes(net)


def test_a_configuration_that_is_another_is_not_replaced(tmp_path):
    net = load_network(source("np-ff-05"))
    path = tmp_path / "winner.pkl"
    net.save(path)
    net.save(path)  # the same configuration
    written = path.read_bytes()
    mine = path.with_suffix(".ini").read_text() + "# mine\n"
    path.with_suffix(".ini").write_text(mine)
    path.write_bytes(b"")
    with pytest.raises(DocumentError, match=r"the file exists.*winner\.ini.*Rename it") as refused:
        net.save(path)
    assert refused.value.where == str(path.with_suffix(".ini"))
    assert (path.read_bytes(), path.with_suffix(".ini").read_text()) == (b"", mine)
    path.with_suffix(".ini").unlink()
    net.save(path)
    assert path.read_bytes() == written


def net_of(**gene):
    return neat_onnx.Network.build(
        inputs=1, outputs=[5], neurons=[{"id": 5, **gene}], connections=[(0, 5, 2.0)]
    )


@pytest.mark.parametrize(("activation", "name"), [("sigmoid", "sigmoid"), ("tanh", "tanh")])
def test_a_slope_is_divided_out_and_told(activation, name):
    net = net_of(activation=activation, bias=0.5)
    with pytest.warns(neat_onnx.NeatOnnxWarning, match="slopes are divided out"):
        genome, config = neat_onnx.to_neat_python(net)
    assert genome.nodes[0].activation == name
    assert genome.connections[-1, 0].weight == 2.0
    same(net, genome, config)


def test_what_a_genome_has_no_place_for_is_refused_with_every_reason():
    net = neat_onnx.Network.build(
        inputs=2,
        outputs=[5, 5, 1],
        neurons=[{"id": 5}, {"id": 6, "bias": 2.0}],
        connections=[
            (0, 5, 1.0),
            (0, 5, 2.0),
            {"source": 6, "target": 5, "weight": 1.0, "delay": 1},
        ],
    )
    with pytest.raises(NetworkError, match="Connect an input to it") as refused:
        neat_onnx.to_neat_python(net)
    for reason in (
        "a second connection between two nodes (neuron 5)",
        "an input as an output (neuron 1)",
        "one neuron as two outputs (neuron 5)",
        "a neuron that nothing leads to and that is not 0 (neuron 6)",
    ):
        assert reason in str(refused.value)
