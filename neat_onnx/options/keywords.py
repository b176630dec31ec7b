"""The export options as keywords: the types that editors, type checkers and `help` show."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from neat_onnx.options.export import ExportOptions
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

Function = TypeVar("Function", bound=Callable[..., Any])


class ExportKeywords(TypedDict, total=False):
    """Keywords of `neat_onnx.export`: the fields of `ExportOptions`, each of them optional."""

    opset: int
    dtype: Literal["float32", "float64"]
    dialect: Literal["standard", "neataptic"]
    preset: Literal["none", "ml-agents", "sentis", "godot-rl", "onnxruntime-web"]
    rename: dict[str, str]
    profile: Literal["onnx", "sonnx"]
    lossy: bool
    mixed_activations: Literal["grouped", "per_neuron"]
    fold: bool
    quantize: Literal["none", "weights"]
    batch_dimension: bool | str | None
    encoding: Literal["numbers", "raw"]
    include_metadata: bool
    embed_network: bool
    producer_name: str
    producer_version: str | None
    doc_string: str
    allow_partial_connectivity: bool
    allow_mixed_activations: bool
    allow_recurrent: bool
    recurrent_single_step: bool
    sequence: bool
    state: Literal["separate", "joined"]
    fused_recurrent: bool
    conv2d_mappings: Sequence[Conv2DMapping | dict[str, Any]]
    pool2d_mappings: Sequence[Pool2DMapping | dict[str, Any]]
    flatten_after_pooling: bool
    validate_conv_sharing: bool
    infer_conv: bool
    legacy_node_ordering: bool


def takes_export_options(function: Function) -> Function:
    """Decorate a function of `**keywords` so that `help` names each export option and its type.

    The signature gains a keyword for each field of `ExportOptions`, with its default, and the
    docstring the field's description.
    """
    signature = inspect.signature(function)
    fixed = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    types = ExportKeywords.__annotations__
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=types[name]
        )
        for name, field in ExportOptions.model_fields.items()
    ]
    function.__signature__ = signature.replace(parameters=[*fixed, *options])  # type: ignore[attr-defined]
    described = ExportOptions.model_fields.items()
    lines = (f"    {name}: {field.description}" for name, field in described)
    text = inspect.cleandoc(function.__doc__ or "")
    function.__doc__ = "\n".join([text, "", "Options:", *lines, ""])
    return function
