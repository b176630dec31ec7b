"""Rewrites for import that few models need: each is imported with the first model that does."""

from collections.abc import Callable

from neat_onnx.model import Model, Node


def seldom_forms(model: Model) -> Model:
    """The model with other nodes for Loops whose rounds depend on the inputs, and signed shifts.

    Tensors stand for optional ones, and for lists that an If gives; masks for Slices between
    computed places.
    """
    operators = {node.op_type for node in model.graph.node}
    if any(name.startswith("Optional") for name in operators):
        from neat_onnx.passes.optionals import optionals  # noqa: PLC0415 - see above

        model = optionals(model)
    if "BitShift" in operators:
        from neat_onnx.passes.signed_shifts import signed_shifts  # noqa: PLC0415 - see above

        model = signed_shifts(model)
    if "If" in operators:
        from neat_onnx.passes.sequence_branches import sequence_branches  # noqa: PLC0415 - as above

        model = sequence_branches(model)
    if "CastLike" in operators:
        from neat_onnx.passes.known_casts import known_casts  # noqa: PLC0415 - see above

        model = known_casts(model)
    if "Slice" in operators and any(map(_has_computed_places(model), model.graph.node)):
        from neat_onnx.passes.computed_slices import computed_slices  # noqa: PLC0415 - see above

        model = computed_slices(model)
    if "Loop" in operators:
        from neat_onnx.passes.limited_loops import limited_loops  # noqa: PLC0415 - see above
        from neat_onnx.passes.loops_over_time import loops_over_time  # noqa: PLC0415 - see above

        model = limited_loops(loops_over_time(model))
    return model


def _has_computed_places(model: Model) -> Callable[[Node], bool]:
    constant = {tensor.name for tensor in model.graph.initializer}
    return lambda node: node.op_type == "Slice" and not constant.issuperset(node.input[1:3])


def simple_inside(model: Model, simple: Callable[[Model], Model]) -> Model:
    """The model with the graphs inside of Scans and Ifs as they are after `simple`."""
    if all(node.op_type not in ("If", "Scan") for node in model.graph.node):
        return model
    from neat_onnx.passes.inner_graphs import inner_graphs  # noqa: PLC0415 - see above

    return inner_graphs(model, simple)
