"""Refusals: what the file could not say, or the number format not hold, is refused by name."""

import json
from typing import Any

import numpy as np
import pytest

from neat_onnx import (
    NeatOnnxWarning,
    Network,
    NetworkError,
    OptionError,
    export,
    import_model,
    load_network,
)


def one(**gene: Any) -> Network:
    neuron = {"id": 7, "bias": gene.pop("bias", 0.0)}
    link = {"source": 0, "target": 7, "weight": 1.0} | gene
    return Network.build(inputs=1, outputs=[7], neurons=[neuron], connections=[link])


@pytest.mark.parametrize("gene", [{"weight": 1e39}, {"bias": -1e300}])
def test_a_gene_beyond_float32_is_named(gene):
    with pytest.raises(NetworkError, match=r"neuron 7 has the (weight|bias) .*, beyond") as caught:
        export(one(**gene))
    assert 'dtype="float64"' in str(caught.value)
    assert import_model(export(one(**gene), dtype="float64")) == one(**gene)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("options", "gene", "weights"),
    [
        ({}, {}, [3e38, 3e38]),
        ({"dtype": "float64"}, {}, [1.7e308, 1.7e308]),
        ({"fold": True}, {"activation": "neat_sigmoid"}, [3e38]),
        ({"fold": True, "dtype": "float64"}, {"response": 1e200}, [1e200]),
        ({}, {"activation": "formula: z * 1e39"}, [1.0]),
    ],
)
def test_what_a_sum_or_product_of_genes_makes_infinite_is_refused(options, gene, weights):
    neurons = [{"id": 7} | gene]
    connections = [(0, 7, weight) for weight in weights]
    net = Network.build(inputs=1, outputs=[7], neurons=neurons, connections=connections)
    with pytest.raises(NetworkError, match=r"would hold .*, beyond the range of float"):
        export(net, **options)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_genes_at_the_end_of_the_range_give_no_warning_of_numpy():
    neurons = [{"id": 7, "response": 1e300}]
    connections = [(0, 7, 1e300), {"source": 7, "target": 7, "weight": 1e300, "delay": 1}]
    net = Network.build(inputs=1, outputs=[7], neurons=neurons, connections=connections)
    assert not np.isfinite(net.run(np.ones((3, 1)))).all()
    assert import_model(export(net, dtype="float64")) == net


def test_a_gene_that_does_not_compute_may_be_as_large_as_it_likes():
    net = one(weight=1e39, enabled=False)
    assert import_model(export(net)) == net


def test_a_network_is_embedded_in_metadata_only():
    with pytest.raises(OptionError, match="embed_network"):
        export(one(), embed_network=True, include_metadata=False)


def started() -> Network:
    neuron = {"id": 1, "initial": 0.5}
    loop = {"source": 1, "target": 1, "weight": 0.5, "delay": 1}
    return Network.build(inputs=1, outputs=[1], neurons=[neuron], connections=[(0, 1, 1.0), loop])


def test_memory_that_does_not_start_at_zero_needs_metadata():
    with pytest.raises(OptionError, match="do not start at zero"):
        export(started(), include_metadata=False)
    with pytest.warns(NeatOnnxWarning, match="do not start at zero"):
        export(started(), include_metadata=False, lossy=True)
    export(started(), include_metadata=False, sequence=True)


def test_ports_that_would_be_taken_for_states_need_metadata():
    document = json.loads(Network.mlp([1, 1]).to_json())
    document["inputs"][0]["name"] = "hidden_prev"
    document["outputs"][0]["name"] = "hidden_next"
    net = load_network(document)
    assert import_model(export(net)) == net
    with pytest.raises(OptionError, match="hidden_prev is an input"):
        export(net, include_metadata=False)


def test_a_port_of_too_many_axes():
    document = json.loads(Network.mlp([1, 1]).to_json())
    document["inputs"][0]["shape"] = [1] * 65
    with pytest.raises(NetworkError, match="65 axes"):
        export(load_network(document))
