"""Calls of the model's own functions, replaced by the nodes that they stand for."""

from neat_onnx.model import Model


def local_functions(model: Model) -> Model:
    """The model without functions, their nodes where they were called.

    Raises:
        ModelError: functions call each other in a circle, or there would be too many nodes.
    """
    if not model.functions:
        return model
    from neat_onnx.model.plain_proto import inlined  # noqa: PLC0415 - slow to import

    return Model.from_proto(inlined(model.to_proto()))
