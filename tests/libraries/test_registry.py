"""The registry: what is listed, and a library of one's own from outside the package."""

import pytest

import neat_onnx
from neat_onnx import (
    Library,
    Network,
    OptionError,
    load_network,
    load_networks,
    register_activation,
    register_aggregation,
)
from neat_onnx.network.expression import largest


class Lines(Library):
    """Networks as text: `N weight`."""

    name = "lines"
    suffixes = (".lines",)

    def recognises(self, content):
        return isinstance(content, str) and content.startswith("N ")

    def read(self, content, options):
        edges = [(0, 1, float(content[2:]))]
        return Network.build(inputs=1, outputs=[1], neurons=[1], connections=edges)

    def write(self, network):
        return f"N {network.connections.weight[0]}"


@pytest.fixture
def lines():
    neat_onnx.register_library(Lines())
    yield
    neat_onnx.unregister_library("lines")


def test_a_library_of_ones_own_reads_and_writes(lines, tmp_path):
    (tmp_path / "net.lines").write_text("N 0.75")
    net = load_network(tmp_path / "net.lines")
    assert net.activate([2.0]).tolist() == [1.5]
    assert net.to_library("lines") == "N 0.75"
    net.save(tmp_path / "back.lines", library="lines")
    assert load_networks(tmp_path / "back.lines") == {0: net}
    assert neat_onnx.libraries()[0].name == "lines"


def test_the_known_ones_are_listed_with_their_directions():
    found = {library.name: library for library in neat_onnx.libraries()}
    assert {"neat-onnx", "neat-python", "neataptic-ts", "neataptic"} <= set(found)
    assert found["neat-onnx"].writes
    assert all(library.reads or library.writes for library in found.values())
    assert all(library.keys and library.suffixes for library in found.values())


def test_what_is_no_library_is_refused(lines):
    for wrong in (object(), Lines, Library(), Lines()):
        with pytest.raises(OptionError):
            neat_onnx.register_library(wrong)
    with pytest.raises(OptionError, match="no library named"):
        neat_onnx.unregister_library("neataptic")


def test_an_unknown_library_is_refused_with_the_known_ones(tmp_path):
    net = Network.mlp([1, 1])
    with pytest.raises(OptionError, match="there is no library named 'torch'") as caught:
        net.save(tmp_path / "net.pt", library="torch")
    assert "neataptic-ts" in str(caught.value.hint)
    assert list(tmp_path.iterdir()) == []


def test_options_that_a_source_has_no_use_for_are_refused():
    source = {"formatVersion": 2, "nodes": [], "connections": []}
    for name, value in {"config": "x", "time_step": 0.1}.items():
        with pytest.raises(OptionError) as caught:
            load_network(source, **{name: value})
        assert caught.value.where == name
    with pytest.raises(OptionError):
        load_network(Network.mlp([1, 1]), initial_gain=1.0)


def test_the_initial_gain_of_a_gate():
    document = {
        "formatVersion": 2,
        "nodes": [
            {"type": kind, "bias": 0, "squash": "identity"}
            for kind in ("input", "output", "hidden")
        ],
        "connections": [
            {"from": 0, "to": 1, "weight": 3, "gater": 2},
            {"from": 0, "to": 2, "weight": 1},
        ],
    }
    assert load_network(document).run([[2.0], [2.0]]).ravel().tolist() == [0.0, 12.0]
    restored = load_network(document, initial_gain=1.0)
    assert restored.run([[2.0], [2.0]]).ravel().tolist() == [6.0, 12.0]
    document["connections"][0]["gater"] = 0
    restored = load_network(document, initial_gain=1.0)
    assert restored.run([[2.0], [5.0]]).ravel().tolist() == [6.0, 15.0]
    with pytest.raises(OptionError, match="finite"):
        load_network(document, initial_gain=float("nan"))


@pytest.mark.parametrize("library", ["neat_python", "nobody", "", "NeatapticTS"])
def test_functions_are_registered_for_libraries_that_exist(library):
    with pytest.raises(OptionError, match=f"no library named '{library}'.*Known: .*neat-python"):
        register_activation("zz", lambda z: z * z * z * z, library=library)
    with pytest.raises(OptionError, match=f"no library named '{library}'"):
        register_aggregation("zz", lambda v, k: largest(v), library=library)


@pytest.mark.parametrize(
    ("name", "way_out"), [("winner.onnx", "neat_onnx.export(net)"), ("winner.txt", "Use .json")]
)
def test_an_ending_that_no_library_has_is_refused(name, way_out, tmp_path):
    with pytest.raises(OptionError, match="no library has networks in") as caught:
        Network.mlp([1, 1]).save(tmp_path / name)
    assert way_out in str(caught.value.hint)
    assert list(tmp_path.iterdir()) == []
    Network.mlp([1, 1]).save(tmp_path / "winner")
