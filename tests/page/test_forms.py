"""The other forms that the page saves: code that runs, JSON that onnx reads, a proof that holds."""

import io
import json

import numpy as np
import onnx
import pytest
from support.examples.cases import case
from support.harness.page import ask, convert

import neat_onnx
from neat_onnx.page.snippets import FORMS

RECURRENT = case("np-rec-04")


@pytest.fixture(scope="module")
def saved():
    converted, _ = convert(json.dumps(RECURRENT.source).encode(), name="winner.json")

    def save(form: str) -> str:
        reply, blobs = ask("form", form=form, file="winner.x")
        assert reply["result"]["name"] == "winner.x"
        return blobs["form"].decode()

    save.offered = converted["result"]["forms"]
    return save


def test_every_form_that_is_offered_is_written(saved):
    assert saved.offered == FORMS
    assert len({saved(each["form"]) for each in FORMS}) == len(FORMS) == 7


def test_code_is_what_the_engine_prints(saved):
    for language in ("c", "csharp", "gdscript", "javascript", "python"):
        assert saved(language) == neat_onnx.generate_code(RECURRENT.network(), language=language)


def test_official_json_is_read_by_onnx(saved):
    model = onnx.load_model(io.StringIO(saved("protobuf")), format="json")
    net = neat_onnx.import_model(model)
    np.testing.assert_allclose(net.run(RECURRENT.inputs), RECURRENT.outputs, rtol=1e-5)


def test_a_certificate_can_be_replayed(saved):
    net = RECURRENT.network()
    text = saved("certificate")
    assert neat_onnx.replay(text, net, neat_onnx.export(net)).passed
    document = net.to_document().model_dump()
    document["neurons"][-1]["bias"] += 1e-3
    with pytest.raises(neat_onnx.NeatOnnxError):
        neat_onnx.replay(
            text,
            neat_onnx.load_network({"format": "neat-onnx", "version": 1, **document}),
            neat_onnx.export(net),
        )


def test_an_unknown_form_is_refused(saved):
    reply, _ = ask("form", form="exe", file="x")
    assert reply["error"]["message"] == "there is no form called 'exe'"
