"""validate: the faults of a model, as a list of findings, at three levels.

- **schema**: it reads as a model of ours.
- **onnx**: onnx's full checker, with strict shape inference, accepts it.
- **sonnx**: the graph-semantics profile, constraint by constraint (see `wiring` and `semantics`).
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args

from neat_onnx.arguments import one_of, optional, takes
from neat_onnx.errors import ModelError
from neat_onnx.model.crashes import surviving_proto
from neat_onnx.model.model import Model, load_model
from neat_onnx.model.wiring import Finding, semantic_findings, wiring_findings

Profile = Literal["schema", "onnx", "sonnx"]

_NODE_NAME = re.compile(r"(?:node name: |Name: )([^\s,)]+)")


@takes(profile=optional(one_of(*get_args(Profile))))
def validate(source: Any, profile: Profile | None = None) -> list[Finding]:
    """Check a model against the JSON Schema, against ONNX, and against the graph-semantics profile.

    Args:
        source: a Model, or whatever `load_model` takes. One that cannot be read as a model has
            "schema" findings whatever the profile; functions that call themselves are "functions"
            findings of the profile "sonnx".
        profile: the level to check; None checks all three, in order.

    Returns:
        The findings: code, place, and the way to mend each; an empty list for a valid model.

    Raises:
        DocumentError: `source` cannot be read at all, or is not JSON.
        OptionError: there is no such profile.
    """
    try:
        model = load_model(source)
        if isinstance(source, Model) and profile in ("schema", None):
            load_model(model.to_document())
    except ModelError as error:
        recursive = error.where == "functions"
        return [_finding(error, "functions" if recursive and profile == "sonnx" else "schema")]
    findings: list[Finding] = []
    if profile in ("onnx", None):
        findings += _onnx_findings(model)
    if profile in ("sonnx", None):
        findings += wiring_findings(model.graph)
        findings += semantic_findings(model.graph)
    return findings


def _onnx_findings(model: Model) -> Iterator[Finding]:
    import onnx  # noqa: PLC0415 - slow to import
    from onnx.shape_inference import InferenceError  # noqa: PLC0415 - slow to import

    try:
        onnx.checker.check_model(surviving_proto(model), full_check=True)
    except ModelError as error:
        yield _finding(error, "onnx")
    except (onnx.checker.ValidationError, InferenceError, ValueError) as error:
        text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
        node = _NODE_NAME.search(text)
        yield Finding(code="onnx", where=node[1] if node else "model", message=text)


def _finding(error: ModelError, code: str) -> Finding:
    return Finding(
        code=code, where=error.where or "model", message=error.message, hint=error.hint or ""
    )
