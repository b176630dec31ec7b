"""Tensor: a named array of numbers, as an initializer or as an attribute.

Files of version 0.1 may hold a tensor of mostly zeros as the values that are not zero. It is read,
and not written any more:

    {"name": "W0", "data_type": 1, "dims": [2, 3],
     "sparse": {"coordinates": [[0, 2], [1, 0]], "values": [0.5, -0.25]}}
"""

import base64
import binascii
import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializationInfo,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from neat_onnx.errors import ModelError
from neat_onnx.model.budget import Budget
from neat_onnx.model.data_type import Count, DataType, as_text, check_finite, number_list, supported
from neat_onnx.parsing import Plain

Array = NDArray[Any]

DATA_FIELDS = dict.fromkeys(DataType, "int32_data") | {
    DataType.FLOAT: "float_data",
    DataType.DOUBLE: "double_data",
    DataType.INT64: "int64_data",
    DataType.UINT32: "uint64_data",
    DataType.UINT64: "uint64_data",
}
"""The key of JSON ONNX that holds the numbers of each type as a list."""
_FIELDS = ("raw_data", "sparse", *dict.fromkeys(DATA_FIELDS.values()))
_EMPTY: tuple[Any, ...] = ([], "", b"")
_INSIDE = (0, "DEFAULT")  # data_location, unless the data is in another file


class Tensor(BaseModel, metaclass=Plain):
    """An array of numbers with ONNX's element type.

    `values` is read-only and has the shape `dims`. The floating types are float64 in memory, the
    integers int64 (UINT64: uint64), BOOL bool: a FLOAT keeps every bit of a double until it is
    written to bytes.
    An infinity, as masks of attention have it, is the text "Infinity" or "-Infinity" in JSON, and
    NaN is "NaN".
    In JSON the numbers are float_data, double_data, int64_data, uint64_data
    (UINT32, UINT64) or int32_data (the others; FLOAT16 as its bits) in C order, or raw_data
    (standard base64 of the little-endian ONNX elements).

    Two tensors are equal if they are bit for bit: -0.0 is not 0.0.
    """

    model_config = ConfigDict(
        defer_build=True, arbitrary_types_allowed=True, frozen=True, extra="forbid"
    )

    name: str = ""
    data_type: Annotated[DataType, BeforeValidator(supported)]
    dims: tuple[Count, ...] = ()
    values: SkipJsonSchema[Array]

    @classmethod
    def of(
        cls,
        name: str,
        values: ArrayLike,
        data_type: DataType = DataType.FLOAT,
        *,
        infinite: bool = False,
    ) -> "Tensor":
        """A tensor of `values`, of their shape.

        Args:
            name: how it is called.
            values: numbers; infinities with `infinite` only.
            data_type: ONNX's type of an element.
            infinite: infinities are allowed, as masks of attention have them.

        Raises:
            ModelError: `values` are not finite, or not of a kind that `data_type` holds.
        """
        array = np.asarray(values)
        try:
            checked = _in_memory(array, data_type)
            if checked.dtype == np.float64:
                check_finite(checked, DATA_FIELDS[data_type], infinite=infinite)
        except ValueError as error:
            raise ModelError(f"tensor {name}: {error}") from None
        return cls.model_construct(
            name=name, data_type=data_type, dims=tuple(array.shape), values=checked
        )

    @property
    def size(self) -> int:
        """The number of values."""
        return int(self.values.size)

    def to_bytes(self) -> bytes:
        """The values as little-endian ONNX elements: raw_data. FLOAT rounds to float32 here.

        Raises:
            ModelError: a value is too large for float32.
        """
        return self._elements().tobytes()

    def _elements(self) -> Array:
        kind = self.data_type
        with np.errstate(over="ignore"):  # looked for in the next lines
            elements = self.values.astype(kind.dtype.newbyteorder("<"))
        fine = np.isfinite(elements) if elements.dtype.kind == "f" else np.ones(1, np.bool_)
        if not fine.all() and not (fine := fine | ~np.isfinite(self.values)).all():
            at = int(np.argmin(fine.ravel()))
            raise ModelError(
                f"tensor {self.name}: value {at} is {float(self.values.ravel()[at])!r}, "
                f"too large for {'float16' if kind is DataType.FLOAT16 else 'float32'}",
                hint="Export with dtype=float64",
            )
        return elements

    @model_validator(mode="before")
    @classmethod
    def _one_field(cls, document: Any) -> Any:
        """Moves whichever data field is given to `values`, as (field, content)."""
        if not isinstance(document, dict) or isinstance(document.get("values"), np.ndarray):
            return document
        if "values" in document:
            raise ValueError("values is not a known key")
        document = dict(document)
        if document.pop("data_location", 0) not in _INSIDE or document.get("external_data"):
            raise PydanticCustomError(
                "external_data",
                "external data is not supported but of a binary model that is given by its path",
                {"hint": "Save the model as one file: onnx.save(onnx.load(path), path)"},
            )
        given = {name: document[name] for name in _FIELDS if document.get(name, []) not in _EMPTY}
        if len(given) > 1:
            raise ValueError(f"has both {' and '.join(given)}")
        rest = {key: value for key, value in document.items() if key not in _FIELDS}
        return {**rest, "values": next(iter(given.items()), ("", []))}

    @field_validator("values", mode="before")
    @classmethod
    def _checked(cls, given: Any, info: ValidationInfo) -> Array:
        if not {"data_type", "dims"} <= info.data.keys():
            return np.empty(0)  # one of the two has been refused already
        data_type: DataType = info.data["data_type"]
        dims: tuple[int, ...] = info.data["dims"]
        if isinstance(given, np.ndarray):
            if given.shape != dims:
                raise ValueError(f"dims {list(dims)} do not fit values of {list(given.shape)}")
            return _in_memory(given, data_type)
        field, content = given
        if field == "sparse":
            budget = (info.context or {}).get("budget") or Budget()
            array = _from_sparse(content, data_type, dims, budget)
        elif field == "raw_data":
            array = _from_raw(content, data_type, math.prod(dims))
        else:
            field = field or DATA_FIELDS[data_type]
            array = _from_list(content, field, data_type)
        if array.size != math.prod(dims):
            raise ValueError(
                f"dims {list(dims)} need {math.prod(dims)} values, {field} has {array.size}"
            )
        return _in_memory(array.reshape(dims), data_type)

    @model_serializer
    def _document(self, info: SerializationInfo) -> dict[str, Any]:
        """The JSON form.

        With context {"encoding": "raw"} the numbers are raw_data; with {"arrays": True} they stay
        an array, for `json_text` to write (pydantic would look at each of a list's numbers).
        """
        context = info.context or {}
        head = {"name": self.name, "data_type": int(self.data_type), "dims": list(self.dims)}
        if not self.name:
            del head["name"]
        if context.get("encoding") == "raw":
            return {**head, "raw_data": base64.b64encode(self.to_bytes()).decode()}
        numbers = self.values.ravel()
        if self.data_type is DataType.BOOL:
            numbers = numbers.astype(np.int64)
        elif self.data_type is DataType.FLOAT16:
            numbers = self._elements().ravel().view(np.uint16).astype(np.int64)
        content: Any = numbers if context.get("arrays") else numbers.tolist()
        if numbers.dtype == np.float64 and not np.isfinite(numbers).all():
            content = [as_text(number) for number in numbers.tolist()]
        return {**head, DATA_FIELDS[self.data_type]: content}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return (
            (self.name, self.data_type, self.dims) == (other.name, other.data_type, other.dims)
        ) and self.values.tobytes() == other.values.tobytes()

    __hash__ = None  # type: ignore[assignment]


def _memory_of(data_type: DataType) -> type[np.generic]:
    """How `values` holds numbers: no wider type loses any."""
    wide = {"f": np.float64, "b": np.bool_}.get(data_type.dtype.kind, np.int64)
    return np.uint64 if data_type is DataType.UINT64 else wide


def _in_memory(array: Array, data_type: DataType) -> Array:
    """`array` as `values` holds it: of the memory type, contiguous, of numbers, read-only."""
    memory = _memory_of(data_type)
    fits = array.dtype == memory or np.can_cast(array.dtype, memory, casting="same_kind")
    if not fits or array.dtype == object:
        raise ValueError(f"{array.dtype} values do not go with {data_type.name}")
    held = np.ascontiguousarray(array, dtype=memory).reshape(array.shape).view()
    if held.dtype == np.float64 and np.isnan(held).any():
        held = np.where(np.isnan(held), np.nan, held)  # all NaN are one, as in JSON
    if held.dtype == np.int64 and held.size:
        limits = np.iinfo(data_type.dtype)
        if held.min() < limits.min or held.max() > limits.max:
            raise ValueError(f"a value does not fit in {data_type.name}")
    held.flags.writeable = False
    return held


def _from_raw(content: Any, data_type: DataType, count: int) -> Array:
    if isinstance(content, str):
        try:
            content = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("raw_data is not base64") from None
    if not isinstance(content, bytes):
        raise ValueError("raw_data is not base64")
    length = count * data_type.dtype.itemsize
    if len(content) != length:
        raise ValueError(f"raw_data has {len(content)} bytes, expected {length}")
    element = "u1" if data_type is DataType.BOOL else data_type.dtype.newbyteorder("<")
    with np.errstate(invalid="ignore"):  # some of the numbers that are none signal it
        return np.frombuffer(content, element).astype(_memory_of(data_type))


def _from_list(content: Any, field: str, data_type: DataType) -> Array:
    if field != DATA_FIELDS[data_type]:
        raise ValueError(f"data_type {data_type.name} does not go with {field}")
    if data_type is not DataType.FLOAT16:
        return number_list(content, field, _memory_of(data_type), infinite=True)
    bits = number_list(content, field, np.int64)
    if bits.size and (bits.min() < 0 or bits.max() >= 1 << 16):
        raise ValueError(f"{field} has a number that is not the 16 bits of a FLOAT16")
    return bits.astype("<u2").view("<f2").astype(np.float64)


def _from_sparse(content: Any, data_type: DataType, dims: tuple[int, ...], budget: Budget) -> Array:
    """The numbers that the JSON value `content` describes.

    Raises:
        ValueError: it is not as the module's text says. LimitReached: there are too many. Nothing
            of the size of `dims` has been allocated then.
    """
    if data_type.dtype.kind != "f":
        raise ValueError(f"data_type {data_type.name} does not go with sparse")
    if not isinstance(content, dict) or set(content) != {"coordinates", "values"}:
        raise ValueError("sparse is not an object of coordinates and values")
    values = number_list(content["values"], "sparse.values", np.float64)
    budget.take("elements", math.prod(dims))
    dense = np.zeros(dims)
    try:
        places = np.array(content["coordinates"] or np.empty((0, len(dims)), np.int64))
        flat = np.ravel_multi_index(tuple(places.reshape(-1, len(dims)).T), dims)
    except (TypeError, ValueError):  # TypeError: of what is no integer of 64 bits
        raise ValueError(f"sparse.coordinates are not all positions in dims {list(dims)}") from None
    if np.unique(flat).size < len(flat) or len(flat) != len(values):
        raise ValueError(f"sparse has {len(values)} values for {len({*flat.tolist()})} positions")
    dense.ravel()[flat] = values
    return dense
