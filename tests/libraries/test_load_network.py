"""load_network: what it takes, and how it distinguishes the formats."""

import gzip
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx.errors import DocumentError, NeatOnnxError, NetworkError, OptionError
from neat_onnx.libraries import load_network
from neat_onnx.libraries.registry import writer_named
from neat_onnx.model import load_model
from neat_onnx.network.network import Network

SOURCE = case("nts-net-mlp-1").source


def nts(nodes, connections, **others):
    """A NeatapticTS document: nodes as (type, squash), connections as (from, to, weight, gater)."""
    keys = ("from", "to", "weight", "gater")
    return {
        "formatVersion": 2,
        "nodes": [{"type": type, "bias": 0, "squash": squash} for type, squash in nodes],
        "connections": [dict(zip(keys, gene, strict=False)) for gene in connections],
        **others,
    }


def test_every_kind_of_source_gives_the_same_network(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(SOURCE))
    expected = load_network(SOURCE)
    text = json.dumps(SOURCE, indent=1)
    sources = [path, str(path), text, "\n " + text, "\ufeff" + text, text.encode(), expected]
    for source in [*sources, bytearray(text.encode()), memoryview(text.encode())]:
        assert load_network(source) == expected


@pytest.mark.parametrize("source", [None, 3, 2.5, object(), ["a"], "[1, 2]", "{}", b"null", b""])
def test_what_is_no_network_is_refused(source):
    with pytest.raises(DocumentError):
        load_network(source)


def test_the_known_formats_are_named():
    with pytest.raises(DocumentError) as caught:
        load_network({"something": 1})
    for library in ("neat-onnx", "neat-python", "NeatapticTS", "neataptic"):
        assert library in str(caught.value.hint)


def test_a_model_is_sent_to_import():
    for source in ({"graph": {}}, b"\x08\x08\x12\x00"):
        with pytest.raises(DocumentError) as caught:
            load_network(source)
        assert "import" in str(caught.value.hint)


def test_a_missing_file_and_a_directory(tmp_path):
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(DocumentError) as caught:
            load_network(path)
        assert caught.value.where == str(path)


def test_own_document_without_its_format_key():
    net = Network.mlp([2, 3, 1])
    document = json.loads(net.to_json())
    del document["format"]
    assert load_network(document) == net


def test_input_nodes_only_take_their_values():
    document = nts(
        [("input", "nonsense"), ("output", "identity")], [(0, 1, 1.0), (1, 0, 7.0), (0, 0, 2.0)]
    )
    document["nodes"][0]["bias"] = 5
    net = load_network(document)
    np.testing.assert_array_equal(net.run([[1.0], [2.0]]), [[1.0], [2.0]])
    assert (~net.connections.enabled).sum() == 2


def test_input_nodes_come_first():
    with pytest.raises(NetworkError, match="input node stands after"):
        load_network(nts([("hidden", "tanh"), ("input", "tanh"), ("output", "tanh")], []))


def test_duplicates_add_up_in_neataptic_ts_and_are_refused_in_neataptic():
    document = nts([("input", "identity"), ("output", "identity")], [(0, 1, 1.0), (0, 1, 2.0)])
    np.testing.assert_array_equal(load_network(document).activate([2.0]), [6.0])
    del document["formatVersion"]
    for node in document["nodes"]:
        node["squash"] = "IDENTITY"
    with pytest.raises(NetworkError, match="a second connection from 0 to 1") as caught:
        load_network(document)
    assert caught.value.where == "connections[1]"


def test_only_the_first_self_connection_acts_in_neataptic_ts():
    document = nts(
        [("input", "identity"), ("output", "identity")], [(0, 1, 1.0), (1, 1, 2.0), (1, 1, 5.0)]
    )
    np.testing.assert_array_equal(load_network(document).run([[1.0], [0.0]]), [[1.0], [2.0]])


def masked(mask, connections):
    """A neataptic document: input, masked TANH node, IDENTITY output."""
    names = [("input", "LOGISTIC", 1), ("hidden", "TANH", mask), ("output", "IDENTITY", 1)]
    document = nts([], connections)
    del document["formatVersion"]
    document["nodes"] = [
        {"type": type, "bias": 0.25, "squash": squash, "mask": mask} for type, squash, mask in names
    ]
    return document


def test_a_mask_multiplies_what_others_read_and_not_the_state():
    net = load_network(masked(0.5, [(0, 1, 1.0), (1, 1, 0.75), (1, 2, 2.0), (0, 2, 1.0, 1)]))
    state, rows = 0.0, []
    for x in (1.0, -2.0, 0.5):
        state = 0.75 * state + 0.25 + x
        shown = np.tanh(state) * 0.5
        rows.append([0.25 + shown * 2.0 + x * shown])
    np.testing.assert_allclose(net.run([[1.0], [-2.0], [0.5]]), rows, rtol=1e-15)


SAMPLES = Path(__file__).parents[2] / "web" / "samples"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("wann.out", {"inputs": np.int64(2), "outputs": np.uint8(1)}),
        ("tensorneat.json", {"inputs": np.int32(2), "outputs": np.int64(1)}),
        ("goneat.neat", {"cycles": np.int64(3)}),
        ("neataptic-ts.json", {"initial_gain": np.float32(1)}),
        ("neataptic-ts.json", {"initial_gain": np.int64(1)}),
    ],
)
def test_numbers_of_numpy_are_numbers(name, options):
    plain = {key: value.item() for key, value in options.items()}
    assert load_network(SAMPLES / name, **options) == load_network(SAMPLES / name, **plain)
    for key in options:
        with pytest.raises(OptionError) as refused:
            load_network(SAMPLES / name, **{**options, key: np.bool_(True)})
        assert refused.value.where == key


def archive() -> bytes:
    """A tar archive of one small file."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("winner.pkl"))
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"", "the file is empty", "again"),
        (b" \n", "the file is empty", "again"),
        (b"import neat\n", "text that begins with 'import neat", "network_type"),
        (
            b"# A long title of a text\n" * 9,
            "begins with '# A long title of a text",
            "network_type",
        ),
        (b"[tool.ruff]\nline = 1\n", r"text that begins with '\[tool.ruff\]", "network_type"),
        (b"[[tool]]\nline = 1\n", r"text that begins with '\[\[tool\]\]", "network_type"),
        (b"[DefaultGenome]\nnum_inputs = 1\n", "this is a configuration", "--config"),
        ('{"nodes": []}'.encode("utf-16"), "text in UTF-16", "as UTF-8"),
        (b'<ir_version: 8, opset_import: ["": 18]>', "an ONNX model", "import_model"),
        (b"PK\x03\x04rest", "a zip archive", "Unpack it"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "of Git LFS", "git lfs pull"),
        (b"\n<!DOCTYPE html>\n<html>", "an HTML page", "raw file"),
        (b"[object Object]", "the text of a JavaScript object", "JSON.stringify"),
        (b'{"nodes": [{"bias": 0.5', "it ends too early", "cut off"),
        (b'{"nodes": [{"bi', "it ends too early", "cut off"),
        (b"module.exports = {nodes: []};", "JavaScript, and not JSON", "JSON.stringify"),
        (b"\x80\x04\x95\xff\x00\x00", "not a whole pickle", "cut off"),
        (b"\x1f\x8b\x08\x00\x00", "not a whole gzip file", "cut off"),
        (gzip.compress(b"\x08\x08", mtime=0), "an ONNX model", "import_model"),
        (gzip.compress(b"", mtime=0), "a gzip file that holds nothing", "Write the network"),
        (gzip.compress(archive(), mtime=0), "a tar archive", "Unpack it"),
        (gzip.compress(b"\x80\x04\x95\xff\x00", mtime=0), "not a whole pickle", "cut off"),
    ],
)
def test_a_wrong_file_is_told_with_a_way_out(content, message, hint):
    with pytest.raises(DocumentError, match=message) as refused:
        load_network(content)
    assert refused.value.hint is not None
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    "around",
    ["var net = %s;", "module.exports = %s\n", "export default %s;", "window.net=%s", "\ufeff%s"],
)
def test_json_in_javascript_is_read(around):
    text = Network.mlp([2, 1], seed=0).to_json()
    assert load_network((around % text).encode()) == Network.mlp([2, 1], seed=0)


@pytest.mark.parametrize(
    "config", [b"\xff\xfe[\x00", b"import neat", b"[DefaultGenome]\nnum_outputs = 1\n"]
)
def test_a_wrong_configuration_says_which_file_is_meant(config):
    net = Network.build(inputs=[-1], outputs=[0], neurons=[{"id": 0}], connections=[(-1, 0, 1.0)])
    pickled = writer_named("neat-python").files(net, "winner.pkl")["winner.pkl"]
    with pytest.raises(DocumentError) as refused:
        load_network(pickled, config=config)
    assert "[DefaultGenome] has num_inputs" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04N.", "this is a pickle, not a model"),
        (gzip.compress(b"x", mtime=0), "this is a gzip file, not a model"),
        (b"PK\x03\x04", "this is a zip archive, not a model"),
        (b'{"nodes": []}', "not an ONNX model: it has no graph"),
    ],
)
def test_a_network_where_a_model_is_asked_for(content, message):
    with pytest.raises(NeatOnnxError, match=message) as refused:
        load_model(content)
    assert refused.value.hint


def test_a_genome_that_is_not_in_a_population_is_told_beside_those_that_are():
    document = case("nap-net-evolved-1").source
    with pytest.raises(OptionError) as refused:
        load_network([document, document], genome=9)
    assert refused.value.hint == "Found: 0, 1"


def test_progress_counts_or_is_the_callers_own(capsys):
    nets = [
        Network.mlp([2, 1], activation="sigmoid", seed=k).to_library("neataptic") for k in (0, 1)
    ]
    seen = []

    def shown(items, *, total):
        seen.append(total)
        return items

    assert len(neat_onnx.load_networks(nets, progress=shown)) == 2
    assert (seen, capsys.readouterr().err) == ([2], "")
    neat_onnx.load_networks(nets, progress=True)
    assert capsys.readouterr().err == "\r1 of 2\r2 of 2\n"
    neat_onnx.load_networks(nets)
    assert capsys.readouterr().err == ""
