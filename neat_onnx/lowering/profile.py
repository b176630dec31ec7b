"""Profiles: a finished model in the form of the graph-semantics profile, and checked against it."""

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.written_attributes import written_attributes
from neat_onnx.model import Model, validate
from neat_onnx.options import ExportOptions


def in_profile(model: Model, options: ExportOptions) -> Model:
    """The model as the profile of an export wants it.

    In the profile "sonnx" nodes are fully configured: they write their attributes out.

    Raises:
        NetworkError: the model has a finding of that profile; says which.
    """
    if options.profile != "sonnx":
        return model
    written = written_attributes(model)
    for finding in validate(written, "sonnx"):
        raise NetworkError(
            f"the graph would break constraint {finding.code} of the profile: {finding.message}",
            where=finding.where,
            hint=finding.hint or "Leave profile out",
        )
    return written
