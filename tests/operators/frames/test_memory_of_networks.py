"""Memory ports of any network: neurons that are carried under a name of their own."""

from typing import Any

import pytest
from onnx import helper

from neat_onnx import ModelError, Network, NetworkError, export, import_model, verify
from neat_onnx.model.states import STATE_KEY


def remembering(*ports: dict[str, Any]) -> Network:
    """Four neurons that read each other's last values, three of them, and a fifth that does not."""
    neurons: list[dict[str, Any]] = [{"id": each, "activation": "tanh"} for each in range(1, 6)]
    neurons[1]["initial"] = 0.5
    links = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 5), (4, 5)]
    delayed = [(1, 2), (2, 3), (3, 1), (2, 1)]
    connections = [(a, b, 0.3 * a + 0.7) for a, b in links]
    plain = Network.build(inputs=[0], outputs=[5], neurons=neurons, connections=connections)
    genes = plain.to_document().model_dump()
    genes["connections"] += [
        {"source": a, "target": b, "weight": 0.9 * a - 1.3, "delay": 1} for a, b in delayed
    ]
    return Network.from_document(genes | {"memory": list(ports)})


@pytest.mark.parametrize("neurons", [[1, 2, 3], [3, 1, 2], [3, 4, 2], [2], [4, 3, 2, 1, 5, 0]])
@pytest.mark.parametrize("batch_axis", [0, 1, 2])
def test_any_neurons_in_any_order_are_carried_under_a_name(neurons, batch_axis):
    port = {"input": "m", "output": "m_next", "neurons": neurons, "batch_axis": batch_axis}
    net = remembering(port | {"shape": [1, len(neurons)]})
    model = export(net.without_source(), dtype="float64")
    sizes: list[Any] = [1, len(neurons)]
    sizes.insert(batch_axis, "N")
    shapes = {entry.name: list(entry.shape) for entry in model.graph.inputs}
    assert shapes["m"] == sizes
    assert ("hidden_prev" in shapes) == (not {1, 2, 3} <= {*neurons})
    assert verify(net, model).passed
    assert import_model(model) == net


def test_a_sequence_has_its_memory_inside():
    net = remembering({"input": "m", "output": "m_next", "neurons": [1, 2, 3], "shape": [3]})
    model = export(net.without_source(), sequence=True)
    assert [entry.name for entry in model.graph.inputs] == ["input"]
    assert verify(net, model).passed


@pytest.mark.filterwarnings("ignore:lost")
def test_the_dialect_of_neataptic_has_names_of_its_own():
    neurons = [{"id": 1, "activation": "tanh"}, {"id": 2}]
    plain = Network.build(
        inputs=[0], outputs=[2], neurons=neurons, connections=[(0, 1, 1.0), (1, 2, 1.0)]
    )
    genes = plain.to_document().model_dump()
    genes["connections"].append({"source": 1, "target": 1, "weight": 0.5, "delay": 1})
    genes["memory"] = [{"input": "m", "output": "m_next", "neurons": [1], "shape": [1]}]
    recurrent: dict[str, Any] = {"allow_recurrent": True, "recurrent_single_step": True}
    recurrent["lossy"] = True  # the dialect has another self-connection
    models = {
        dialect: export(Network.from_document(genes), dialect=dialect, **recurrent)
        for dialect in ("standard", "neataptic")
    }
    names = {
        dialect: {entry.name for entry in model.graph.inputs} for dialect, model in models.items()
    }
    assert names == {"standard": {"input", "m"}, "neataptic": {"input", "hidden_prev"}}


def test_memory_that_nothing_reads_is_not_written():
    port = {"input": "m", "output": "m_next", "neurons": [4, 5], "shape": [2], "batch_axis": 0}
    model = export(remembering(port))
    assert [entry.name for entry in model.graph.inputs] == ["input", "hidden_prev"]


def test_a_port_that_evolution_left_a_neuron_out_of_has_the_usual_names():
    port = {"input": "m", "output": "m_next", "neurons": [1, 2, 3, 4], "shape": [4]}
    genes = remembering(port).to_document().model_dump()
    for gene in genes["connections"]:
        gene["enabled"] = gene["source"] != 4  # so that nothing needs it
    net = Network.from_document(genes)
    model = export(net.without_source())
    assert [entry.name for entry in model.graph.inputs] == ["input", "hidden_prev"]
    assert verify(net, model).passed


def test_two_ports_share_the_memory():
    ports = [
        {"input": "a", "output": "b", "neurons": [2, 4], "shape": [2]},
        {"input": "c", "output": "d", "neurons": [3, 1], "shape": [2, 1], "batch_axis": 2},
    ]
    net = remembering(*ports)
    model = export(net.without_source())
    assert [entry.name for entry in model.graph.outputs] == ["output", "b", "d"]
    assert verify(net, model).passed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": "input"}, "two ports have the same name 'input'"),
        ({"output": "m"}, "two ports have the same name 'm'"),
        ({"shape": [3]}, r"shape \[3\] is not 2 neurons"),
        ({"neurons": [1, 9]}, "no neuron has the id 9"),
        ({"neurons": [1, 1]}, "a neuron is in a port twice"),
        ({"batch_axis": 2}, "batch_axis is 2 of 1 axes and the batch"),
    ],
)
def test_ports_that_do_not_fit_are_refused(changes, message):
    port = {"input": "m", "output": "m_next", "neurons": [1, 2], "shape": [2], "batch_axis": 0}
    with pytest.raises(NetworkError, match=message):
        remembering(port | changes)


def test_memory_is_given_where_metadata_is_out_of_date():
    made = export(remembering({"input": "m", "output": "n", "neurons": [1, 2, 3], "shape": [3]}))
    stale = made.to_proto()
    helper.set_model_props(stale, {STATE_KEY: '[["old", "n"]]'})
    with pytest.raises(ModelError, match="memory="):
        import_model(stale)
    assert import_model(stale, memory={"m": "n"}).has_memory
