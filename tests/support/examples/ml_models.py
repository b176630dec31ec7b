"""Models of one operator of ai.onnx.ml, as scikit-learn's converter writes them."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
X[0] = 0.0
WEIGHTS = np.random.default_rng(1).normal(size=12).round(2).tolist()


TREES: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 2, 0, 0, 0, 3, 0, 0],
    "nodes_values": [0.25, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ",
                    "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
}  # fmt: skip


LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [2, 3, 4, 1, 2], "ids": [0, 1, 1, 2, 0],
          "weights": [0.5, 1.5, -1.0, 2.0, 0.75]}  # fmt: skip


VECTORS: dict[str, Any] = {"support_vectors": WEIGHTS, "kernel_params": [0.25, 0.5, 3.0]}


def leaves(stem: str) -> dict[str, Any]:
    return {f"{stem}_{key}": values for key, values in LEAVES.items()}


def model(operator: str, outputs: int = 1, **attributes: Any) -> Any:
    names = ["label", "y"][-outputs:]
    made = helper.make_node(operator, ["x"], names, domain="ai.onnx.ml", **attributes)
    types = {"label": TensorProto.INT64, "y": TensorProto.FLOAT}
    graph = helper.make_graph(
        [made], "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info(name, types[name], None) for name in names],
    )  # fmt: skip
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)
