"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json
import re

import onnx
import pytest
from site_page import DIST, NeatPage, case, source_text

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
def test_both_runtimes_agree_and_are_named(second_opinion, name):
    neat = second_opinion
    assert neat.choose(f"{name}.json", source_text(name)) == "done"
    assert f"onnx.reference {onnx.__version__}" in neat.text("verdict-words")
    assert second_verdict(neat).startswith("Equal")
    assert neat.text("second-runtime") == f"onnxruntime-web {VERSION}"


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"sequence": True}])
def test_other_types_and_whole_sequences_are_run_too(second_opinion, options):
    net = neat_onnx.load_network(case("nts-net-lstm-2")["source"])
    model = neat_onnx.export(net, **options)
    assert second_opinion.choose("model.onnx", model.to_bytes()) == "done"
    assert second_verdict(second_opinion) == "Equal"


def test_a_missing_runtime_harms_nothing_and_one_that_is_there_judges_by_itself(
    new_context, address
):
    """The first verdict is not asked: outputs that are off are told."""
    context = new_context()
    neat = NeatPage(context.new_page(), address)
    runtime = re.compile(r"runtime/files\.json$")
    context.route(runtime, lambda route: route.fulfill(status=404))
    assert neat.choose("net.json", source_text("np-ff-19")) == "done"
    neat.page.get_by_text("could not be asked").wait_for()
    assert neat.text("verdict") == "passed"
    context.unroute(runtime)
    context.route(re.compile(r"second\.js$"), lambda route: route.fulfill(**off_by_two()))
    assert neat.choose("net.json", source_text("nts-net-dag-24")) == "done"
    assert neat.text("verdict") == "passed"
    assert second_verdict(neat) == "Different"


def off_by_two() -> dict[str, str]:
    """The second runtime's script with outputs that are wrong by 2."""
    right, wrong = "data[row * each + column];", "2 + data[row * each + column];"
    script = (DIST / "second.js").read_text()
    assert right in script
    return {"content_type": "text/javascript", "body": script.replace(right, wrong)}
