"""Runs of consecutive ids in a genome's document, and texts that only look like them."""

import json
import warnings

import pytest

from neat_onnx import NeatOnnxWarning, Network, export, import_model
from neat_onnx.genome.document import genome_document, with_runs

REQUIRED = {"structure": "0" * 12, "numbers": "0" * 12}
LISTS = [
    [],
    [1, 2, 3],
    [1, 2, 3, 4],
    [4, 3, 2, 1],
    [-3, -2, -1, 0, 1, 7, 8, 9],
    [2**63 - 4, 2**63 - 3, 2**63 - 2, 2**63 - 1],
    [-(2**63), 0, 1, 2, 3, 3, 4, 5, 6],
]


@pytest.mark.parametrize("ids", LISTS)
@pytest.mark.parametrize("separators", [(",", ":"), (" ,\n ", " : ")])
def test_a_run_is_its_integers(ids: list[int], separators: tuple[str, str]):
    document = {**REQUIRED, "ids": {"a": ids}, "order": ids}
    text = json.dumps(with_runs(document), separators=separators)
    found = genome_document(text)
    assert (found.ids["a"], found.order) == (ids, ids)


def test_four_or_more_integers_are_a_run():
    assert with_runs([0, 1, 2, [4, 5, 6, 7], 8, 9, 10, 11]) == [0, 1, 2, ["4..7"], "8..11"]


def test_a_name_is_no_run():
    name = "0..99999999999"
    neurons = [{"id": 1, "name": name}, {"id": 2, "name": f'[ "{name}" ,"0..3"'}]
    net = Network.build(
        inputs=1, outputs=[2], neurons=neurons, connections=[(0, 1, 1.0), (1, 2, 1.0)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_model(export(net)) == net
    document = {**REQUIRED, "ids": {name: [0, 1, 2, 3], "1..5": []}}
    assert set(genome_document(json.dumps(document)).ids) == {name, "1..5"}


@pytest.mark.parametrize(
    "run", ["0..4194304", "-9223372036854775808..9223372036854775807", "5..2", "1..x", "1...4"]
)
def test_a_run_of_too_many_or_of_none_is_refused(run: str):
    net = Network.mlp([2, 3, 1])
    proto = export(net).to_proto()
    (entry,) = [each for each in proto.metadata_props if each.key == "neat_onnx.genome"]
    others = ["0..-9999999"] if run == "0..4194304" else []
    entry.value = json.dumps({**json.loads(entry.value), "order": [run, *others]})
    with pytest.warns(NeatOnnxWarning, match="left out of account"):
        assert len(import_model(proto)) == len(net)
