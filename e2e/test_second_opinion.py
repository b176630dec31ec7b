"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json
import re
import shutil

import onnx
import pytest
from site_page import DIST, NeatPage, case, served, source_text

import neat_onnx

VERSION = json.loads((DIST / "runtime" / "files.json").read_text())["version"]
CASES = [
    *("nts-net-dag-24", "np-atom-agg-median", "np-rec-01", "nts-net-lstm-2"),
    *("nap-net-random-1", "np-atom-act-sin"),
]


def second_verdict(neat: NeatPage) -> str:
    neat["second-verdict"].wait_for(timeout=60_000)
    return neat.text("second-verdict")


@pytest.mark.parametrize("name", CASES)
def test_both_runtimes_agree_and_are_named(neat, name):
    assert neat.choose(f"{name}.json", source_text(name)) == "done"
    assert f"onnx.reference {onnx.__version__}" in neat.text("verdict-words")
    assert second_verdict(neat).startswith("Equal")
    assert neat.text("second-runtime") == f"onnxruntime-web {VERSION}"


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"sequence": True}])
def test_other_types_and_whole_sequences_are_run_too(neat, options):
    net = neat_onnx.load_network(case("nts-net-lstm-2")["source"])
    model = neat_onnx.export(net, **options)
    assert neat.choose("model.onnx", model.to_bytes()) == "done"
    assert second_verdict(neat) == "Equal"


def test_it_judges_by_itself(fresh):
    """The first verdict is not asked: outputs that are off are told."""
    neat = fresh
    neat.page.route(
        re.compile(r"second\.js$"),
        lambda route: route.fulfill(
            content_type="text/javascript",
            body=(DIST / "second.js")
            .read_text()
            .replace("data[row * each + column];", "2 + data[row * each + column];"),
        ),
    )
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    assert neat.text("verdict") == "passed"
    assert second_verdict(neat) == "Different"


def test_a_missing_runtime_is_told_and_harms_nothing(new_context, tmp_path):
    shutil.copytree(DIST, tmp_path / "site")
    shutil.rmtree(tmp_path / "site" / "runtime")
    context = new_context()
    with served(tmp_path / "site") as address:
        neat = NeatPage(context.new_page(), address)
        assert neat.choose("net.json", source_text("np-ff-19")) == "done"
        neat.page.get_by_text("could not be asked").wait_for()
        assert neat.text("verdict") == "passed"
    context.close()
