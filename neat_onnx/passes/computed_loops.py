"""A Loop whose rounds depend on the inputs: through their rows, or until a condition is false."""

from neat_onnx.model import Model


def computed_loops(model: Model) -> Model:
    """The model with a Scan for a Loop over rows, and Ifs for one that a computed condition ends.

    This is for import.
    """
    if not any(node.op_type == "Loop" for node in model.graph.node):
        return model
    from neat_onnx.passes.limited_loops import limited_loops  # noqa: PLC0415 - few models have it
    from neat_onnx.passes.loops_over_time import loops_over_time  # noqa: PLC0415 - as above

    return limited_loops(loops_over_time(model))
