"""Write the files of this version: `python -m tests.compat`. A file that exists is never rewritten.

Each form is a model as `export` writes it, and the network that it must be read to from then on.
"""

from pathlib import Path

from neat_onnx import Model, Network, export, import_model
from neat_onnx.version import __version__

HERE = Path(__file__).parent


def irregular() -> Network:
    """Ids out of order, a skip connection, parallel and disabled genes, a dead neuron."""
    return Network.build(
        inputs=[4, 9],
        outputs=[2],
        neurons=[
            {"id": 7, "activation": "neat_sigmoid", "response": 2.0, "name": "hidden"},
            {"id": 2, "activation": "identity", "bias": 0.25},
            {"id": 30, "activation": "tanh"},
        ],
        connections=[
            (9, 7, 0.1),
            (4, 7, 0.5),
            (4, 7, -0.3),
            (7, 2, 1.5),
            {"source": 9, "target": 2, "weight": 3.0, "enabled": False},
            (4, 2, 0.75),
            (4, 30, 1.0),
        ],
    )


def memory() -> Network:
    """A self-connection on the state, a delay of two steps, a gate, an initial value."""
    edges = [
        {"source": 0, "target": 5, "weight": 0.5},
        {"source": 5, "target": 5, "weight": 0.25, "delay": 1, "reads_state": True},
        {"source": 5, "target": 3, "weight": -1.5, "delay": 2},
        {"source": 1, "target": 3, "weight": 2.0, "gater": 5, "gate_delay": 1, "initial_gain": 1.0},
    ]
    neurons = [{"id": 5, "activation": "tanh", "initial": 0.5}, {"id": 3, "bias": -0.125}]
    return Network.build(inputs=2, outputs=[3], neurons=neurons, connections=edges)


def space() -> Network:
    """1×3×3 → Conv 1×2×2 → MaxPool 1×1×1 → 1."""
    neurons = [{"id": 9 + k, "activation": "tanh", "bias": 0.25} for k in range(4)]
    neurons += [{"id": 13, "aggregation": "max"}, {"id": 14}]
    taps = [(0, 0.5), (1, -1.0), (3, 2.0), (4, 0.125)]
    edges = [(corner + at, 9 + k, w) for k, corner in enumerate((0, 1, 3, 4)) for at, w in taps]
    edges += [*((9 + k, 13, 1.0) for k in range(4)), (13, 14, -0.5)]
    return Network.build(inputs=9, outputs=[14], neurons=neurons, connections=edges)


def sparse() -> Network:
    """Twenty inputs of which each neuron reads two."""
    edges = [(k, 20 + k % 8, 0.5 - k / 16) for k in range(20)]
    edges += [(20 + k, 28, 1.0 / (k + 1)) for k in range(8)]
    neurons = [{"id": 20 + k, "activation": "relu"} for k in range(8)] + [{"id": 28}]
    return Network.build(inputs=20, outputs=[28], neurons=neurons, connections=edges)


def curves() -> Network:
    """Activations that float64 writes in primitives."""
    names = ["mish", "softplus", "elu", "selu", "neat_softplus"]
    neurons = [{"id": 11 - k, "activation": name, "bias": k / 8} for k, name in enumerate(names)]
    edges = [(k % 2, 11 - k, 1.0 - k / 4) for k in range(len(names))]
    edges += [(7 + k, 3, k + 0.5) for k in range(1, len(names))]
    gated = {"source": 7, "target": 3, "weight": 2.0, "gater": 11}
    return Network.build(
        inputs=2, outputs=[3], neurons=[*neurons, {"id": 3}], connections=[*edges, gated]
    )


def as_convolution() -> Model:
    """The same with its Conv."""
    convolution = {
        "layer_index": 1, "in_height": 3, "in_width": 3, "in_channels": 1, "kernel_height": 2,
        "kernel_width": 2, "stride_height": 1, "stride_width": 1, "out_height": 2, "out_width": 2,
        "out_channels": 1,
    }  # fmt: skip
    return export(space(), conv2d_mappings=[convolution], infer_conv=True)


def forms() -> dict[str, Model]:
    layers = Network.mlp([2, 3, 1], seed=1)
    return {
        "irregular": export(irregular()),
        "embedded": export(irregular(), embed_network=True),
        "memory": export(memory(), dtype="float64"),
        "fused": export(Network.lstm(2, 3, 1), sequence=True),
        "fused_gru": export(Network.gru(2, 2, linear_before_reset=True), sequence=True),
        "sequence": export(memory(), sequence=True, dtype="float64"),
        "spatial": as_convolution(),
        "curves": export(curves(), dtype="float64"),
        "dialect": export(layers, dialect="neataptic"),
    }


if __name__ == "__main__":
    folder = HERE / __version__
    folder.mkdir(exist_ok=True)
    for name, model in forms().items():
        path = folder / f"{name}.json"
        if not path.exists():
            path.write_text(model.to_json(), encoding="utf-8")
            (folder / f"{name}.network").write_text(
                import_model(path).without_source().to_json(), encoding="utf-8"
            )
    binary = folder / "binary.onnx"
    if not binary.exists():
        export(irregular(), embed_network=True).save(binary)
        (folder / "binary.network").write_text(
            import_model(binary).without_source().to_json(), encoding="utf-8"
        )
