"""Rewrites for import that few models need: each is imported with the first model that does."""

from neat_onnx.model import Model


def seldom_forms(model: Model) -> Model:
    """The model with other nodes for Loops whose rounds depend on the inputs, and signed shifts."""
    operators = {node.op_type for node in model.graph.node}
    if "BitShift" in operators:
        from neat_onnx.passes.signed_shifts import signed_shifts  # noqa: PLC0415 - see above

        model = signed_shifts(model)
    if "Loop" in operators:
        from neat_onnx.passes.limited_loops import limited_loops  # noqa: PLC0415 - see above
        from neat_onnx.passes.loops_over_time import loops_over_time  # noqa: PLC0415 - see above

        model = limited_loops(loops_over_time(model))
    return model
