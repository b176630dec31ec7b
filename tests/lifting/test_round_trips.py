"""Trips through ONNX without metadata: the first may add neurons, the second adds none."""

import pytest
from support.examples.cases import CORPORA, case
from support.examples.networks import NETWORKS
from support.harness.sweep import unlike

from neat_onnx import Network, export, import_model

_MOST_NEURONS = 60
_GATED = ("nap-net-gru", "nap-net-random", "nts-net-gate", "nts-net-gru", "nts-net-lstm")


def _networks() -> dict[str, Network]:
    found = {
        "gru_of_one": Network.gru(1, 1),
        "gru": Network.gru(2, 3, 2),
        "lstm": Network.lstm(2, 3, 2),
    }
    for group in _GATED:
        paths = sorted(CORPORA.glob(f"{group}-*.json"))
        assert paths, group
        found |= {path.stem: case(path.stem).network() for path in paths}
    return found | {n: NETWORKS[n] for n in unlike(NETWORKS) if len(NETWORKS[n]) <= _MOST_NEURONS}


_ALL = _networks()


@pytest.mark.parametrize("net", _ALL.values(), ids=_ALL)
def test_a_second_trip_adds_nothing(net: Network) -> None:
    once = _trip(net)
    twice = _trip(once)
    assert (len(twice), len(twice.connections)) == (len(once), len(once.connections))


def _trip(net: Network) -> Network:
    return import_model(export(net, dtype="float64", include_metadata=False))


def test_a_gate_between_layers_is_no_neuron() -> None:
    net = Network.gru(2, 3, 2)
    assert len(_trip(net)) == len(net)


@pytest.mark.parametrize("cell", [Network.lstm, Network.gru])
def test_the_state_of_a_large_cell_is_one_neuron(cell) -> None:
    """Its two gated inputs are multiplied and added element by element, and are no neurons."""
    net = cell(2, 40, 1)
    model = export(net)
    assert not {node.op_type for node in model.graph.node}.isdisjoint({"Add", "ReduceSum"})
    assert '"connections"' not in model.metadata["neat_onnx.genome"]
    back = _trip(net)
    assert (len(back), len(back.connections)) == (len(net), len(net.connections))
