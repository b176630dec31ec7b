"""How long a network of the size of LeNet takes, neuron by neuron: in, run, out.

python tests/bench/bench_spatial.py     exits 1 if a bound is missed
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from bench_engine import Row, alone, table
from onnx import TensorProto, helper, numpy_helper

import neat_onnx

BATCH = 64
SHAPES = {
    "w1": (6, 1, 5, 5),
    "w2": (16, 6, 5, 5),
    "w3": (120, 400),
    "w4": (84, 120),
    "w5": (10, 84),
}  # each with a bias: w1 and b1


def main() -> int:
    if sys.argv[1:]:
        print(json.dumps(lenet()))
        return 0
    found = alone("lenet", __file__)
    megabytes = found.pop("MB")
    what = f"LeNet, {found.pop('neurons'):.0f} neurons, {found.pop('connections'):.0f} connections"
    rows = [Row(f"{what}: {name}, s", value, 3, False, "alone") for name, value in found.items()]
    memory = Row(f"{what}: peak memory, MB", megabytes, 1024, False, "all of the above")
    return table([*rows, memory])


def model() -> bytes:
    """LeNet-5 as it is usually written: 28 × 28, two Conv, two MaxPool, three Gemm."""
    random = np.random.default_rng(0)
    tensors = []
    for name, shape in SHAPES.items():
        weights = random.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        bias = random.normal(size=shape[0])
        for each, values in ((name, weights), (f"b{name[1:]}", bias)):
            tensors.append(numpy_helper.from_array(values.astype(np.float32), each))
    nodes, x = [], "x"
    for k, name in enumerate(SHAPES, 1):
        spatial = len(SHAPES[name]) == 4
        attributes = {"pads": [2] * 4} if k == 1 else {} if spatial else {"transB": 1}
        operator = "Conv" if spatial else "Gemm"
        nodes.append(helper.make_node(operator, [x, name, f"b{k}"], [f"z{k}"], **attributes))
        nodes.append(helper.make_node("Relu", [f"z{k}"], [f"a{k}"]))
        x = f"a{k}"
        if spatial:
            pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
            nodes.append(helper.make_node("MaxPool", [x], [f"p{k}"], **pool))
            x = f"p{k}"
        if k == 2:
            nodes.append(helper.make_node("Flatten", [x], ["flat"]))
            x = "flat"
    nodes.pop()  # no activation after the last layer
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
        for name, shape in (("x", ["N", 1, 28, 28]), ("z5", ["N", 10]))
    ]
    graph = helper.make_graph(nodes, "lenet", *ends, tensors)
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()


def lenet() -> dict[str, float]:
    """Seconds of each part, each done once, as a person would; and what it takes of memory."""
    data, found = model(), {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = work()
        found[name] = time.perf_counter() - begin
        return result

    net = timed("import", lambda: neat_onnx.import_model(data))
    x = np.random.default_rng(1).normal(size=(BATCH, 784)).astype(np.float32)
    y = timed(f"run, {BATCH} samples", lambda: net.activate(x))
    back = timed("export", lambda: neat_onnx.export(net).to_bytes())
    text = timed("network to JSON", net.to_json)
    assert neat_onnx.load_network(text) == net
    assert [node.op_type for node in neat_onnx.load_model(back).graph.node].count("Conv") == 2
    for each in (data, back):
        session = onnxruntime.InferenceSession(each)
        (want,) = session.run(None, {"x": x.reshape(BATCH, 1, 28, 28)})
        np.testing.assert_allclose(y, want, atol=1e-5)
    found["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"neurons": len(net), "connections": len(net.connections)}


if __name__ == "__main__":
    sys.exit(main())
