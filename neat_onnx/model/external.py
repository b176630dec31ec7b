"""External data: tensors whose elements stand in files beside the model.

A model may come from anywhere, so a file is read only if it stands in the model's own folder or
below it, symbolic links resolved, and is a regular one. Nothing is read before its length is known
to be that of the tensor, and the elements count against the limits of `neat_onnx.limits`.
"""

import math
import os
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import onnx

from neat_onnx.errors import DocumentError, ModelError
from neat_onnx.files import read_part
from neat_onnx.model.budget import Budget, LimitReached
from neat_onnx.model.data_type import supported

_EXTERNAL = onnx.TensorProto.EXTERNAL
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
    for label, tensor in _tensors_of(proto):
        if tensor.data_location != _EXTERNAL:
            continue
        try:
            elements = _elements(tensor, folder, budget)
        except LimitReached as error:
            error.where = label
            raise
        except (DocumentError, ValueError) as error:
            text = error.message if isinstance(error, DocumentError) else str(error)
            raise ModelError(f"external data: {text}", where=label, hint=_ONE_FILE) from None
        tensor.ClearField("external_data")
        tensor.data_location = onnx.TensorProto.DEFAULT
        tensor.raw_data = elements


def _elements(tensor: onnx.TensorProto, folder: str, budget: Budget) -> bytes:
    """Read the elements of a tensor.

    Raises:
        ValueError: its entries contradict each other, or lead out of the folder.
        DocumentError: the file cannot be read.
        LimitReached: there are too many elements.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if len(entries) != len(tensor.external_data):
        raise ValueError("a key occurs twice")
    path = _path(entries.get("location", ""), folder)
    kind = supported(tensor.data_type)
    if any(size < 0 for size in tensor.dims):
        raise ValueError(f"dims are {list(tensor.dims)}, expected sizes of 0 or more")
    count = math.prod(tensor.dims)
    length = count * kind.dtype.itemsize
    stated = _number(entries, "length", length)
    if stated != length:
        raise ValueError(f"length is {stated}, expected {length} for {kind.name} {[*tensor.dims]}")
    budget.take("elements", count)
    return read_part(path, _number(entries, "offset", 0), length)


def _number(entries: dict[str, str], key: str, default: int) -> int:
    """The whole number of an entry; `default` where there is none."""
    if key not in entries:
        return default
    text = entries[key]
    if not (text.isascii() and text.isdecimal()) or len(text) > _MAX_DIGITS:
        raise ValueError(f"{key} is '{text[:_MAX_DIGITS]}', expected a whole number of 0 or more")
    return int(text)


def _path(location: str, folder: str) -> str:
    """The file at `location`, which is relative to the folder and does not lead out of it.

    Raises:
        ValueError: it does.
    """
    root, windows = os.path.realpath(folder), PureWindowsPath(location)
    inside = ".." not in windows.parts and not windows.anchor and location.isprintable()
    if not location or not inside or PurePosixPath(location).is_absolute():
        raise ValueError(f"location '{location}' is no path inside the model's folder")
    path = os.path.realpath(os.path.join(root, location))
    if os.path.commonpath([root, path]) != root:
        raise ValueError(f"location '{location}' is a link that leads out of the model's folder")
    return path


def _tensors_of(message: Any, label: str = "") -> Iterator[tuple[str, onnx.TensorProto]]:
    """Every tensor inside a message of protobuf, with its place as errors name it."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for each in [value] if hasattr(value, "ListFields") else value:
            if isinstance(each, onnx.TensorProto):
                yield label or f"initializer {each.name}", each
            elif isinstance(each, onnx.NodeProto):
                yield from _tensors_of(each, f"node {each.name} ({each.op_type})")
            elif isinstance(each, onnx.AttributeProto):
                yield from _tensors_of(each, f"{label}: {each.name}")
            elif isinstance(each, onnx.SparseTensorProto):
                yield from _tensors_of(each, label or f"initializer {each.values.name}")
            else:
                yield from _tensors_of(each)
