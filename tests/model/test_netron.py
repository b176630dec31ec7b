"""Netron's own reader sees in protobuf's JSON every port, node, attribute and weight of a model."""

import json
import subprocess
import warnings
from pathlib import Path

import netron
import numpy as np
import pytest
from onnx import helper, numpy_helper
from support.examples.cases import cases
from support.examples.networks import NETWORKS
from support.harness.sweep import WHOLE, each

from neat_onnx import NeatOnnxWarning, export

GROUPS = ("nts-net", "nap-net", "np-ff", "np-rec")
READER = Path(__file__).with_name("netron.mjs")


def by_netron(texts):
    """What Netron shows of each JSON text, in one process of Node."""
    run = subprocess.run(
        ["node", READER, Path(netron.__file__).parent],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def port(value):
    dims = [each.dim_param or str(each.dim_value) for each in value.type.tensor_type.shape.dim]
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
    return [value.name, kind.name, dims]


def shown(graph):
    """What a graph says, in the form of netron.mjs; weights are those that a node reads, attributes
    are their names: `onnx` reads their values from the same text.
    """
    read = {name for node in graph.node for name in node.input}
    ports = {each.name for each in graph.input}
    return {
        "input": [port(each) for each in graph.input],
        "output": [port(each) for each in graph.output],
        "nodes": [
            {
                "op_type": node.op_type,
                "input": list(node.input),
                "output": list(node.output),
                "attribute": {each.name for each in node.attribute},
            }
            for node in graph.node
        ],
        "weights": {
            each.name: [
                numpy_helper.to_array(each).dtype.name,
                list(each.dims),
                numpy_helper.to_array(each).ravel().tolist(),
            ]
            for each in graph.initializer
            if each.name in read - ports
        },
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_netron_shows_what_the_model_says(dtype):
    """Every fourth network, of which each type gets another half."""
    nets = [(case.name, case.network()) for case in cases(*GROUPS)] + list(NETWORKS.items())
    start = 0 if WHOLE or dtype == "float32" else 4
    given = dict(each(8, nets[start:]))
    models = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        for name, net in given.items():
            models[name] = export(net, dtype=dtype)
    seen = by_netron([model.to_json(spelling="protobuf") for model in models.values()])
    for (name, model), found in zip(models.items(), seen, strict=True):
        assert found is not None, name
        assert found.pop("format") == f"ONNX v{model.ir_version}", name
        for node in found["nodes"]:
            node["attribute"] = set(node["attribute"])
        assert found == shown(model.to_proto().graph), name
