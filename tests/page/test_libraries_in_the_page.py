"""Files of libraries that are not JSON, as the page hands them to the engine."""

import base64
import json
from pathlib import Path

from neat_onnx.page.bridge import call

RECORDED = json.loads(
    (Path(__file__).parents[1] / "libraries" / "neat_python" / "recorded.json").read_text()
)
CASES = {case["name"]: case for case in RECORDED["cases"]}


def converted(name, **params):
    data = base64.b64decode(CASES[name]["file"])
    text, _ = call("convert", json.dumps({"name": "winner", **params}), data, lambda *_: None)
    return json.loads(text)


def test_a_genome_with_its_configuration():
    config = RECORDED["configs"][CASES["ff-xor0-2.0.0"]["config"]]
    told = converted("ff-xor0-2.0.0", config=config)
    assert told["result"]["kind"] == "network"
    assert told["result"]["report"]["passed"]


def test_a_genome_alone_asks_for_its_configuration():
    assert "configuration is needed" in converted("ff-xor0-2.0.0")["error"]["message"]


def test_a_checkpoint_asks_for_a_genome():
    name = "checkpoint-population-2.0.0"
    assert "a population of" in converted(name)["error"]["message"]
    genome = int(next(iter(CASES[name]["outputs"])))
    assert converted(name, genome=genome)["result"]["report"]["passed"]
