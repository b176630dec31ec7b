"""Policies as exporters of reinforcement learning shape them."""

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

RNG = np.random.default_rng(0)
WEIGHTS = {
    "W": RNG.normal(size=(3, 3)),
    "R": RNG.normal(size=(3, 3)),
    "version": np.array([3.0]),
    "half": np.array(0.5),
}


def policy(nodes, inputs, outputs, **constants) -> ModelProto:
    tensors = [
        numpy_helper.from_array(np.asarray(value, np.float32), name)
        for name, value in (WEIGHTS | constants).items()
    ]
    reads = {name for each in nodes for name in each.input}
    tensors = [tensor for tensor in tensors if tensor.name in reads]
    body = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        tensors,
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
