"""Where a document says something else than the network that it was made from, and shows it."""

from neat_onnx.errors import warn
from neat_onnx.files import parse_json
from neat_onnx.libraries.neataptic_ts.onnx.repair.metadata import MISMATCH
from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import some
from neat_onnx.model import Model
from neat_onnx.operators.spatial.nodes import AveragePool, Conv, MaxPool


def tell_losses(model: Model) -> Model:
    """The same model; a warning for each kind of loss."""
    nodes = model.graph.node
    pools = [
        node.label
        for node in nodes
        if isinstance(node, MaxPool | AveragePool) and not _does_nothing(node)
    ]
    if pools:
        _tell(f"{some(pools)}: a network of NeatapticTS has no pools, this graph computes them")
    padded = [node.label for node in nodes if isinstance(node, Conv) and _is_padded_before(node)]
    if padded:
        _tell(
            f"{some(padded)}: NeatapticTS takes the wrong weights for a kernel with padding at the "
            "top or on the left"
        )
    unshared = parse_json(model.metadata.get(MISMATCH, "[]"))
    if isinstance(unshared, list) and unshared:
        layers = some(f"layer {layer}" for layer in unshared)
        _tell(f"the neurons of {layers} do not share the weights that its Conv has")
    return model


def _does_nothing(pool: MaxPool | AveragePool) -> bool:
    given = pool.attributes
    steps = (*given.kernel_shape, *(given.strides or ()))
    return all(step == 1 for step in steps) and not any(given.pads or ())


def _is_padded_before(node: Conv) -> bool:
    pads = node.attributes.pads or ()
    return any(pads[: len(pads) // 2])


def _tell(text: str) -> None:
    warn(f"the document computes something else than the network it was made from: {text}")
