"""Local functions of an ONNX file, put in the place of their calls.

A function calls others, and a few lines of calls can ask for millions of nodes: how many there will
be is counted before anything is inlined.
"""

import copy
import re
from collections.abc import Iterable

import onnx

from neat_onnx.errors import ModelError
from neat_onnx.model.budget import Budget
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.node import OWN_DOMAIN
from neat_onnx.model.proto_graphs import nodes_in

_Key = tuple[str, str, str]
_ASSERTION = re.compile(r"^\S+:\d+: \w+: Assertion `.*?` failed: ")  # of onnx's own code


def inlined(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model without local functions.

    Raises:
        ModelError: functions call each other in a circle, or there would be too many nodes.
    """
    # seldom needed
    from onnx.inliner import inline_local_functions  # noqa: PLC0415
    from onnx.shape_inference import InferenceError  # noqa: PLC0415
    from onnx.version_converter import ConvertError  # noqa: PLC0415

    proto = _of_one_opset(proto)
    failures = InferenceError, ConvertError, onnx.checker.ValidationError, RuntimeError, ValueError
    sizes = _sizes(proto)
    Budget().take("nodes", sum(sizes.get(key, 1) for key in _calls(proto.graph.node)))
    try:
        whole = inline_local_functions(proto, convert_version=True)
    except failures as error:
        why = _ASSERTION.sub("", str(error))
        message = f"its local functions cannot be inlined: {why}"
        raise ModelError(message, hint=_hint(proto)) from error
    if whole.functions:
        left = ", ".join(function.name for function in whole.functions)
        raise ModelError(f"its local functions cannot be inlined: {left}", where="functions")
    return whole


def _of_one_opset(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with functions of its opset where their operators have the same form in both."""
    made, wanted = proto, _opset(proto)
    for at, function in enumerate(proto.functions):
        given = _opset(function)
        if given in ([], wanted) or not wanted:
            continue
        operators = {(name, where) for where, name, _ in _calls(function.node)}
        if all(_form(*each, given[0]) == _form(*each, wanted[0]) for each in operators):
            made = copy.deepcopy(proto) if made is proto else made
            for entry in made.functions[at].opset_import:
                if entry.domain in ONNX_DOMAINS:
                    entry.version = wanted[0]
    return made


def _form(op_type: str, domain: str, opset: int) -> int:
    """The first opset that has an operator of ONNX in its form; 0 of another domain."""
    if domain not in ONNX_DOMAINS or not onnx.defs.has(op_type, opset, ""):
        return 0
    return int(onnx.defs.get_schema(op_type, opset, "").since_version)


def _hint(proto: onnx.ModelProto) -> str | None:
    """A way out where functions have other opsets than the model, which onnx has to convert."""
    others = {*map(tuple, map(_opset, proto.functions))} - {tuple(_opset(proto)), ()}
    if not others:
        return None
    opsets = ", ".join(str(version) for (version, *_) in sorted(others))
    return (
        f"They are of opset {opsets}, the model is of {_opset(proto)[0]}: "
        "exported anew with one opset for all there is nothing to convert"
    )


def is_kept(function: onnx.FunctionProto, model: onnx.ModelProto) -> bool:
    """Whether a function is of the kind that an export writes.

    It is of this package's domain, has no attributes, is of the model's opset, and its nodes are
    ONNX's own operators, without graphs inside.
    """
    attributes = [each for node in function.node for each in node.attribute]
    return (
        function.domain == OWN_DOMAIN
        and not (function.attribute or function.attribute_proto or function.overload)
        and _opset(function) == _opset(model)
        and all(node.domain in ONNX_DOMAINS for node in function.node)
        and not any(each.ref_attr_name or each.HasField("g") or each.graphs for each in attributes)
    )


def _opset(part: onnx.FunctionProto | onnx.ModelProto) -> list[int]:
    return [entry.version for entry in part.opset_import if entry.domain in ONNX_DOMAINS]


def _sizes(proto: onnx.ModelProto) -> dict[_Key, int]:
    """How many nodes a call of each function is, calls in it included."""
    calls = {_key(each): _calls(each.node) for each in proto.functions}
    sizes: dict[_Key, int] = {}
    for start, first in calls.items():
        stack = [(start, iter(first))]
        on_way = {start}
        while stack:
            name, rest = stack[-1]
            called = next((key for key in rest if key in calls and key not in sizes), None)
            if called is None:
                stack.pop()
                on_way.discard(name)
                sizes[name] = sum(sizes.get(key, 1) for key in calls[name])
            elif called in on_way:
                raise ModelError(
                    f"the function '{called[1]}' calls itself, directly or through others",
                    where="functions",
                    hint="ONNX functions are put in the place of their calls: they cannot recur",
                )
            else:
                stack.append((called, iter(calls[called])))
                on_way.add(called)
    return sizes


def _calls(nodes: Iterable[onnx.NodeProto]) -> list[_Key]:
    """The nodes, and the nodes of the graphs inside them."""
    return [(node.domain, node.op_type, node.overload) for node in nodes_in(nodes)]


def _key(function: onnx.FunctionProto) -> _Key:
    return function.domain, function.name, function.overload
