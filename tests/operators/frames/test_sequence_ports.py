"""A model of whole sequences is exported as one, time and the batch where it had them."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from stated_models import ends, model_of
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    Model,
    Network,
    NetworkError,
    OptionError,
    export,
    import_model,
    load_network,
    verify,
)

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
DRAW = np.random.default_rng(5)
FEATURES, UNITS = 3, 4
LAYER: dict[str, Any] = {
    "W": DRAW.normal(size=(1, UNITS, FEATURES)) / 2,
    "R": DRAW.normal(size=(1, UNITS, UNITS)) / 2,
    "V": DRAW.normal(size=(UNITS, 2)),
    "first": [1],
}
ORDERS = {
    "time first": (["T", "N", FEATURES], [0, 1, 2]),
    "the batch first": (["N", "seq", FEATURES], [1, 0, 2]),
    "a batch of one": ([1, "time", FEATURES], [1, 0, 2]),
}


def recurrent(order: str, *, last: bool = False, kind: int = FLOAT) -> Model:
    """An RNN over a sequence and a layer of its states, all of them or the last one."""
    sizes, turned = ORDERS[order]
    back = np.argsort(turned).tolist()
    nodes = [
        *([] if kind == FLOAT else [node("Cast", "x", "f", to=FLOAT)]),
        node("Transpose", "x" if kind == FLOAT else "f", "t", perm=turned),
        node("RNN", "t W R", "h", hidden_size=UNITS),
        node("Squeeze", "h first", "s"),
    ]
    if last:
        nodes += [node("Gather", "s end", "e", axis=0), node("MatMul", "e V", "y")]
        shape = [sizes[turned[1]], 2]
    else:
        nodes += [node("MatMul", "s V", "m"), node("Transpose", "m", "y", perm=back)]
        shape = [2 if size == FEATURES else size for size in sizes]
    given = LAYER | ({"end": -1} if last else {})
    return model_of(nodes, {"x": (kind, sizes)}, {"y": (FLOAT, shape)}, **given)


def fed(order: str, kind: int = FLOAT) -> dict[str, Any]:
    """A sequence of five steps for two samples."""
    sizes, _ = ORDERS[order]
    lengths = {"N": 2, "T": 5, "seq": 5, "time": 5}
    x = DRAW.normal(size=[lengths.get(str(size), size) for size in sizes]) * 3
    return {"x": x.astype(np.float32) if kind == FLOAT else np.rint(x).astype(np.int64)}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_the_export_runs_in_the_program_of_the_first_file(order: str, last: bool):
    first = recurrent(order, last=last)
    net = import_model(first)
    model = export(net.without_source())
    feed = fed(order)
    want, got = (open_session(each).run(None, feed)[0] for each in (first, model))
    assert want.shape == got.shape
    assert np.allclose(want, got, atol=1e-5)
    assert [rank for _, _, rank in map(_ranked, ends(model))] == [3, 2 if last else 3]
    assert "RNN" in {each.op_type for each in model.graph.node}
    assert verify(net, model, samples=16).passed
    assert import_model(model) == net


def _ranked(end: tuple[str, str, list[Any]]) -> tuple[str, str, int]:
    return (*end[:2], len(end[2]))


@pytest.mark.parametrize("last", [False, True])
def test_an_evolved_network_keeps_time_and_the_batch(last: bool):
    net = import_model(recurrent("the batch first", last=last))
    weight = net.connections.weight.copy()
    weight[::2] *= 1.25
    neurons = replace(net.neurons, id=net.neurons.id + 100)
    grown = replace(net, connections=replace(net.connections, weight=weight), neurons=neurons)
    model = export(grown)
    shape = ["N", 2] if last else ["N", "T", 2]
    assert [sizes for *_, sizes in ends(model)] == [["N", "T", FEATURES], shape]
    assert verify(grown, model, samples=16).passed
    back = import_model(model)
    assert back == grown
    assert [port.time_axis for port in back.inputs + back.outputs] == [1, None if last else 1]
    assert load_network(back.to_json()).inputs[0].time_axis == 1


def test_one_step_where_it_is_asked_for():
    net = import_model(recurrent("the batch first"))
    step = export(net.without_source(), sequence=False)
    given, _, made, _ = (sizes for *_, sizes in ends(step))
    assert (given, made) == (["N", FEATURES], ["N", 2])
    assert verify(net, step, samples=16).passed
    back = import_model(step)
    assert back == net
    assert len(ends(export(back.without_source()))) == 2


@pytest.mark.parametrize("quantize", ["weights"])
def test_int8_is_of_one_step_unless_a_sequence_is_asked_for(quantize: str):
    net = import_model(recurrent("the batch first"))
    assert len(ends(export(net.without_source(), quantize=quantize))) == 4


def test_a_sequence_is_an_option_of_a_network_that_was_not_imported():
    net = Network.rnn(FEATURES, UNITS, seed=1)
    whole = export(net.without_source(), sequence=True)
    back = import_model(whole)
    assert back == net
    assert export(back.without_source()).to_bytes() == export(net).to_bytes()
    assert not any(entry.key == "neat_onnx.ports" for entry in whole.metadata_props)


@pytest.mark.parametrize("fused", [True, False])
def test_ports_named_like_states_are_none(fused: bool):
    net = Network.rnn(FEATURES, FEATURES, seed=1)
    x, y = replace(net.inputs[0], name="hidden_prev"), replace(net.outputs[0], name="hidden_next")
    net = replace(net, inputs=(x,), outputs=(y,))
    model = export(net.without_source(), sequence=True, fused_recurrent=fused)
    assert import_model(model) == net
    assert verify(net, model, samples=16).passed
    with pytest.raises(OptionError, match="is an input, and no state"):
        export(net.without_source(), sequence=True, fused_recurrent=fused, include_metadata=False)


def test_a_place_of_time_that_is_no_axis_is_refused():
    net = import_model(recurrent("time first"))
    with pytest.raises(NetworkError, match="time_axis is 4"):
        replace(net, inputs=(replace(net.inputs[0], time_axis=4),))
    assert (
        onnx.checker.check_model(onnx.load_from_string(export(net.without_source()).to_bytes()))
        is None
    )


# --- states that are inputs and outputs of the sequence ------------------------------------------


def stateful(operator: str, layers: int = 1, *, flat: bool = False) -> Model:
    """Layers over a sequence [N, T, F] that begin from inputs and give their last states."""
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[operator]
    states = ["h", "c"] if operator == "LSTM" else ["h"]
    nodes, given = [node("Transpose", "x", "t0", perm=[1, 0, 2])], dict[str, Any]()
    parts: dict[str, list[str]] = {state: [] for state in states}
    for k in range(layers):
        width = FEATURES if k == 0 else UNITS
        given[f"W{k}"] = DRAW.normal(size=(1, gates * UNITS, width)) / 2
        given[f"R{k}"] = DRAW.normal(size=(1, gates * UNITS, UNITS)) / 2
        given[f"B{k}"] = DRAW.normal(size=(1, 2 * gates * UNITS)) / 2
        given |= {f"at{k}": [k], f"end{k}": [k + 1], "first": [0], "second": [1]}
        for state in states:
            reads = f"{state}0 first" if flat else f"{state}0 at{k} end{k} first"
            nodes.append(node("Unsqueeze" if flat else "Slice", reads, f"{state}_{k}"))
            parts[state].append(f"{state}_{k}_last")
        given_states = " ".join(f"{state}_{k}" for state in states)
        made = " ".join(f"{state}_{k}_last" for state in states)
        reads = [f"t{k}", f"W{k}", f"R{k}", f"B{k}", "", *given_states.split()]
        gives = [f"y{k}", *made.split()]
        nodes.append(onnx.helper.make_node(operator, reads, gives, hidden_size=UNITS))
        nodes.append(node("Squeeze", f"y{k} second", f"t{k + 1}"))
    nodes.append(node("Transpose", f"t{layers}", "y", perm=[1, 0, 2]))
    for state in states:
        last = parts[state]
        nodes.append(
            node("Squeeze", f"{last[0]} first", f"{state}n")
            if flat
            else node("Concat", " ".join(last), f"{state}n", axis=0)
        )
    sizes = ["N", UNITS] if flat else [layers, "N", UNITS]
    inputs = {"x": (FLOAT, ["N", "T", FEATURES])} | {f"{s}0": (FLOAT, sizes) for s in states}
    outputs = {"y": (FLOAT, ["N", "T", UNITS])} | {f"{s}n": (FLOAT, sizes) for s in states}
    return model_of(nodes, inputs, outputs, **given)


STATEFUL = {
    "an RNN": stateful("RNN"),
    "two GRUs": stateful("GRU", 2),
    "two LSTMs": stateful("LSTM", 2),
    "an LSTM whose states have no axis of layers": stateful("LSTM", flat=True),
}


def begun(model: Model, steps: int = 5) -> dict[str, Any]:
    """Two sequences, and states that are not zero."""
    lengths = {"N": 2, "T": steps}
    return {
        name: DRAW.normal(size=[lengths.get(str(size), size) for size in sizes]).astype(np.float32)
        for name, _, sizes in ends(model)[: len(model.graph.inputs)]
    }


def same_outputs(first: Model, model: Model, feed: dict[str, Any]) -> bool:
    """Whether both give the same for every output, and have the same ones."""
    one, other = open_session(first), open_session(model)
    names = [each.name for each in one.get_outputs()]
    assert names == [each.name for each in other.get_outputs()]
    feed_of = {
        name: value.astype(np.float64) if kind == "DOUBLE" else value
        for (name, kind, _), value in zip(ends(model), feed.values(), strict=False)
    }
    pairs = zip(one.run(names, feed), other.run(names, feed_of), strict=True)
    return all(a.shape == b.shape and np.allclose(a, b, atol=1e-5) for a, b in pairs)


@pytest.mark.filterwarnings("ignore:.* is taken to feed")
@pytest.mark.parametrize("options", [{}, {"fused_recurrent": False}, {"dtype": "float64"}])
@pytest.mark.parametrize("name", STATEFUL)
def test_states_of_a_sequence_stay_inputs_and_outputs(name: str, options: dict[str, Any]):
    first = STATEFUL[name]
    net = import_model(first)
    model = export(net.without_source(), **options)
    assert same_outputs(first, model, begun(first))
    assert verify(net, model, samples=16).passed
    back = import_model(model)
    assert back == net
    assert back.to_document().memory == net.to_document().memory
    assert back.inputs[0].time_axis == 1
    assert "Scan" in types(model)


def types(model: Model) -> set[str]:
    return {each.op_type for each in model.graph.node}


@pytest.mark.filterwarnings("ignore:.* is taken to feed")
@pytest.mark.parametrize("name", STATEFUL)
def test_an_evolved_network_keeps_its_states(name: str):
    net = import_model(STATEFUL[name])
    weight = net.connections.weight.copy()
    weight[weight != 1.0] *= 1.25
    grown = replace(net, connections=replace(net.connections, weight=weight))
    other = int(grown.memory[0].neurons[0])
    activation = grown.neurons.activation.copy()
    activation[other] = activation[grown.inputs[0].neurons[0]]
    for each in (grown, replace(grown, neurons=replace(grown.neurons, activation=activation))):
        model = export(each)
        assert [name for name, *_ in ends(model)] == [name for name, *_ in ends(STATEFUL[name])]
        assert verify(each, model, samples=16).passed
        assert import_model(model) == each
