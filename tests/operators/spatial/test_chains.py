"""Random chains of convolutions, pools and dense layers: out, and back, and out again."""

import pytest
from chains import Chain, chains
from hypothesis import given, settings
from support.harness.routes import Trip, binary_trip, is_valid, json_trip, onnxruntime_agrees
from support.harness.sweep import count

from neat_onnx import export, import_model, load_model
from neat_onnx.model import Model

SPATIAL = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")
EXAMPLES = count(12, 60)


def kinds(model: Model) -> list[str]:
    """The spatial nodes of a model, in order."""
    return [node.op_type for node in model.graph.node if node.op_type in SPATIAL]


@pytest.mark.parametrize("mapped", [True, False], ids=["mappings", "blocks"])
def test_chains_go_out_and_come_back(mapped: bool):
    @settings(max_examples=EXAMPLES, database=None)
    @given(chain=chains(mapped=mapped))
    def hold(chain: Chain) -> None:
        goes_out_and_comes_back(chain)

    hold()


def goes_out_and_comes_back(chain: Chain) -> None:
    trip = Trip(chain.net, chain.options | chain.mappings)
    assert kinds(trip.model) == chain.kinds
    for route in (is_valid, onnxruntime_agrees, json_trip, binary_trip):
        route(trip)
    text, data = trip.model.to_json(), trip.model.to_bytes()
    again = export(import_model(load_model(text)), **chain.options)
    assert again.to_json() == text
    assert again.to_bytes() == data
    rounded = export(import_model(load_model(data)), **chain.options)
    assert rounded.to_bytes() == data
