"""External data: tensors whose elements stand in files beside the model.

A model may come from anywhere: onnx reads a regular file in the model's own folder or below it, and
no other. Here elements are counted against the limits of `neat_onnx.limits`, and nothing is read
before its length is known to be that of the tensor.
"""

import math
from collections.abc import Iterator

import onnx
from onnx.external_data_helper import load_external_data_for_tensor

from neat_onnx.errors import ModelError
from neat_onnx.model.budget import Budget, LimitReached
from neat_onnx.model.crashes import graphs_of
from neat_onnx.model.data_type import supported

_MAX_DIGITS = 20  # of an offset or a length
_ONE_FILE = "Is it the right file? Save the model as one: onnx.save(onnx.load(path), path)"


def read_external_data(proto: onnx.ModelProto, folder: str) -> None:
    """Put the elements of external tensors into `proto`, in place.

    Args:
        proto: a model, as its file holds it.
        folder: the folder that holds the model's file.

    Raises:
        ModelError: a file stands outside `folder`, is not there or not a regular one, or does not
            hold the tensor's elements; says which tensor. LimitReached: there are too many of them.
    """
    budget = Budget()
    for tensor in _tensors_of(proto):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        where = f"initializer {tensor.name}" if tensor.name else "a constant of a node"
        try:
            _state_length(tensor, budget)
            load_external_data_for_tensor(tensor, folder)
        except LimitReached as error:
            error.where = where
            raise
        except (onnx.checker.ValidationError, OSError, RuntimeError, ValueError) as error:
            text = " ".join(str(error).split()).rstrip(".")
            raise ModelError(f"external data: {text}", where=where, hint=_ONE_FILE) from None


def _state_length(tensor: onnx.TensorProto, budget: Budget) -> None:
    """State how many bytes a tensor has, or check what it states.

    Raises:
        ValueError: its entries contradict each other. LimitReached: there are too many elements.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if len(entries) != len(tensor.external_data):
        raise ValueError("a key occurs twice")
    for key in ("offset", "length"):
        text = entries.get(key, "0")
        if not text.isdecimal() or len(text) > _MAX_DIGITS:
            raise ValueError(f"{key} is '{text[:_MAX_DIGITS]}', expected a whole number")
    kind = supported(tensor.data_type)
    if any(size < 0 for size in tensor.dims):
        raise ValueError(f"dims are {list(tensor.dims)}, expected sizes of 0 or more")
    count = math.prod(tensor.dims)
    budget.take("elements", count)
    length = str(count * kind.dtype.itemsize)
    if entries.setdefault("length", length) != length:
        text = f"{length} for {kind.name} {[*tensor.dims]}"
        raise ValueError(f"length is {entries['length']}, expected {text}")
    del tensor.external_data[:]
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def _tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor of a model that is read: initializers, and attributes of nodes."""
    bodies: list[onnx.GraphProto | onnx.FunctionProto] = [proto.graph, *proto.functions]
    while bodies:
        body = bodies.pop()
        if isinstance(body, onnx.GraphProto):
            yield from body.initializer
        for node in body.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                bodies.extend(graphs_of(attribute))
