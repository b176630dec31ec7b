"""The files that the page saves: for libraries, as code, as JSON that onnx reads, as a proof."""

import base64
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from support.examples.cases import case
from support.harness.page import ask, convert

import neat_onnx

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
RECORDED = json.loads(
    (Path(__file__).parents[1] / "libraries" / "neat_python" / "recorded.json").read_text()
)
PICKLE = next(each for each in RECORDED["cases"] if each["name"] == "ff-xor0-2.0.0")
RECURRENT = case("np-rec-04")


def converted(name: str) -> dict:
    return convert(json.dumps(case(name).source).encode(), name="net.json")[0]["result"]


@pytest.fixture
def saved():
    """Save what `np-rec-04` is offered as; gives the text."""
    offered = converted("np-rec-04")["downloads"]

    def save(kind: str) -> str:
        reply, blobs = ask("file", kind=kind, file="winner.x")
        assert reply["result"]["name"] == "winner.x"
        return blobs["file"].decode()

    save.offered = offered
    return save


def test_every_form_that_is_offered_is_written(saved):
    forms = [each["kind"] for each in saved.offered["Programs and proofs"]]
    assert len({saved(kind) for kind in forms}) == len(forms) == 7
    for language in ("c", "csharp", "gdscript", "javascript", "python"):
        code = neat_onnx.generate_code(RECURRENT.network(), language=language)
        assert saved(f"form-{language}") == code
    assert ask("file", kind="exe")[0]["error"]["message"] == "there is no file of kind 'exe'"


def test_official_json_is_read_by_onnx(saved):
    model = onnx.load_model(io.StringIO(saved("form-protobuf")), format="json")
    outputs = neat_onnx.import_model(model).run(RECURRENT.inputs)
    np.testing.assert_allclose(outputs, RECURRENT.outputs, rtol=1e-5)


def test_a_certificate_can_be_replayed(saved):
    net, text = RECURRENT.network(), saved("form-certificate")
    assert neat_onnx.replay(text, net, neat_onnx.export(net)).passed
    other = net.with_parameters(bias=net.neurons.bias + 1e-3)
    with pytest.raises(neat_onnx.NeatOnnxError):
        neat_onnx.replay(text, other, neat_onnx.export(net))


def test_every_library_that_is_written_is_offered_the_own_first():
    offered = converted("np-ff-13")["downloads"]["Genome"]
    names = {each["kind"].removeprefix("library-").removesuffix("-pkl") for each in offered}
    assert names == {each.name for each in neat_onnx.libraries() if each.writes} - {"neat-onnx"}
    assert [each["kind"] for each in offered[:2]] == [
        "library-neat-python",
        "library-neat-python-pkl",
    ]


def test_a_network_is_written_for_a_library():
    converted("nts-net-dag-24")
    reply, files = ask("file", kind="library-neataptic-ts", file="net.json")
    assert reply["result"]["name"] == "net.json"
    net = case("nts-net-dag-24").network()
    assert json.loads(files["file"]) == net.to_library("neataptic-ts")


def test_a_genome_and_its_configuration_are_one_archive():
    config, data = RECORDED["configs"][PICKLE["config"]], base64.b64decode(PICKLE["file"])
    convert(data, name="winner", config=config)
    reply, files = ask("file", kind="library-neat-python-pkl", file="winner.pkl")
    assert reply["result"]["name"] == "winner.zip"
    with zipfile.ZipFile(io.BytesIO(files["file"])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert sorted(parts) == ["winner.ini", "winner.pkl"]
    back = neat_onnx.load_network(parts["winner.pkl"], config=parts["winner.ini"])
    source = neat_onnx.load_network(data, config=config)
    x = np.array(PICKLE["inputs"])
    np.testing.assert_allclose(back.activate(x), source.activate(x), rtol=1e-12)


def test_libraries_that_cannot_hold_a_network_say_why():
    offered = converted("np-atom-agg-median")["downloads"]["Genome"]
    reasons = ask("refusals")[0]["result"]
    assert "median" in reasons["library-neataptic"]
    for each in offered:
        reply, files = ask("file", kind=each["kind"], file=f"net{each['suffix']}")
        assert ("error" in reply) == (each["kind"] in reasons) == (files == {}), each
        assert each["kind"] not in reasons or "median" in json.dumps(reply["error"])
