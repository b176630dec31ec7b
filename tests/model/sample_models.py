"""Models for the tests: one by hand, and a strategy for random ones."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

import neat_onnx.operators.export.nodes  # noqa: F401 - registers the operators
from neat_onnx.model import (
    DataType,
    Graph,
    MetadataEntry,
    Model,
    OperatorSet,
    Tensor,
    ValueInfo,
    node_class,
)


def mlp(weights=((0.1, -0.2), (0.3, -0.4), (0.5, -0.0)), data_type=DataType.FLOAT) -> Model:
    """One dense layer of tanh, valid in every profile."""
    array = np.array(weights)
    return Model(
        ir_version=8,
        opset_import=[OperatorSet(version=18)],
        producer_name="test",
        metadata_props=[MetadataEntry(key="layer_sizes", value="[]")],
        graph=Graph(
            name="mlp",
            inputs=[ValueInfo.of("input", data_type, ["N", array.shape[1]])],
            outputs=[ValueInfo.of("output", data_type, ["N", array.shape[0]])],
            initializer=[
                Tensor.of("W0", array, data_type),
                Tensor.of("B0", np.arange(len(array)) / 3, data_type),
            ],
            node=[
                node("Gemm", ["input", "W0", "B0"], ["Gemm_1"], alpha=2.5, transB=1),
                node("Tanh", ["Gemm_1"], ["output"]),
            ],
        ),
    )


def node(op_type, inputs, outputs, **attributes):
    return node_class(op_type)(
        name=f"{op_type.lower()}_1", input=inputs, output=outputs, attributes=attributes
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)  # any that UTF-8 can say
FLOAT32 = st.floats(-1e30, 1e30, allow_subnormal=True)


@st.composite
def models(draw) -> Model:
    """A chain of Gemms and activations with odd weights, names and texts."""
    data_type = draw(st.sampled_from([DataType.FLOAT, DataType.DOUBLE]))
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    tensors, nodes, source = [], [], "input"
    for layer, (before, width) in enumerate(pairwise(widths)):
        weights = draw(st.lists(FLOAT32, min_size=before * width, max_size=before * width))
        tensors.append(Tensor.of(f"W{layer}", np.reshape(weights, (width, before)), data_type))
        attributes = draw(
            st.fixed_dictionaries({"transB": st.just(1)}, optional={"alpha": FLOAT32})
        )
        nodes.append(node("Gemm", [source, f"W{layer}"], [f"z{layer}"], **attributes))
        activation = draw(st.sampled_from(["Tanh", "Relu", "Identity", "Sigmoid"]))
        nodes.append(node(activation, [f"z{layer}"], [f"a{layer}"]))
        nodes[-1].name = draw(TEXT)
        source = f"a{layer}"
    return Model(
        ir_version=draw(st.none() | st.integers(3, 13)),
        opset_import=draw(st.just([]) | st.just([OperatorSet(version=18)])),
        producer_name=draw(TEXT),
        doc_string=draw(TEXT),
        metadata_props=[MetadataEntry(key=draw(TEXT), value=draw(TEXT))],
        graph=Graph(
            name=draw(TEXT),
            inputs=[ValueInfo.of("input", data_type, ["N", widths[0]])],
            outputs=[ValueInfo.of(source, data_type, draw(st.sampled_from([None, [None, 1], []])))],
            initializer=tensors,
            node=nodes,
        ),
    )
