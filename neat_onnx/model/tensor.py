"""Tensor: a named array of numbers, as an initializer or as an attribute.

In JSON, a tensor of mostly zeros may be the values that are not zero:

    {"name": "W0", "data_type": 1, "dims": [2, 3],
     "sparse": {"coordinates": [[0, 2], [1, 0]], "values": [0.5, -0.25]}}

It holds the facts of ONNX's SparseTensorProto (`coordinates` are its `indices` of shape [NNZ,
rank]), as an entry of `initializer` like any other. Coordinates are written in C order, and may be
read in any. -0.0 is a value: every other element is 0.0, so every bit comes back. A tensor is
written so where that is shorter than the list of all values, the zeros counted as "0.0, " and each
coordinate as the longest there is.
"""

import base64
import binascii
import math
from contextlib import suppress
from itertools import chain
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
from neat_onnx.model.data_type import Count, DataType, as_text, check_finite, number_list, supported
from neat_onnx.parsing import Plain

Array = NDArray[Any]

MAX_VALUES = 1 << 23
"""How many values the sparse tensors of one document may be, zeros included: 64 MiB of float64."""

_FRAME_CHARACTERS = 80  # of the keys, brackets and line breaks that only this form has


DATA_FIELDS = dict.fromkeys(DataType, "int32_data") | {
    DataType.FLOAT: "float_data",
    DataType.DOUBLE: "double_data",
    DataType.INT64: "int64_data",
    DataType.UINT32: "uint64_data",
    DataType.UINT64: "uint64_data",
}
"""The key of JSON ONNX that holds the numbers of each type as a list."""
LISTS = ("float_data", "double_data", "int64_data", "int32_data", "uint64_data")
"""The keys of JSON ONNX that hold numbers as lists."""
_FIELDS = ("raw_data", "sparse", *LISTS)
_HALVES = (DataType.FLOAT16, DataType.BFLOAT16)  # lists of their numbers are lists of their bits
_EMPTY: tuple[Any, ...] = ([], "", b"")
_INSIDE = (0, "DEFAULT")  # data_location, unless the data is in another file


SPARSE_TYPES = (DataType.FLOAT, DataType.DOUBLE)
"""The types that JSON may hold as `sparse`."""


class Room:
    """The part of `MAX_VALUES` that the sparse tensors of one document may still take."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def take(self, size: int) -> bool:
        """Take `size` values, if they are left."""
        fits = size <= self.left
        self.left -= size if fits else 0
        return fits


class Tensor(BaseModel, metaclass=Plain):
    """An array of numbers with ONNX's element type.

    `values` is read-only and has the shape `dims`. The floating types are float64 in memory, the
    integers int64 (UINT64: uint64), BOOL bool: a FLOAT keeps every bit of a double until it is
    written to bytes.
    An infinity, as masks of attention have it, is the text "Infinity" or "-Infinity" in JSON, and
    NaN is "NaN".
    In JSON the numbers are float_data, double_data, int64_data, uint64_data
    (UINT32, UINT64) or int32_data (the others; FLOAT16 and BFLOAT16 as their bits) in C order, or
    raw_data (standard base64 of the little-endian ONNX elements), or, of FLOAT and DOUBLE,
    `sparse`: those that are not zero (see the module's text).

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
        return _to_bfloat16(elements) if kind is DataType.BFLOAT16 else elements

    @property
    def as_written(self) -> Array:
        """The values as a file has them: rounded to the type.

        Raises:
            ModelError: a value is too large for it.
        """
        return _from_raw(self.to_bytes(), self.data_type, self.size).reshape(self.dims)

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
            if data_type not in SPARSE_TYPES:
                raise ValueError(f"data_type {data_type.name} does not go with sparse")
            return _in_memory(from_sparse(content, dims, _room(info)), data_type)
        if field == "raw_data":
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

        With context {"encoding": "raw"} the numbers are raw_data; with {"encoding": "sparse"} they
        are sparse where that is shorter; with {"arrays": True} they stay arrays, for
        `json_text` to write (pydantic would look at each of a list's numbers).
        """
        context = info.context or {}
        head = {"name": self.name, "data_type": int(self.data_type), "dims": list(self.dims)}
        if not self.name:
            del head["name"]
        if context.get("encoding") == "raw":
            return {**head, "raw_data": base64.b64encode(self.to_bytes()).decode()}

        def as_json(numbers: Array) -> Any:
            return numbers if context.get("arrays") else numbers.tolist()

        infinite = self.values.dtype == np.float64 and not np.isfinite(self.values).all()
        sparse = context.get("encoding") == "sparse" and not infinite
        if sparse and self.data_type in SPARSE_TYPES:
            content = to_sparse(self.values, _room(info))
            if content is not None:
                return {**head, "sparse": {key: as_json(part) for key, part in content.items()}}
        numbers = self.values.ravel()
        if infinite and self.data_type not in _HALVES:
            return {
                **head,
                DATA_FIELDS[self.data_type]: [as_text(number) for number in numbers.tolist()],
            }
        if self.data_type is DataType.BOOL:
            numbers = numbers.astype(np.int64)
        elif self.data_type in _HALVES:
            numbers = self._elements().ravel().view(np.uint16).astype(np.int64)
        return {**head, DATA_FIELDS[self.data_type]: as_json(numbers)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return (
            (self.name, self.data_type, self.dims) == (other.name, other.data_type, other.dims)
        ) and self.values.tobytes() == other.values.tobytes()

    __hash__ = None  # type: ignore[assignment]


def _room(info: ValidationInfo | SerializationInfo) -> Room:
    """The room for sparse tensors in the document that this tensor is part of, if any."""
    room = (info.context or {}).get("room")
    return room if isinstance(room, Room) else Room()


def _memory_of(data_type: DataType) -> type[np.generic]:
    """How `values` holds numbers: no wider type loses any."""
    wide = {"f": np.float64, "b": np.bool_}.get(data_type.dtype.kind, np.int64)
    return np.uint64 if data_type is DataType.UINT64 else wide


def _in_memory(array: Array, data_type: DataType) -> Array:
    """`array` as `values` holds it: of the memory type, contiguous, of numbers, read-only."""
    memory = _memory_of(data_type)
    if not np.can_cast(array.dtype, memory, casting="same_kind") or array.dtype == object:
        raise ValueError(f"{array.dtype} values do not go with {data_type.name}")
    held = np.ascontiguousarray(array, dtype=memory).reshape(array.shape).view()
    if held.dtype == np.float64 and np.isnan(held).any():
        held = np.where(np.isnan(held), np.nan, held)  # all NaN are one, as in JSON
    if held.dtype == np.int64 and held.size:
        least, most = data_type.limits
        if held.min() < least or held.max() > most:
            raise ValueError(f"a value does not fit in {data_type.name}")
    held.flags.writeable = False
    return held


def _to_bfloat16(values: Array) -> Array:
    """The upper halves of float32 numbers, rounded to the nearest, ties to even."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(
        "<u2"
    )


def _from_bits(bits: Array, data_type: DataType) -> Array:
    """The numbers of FLOAT16 or BFLOAT16 elements, given as integers."""
    if data_type is DataType.FLOAT16:
        return bits.astype("<u2").view("<f2").astype(np.float64)
    return (bits.astype("<u4") << np.uint32(16)).view("<f4").astype(np.float64)


def _from_raw(content: Any, data_type: DataType, count: int) -> Array:
    if isinstance(content, str):
        try:
            content = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("raw_data is not base64") from None
    if not isinstance(content, bytes):
        raise ValueError("raw_data is not base64")
    length = count * data_type.bits // 8
    if len(content) != length:
        raise ValueError(f"raw_data has {len(content)} bytes, expected {length}")
    bits = np.dtype(np.uint16)  # of a BFLOAT16
    element = (bits if data_type is DataType.BFLOAT16 else data_type.dtype).newbyteorder("<")
    array = np.frombuffer(content, dtype="u1" if data_type is DataType.BOOL else element)
    if data_type is DataType.BFLOAT16:
        return _from_bits(array, data_type)
    with np.errstate(invalid="ignore"):  # some of the numbers that are none signal it
        return array.astype(_memory_of(data_type))


def _from_list(content: Any, field: str, data_type: DataType) -> Array:
    if field != DATA_FIELDS[data_type]:
        raise ValueError(f"data_type {data_type.name} does not go with {field}")
    if data_type not in _HALVES:
        return number_list(content, field, _memory_of(data_type), infinite=True)
    bits = number_list(content, field, np.int64)
    if bits.size and (bits.min() < 0 or bits.max() >= 1 << 16):
        raise ValueError(f"{field} has a number that is not the 16 bits of a {data_type.name}")
    return _from_bits(bits, data_type)


def to_sparse(values: Array, room: Room) -> dict[str, NDArray[Any]] | None:
    """The coordinates (n, rank) and values (n,) of the elements other than 0.0; None if not
    shorter.

    Args:
        values: contiguous, of any shape.
        room: is taken from; None is also returned if it does not suffice.
    """
    flat = values.ravel()
    at = np.flatnonzero(flat.view(np.int64))  # the bits: -0.0 has one
    longest = f"{[extent - 1 for extent in values.shape]}, "
    shorter = len("0.0, ") * (flat.size - at.size) > len(longest) * at.size + _FRAME_CHARACTERS
    if not shorter or not room.take(flat.size):
        return None
    coordinates = np.stack(np.unravel_index(at, values.shape), axis=1)
    return {"coordinates": coordinates, "values": flat[at]}


def from_sparse(content: Any, dims: tuple[int, ...], room: Room) -> Array:
    """The tensor of shape `dims` that the JSON value `content` describes.

    Raises:
        ValueError: it is not as the module's text says, or there is no room for it. Nothing of the
            size of `dims` has been allocated then.
    """
    if not isinstance(content, dict) or set(content) != {"coordinates", "values"}:
        raise ValueError("sparse is not an object of coordinates and values")
    values = number_list(content["values"], "sparse.values", np.float64)
    places = content["coordinates"]
    if not isinstance(places, list) or not set(map(type, places)) <= {list}:
        raise ValueError("sparse.coordinates is not a list of lists")
    found = _places_within(places, dims)
    if len(places) != len(values):
        raise ValueError(f"sparse has {len(places)} coordinates, but {len(values)} values")
    if not room.take(math.prod(dims)):
        raise ValueError(
            f"dims {list(dims)} are too large: the sparse tensors of a file may have "
            f"{MAX_VALUES} values, zeros included"
        )
    dense = np.zeros(dims)
    strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    flat = found @ np.array(strides, np.int64)
    distinct, first, times = np.unique(flat, return_index=True, return_counts=True)
    if len(distinct) < len(flat):
        raise ValueError(f"sparse.coordinates has {places[first[np.argmax(times > 1)]]} twice")
    dense.ravel()[flat] = values
    return dense


def _places_within(places: list[list[Any]], dims: tuple[int, ...]) -> NDArray[np.int64]:
    """The coordinates (n, rank). Good ones cost no Python per number."""
    if {*map(len, places)} <= {len(dims)} and {*map(type, chain.from_iterable(places))} <= {int}:
        with suppress(OverflowError):
            found = np.array(places, np.int64).reshape(len(places), len(dims))
            if np.all((found >= 0) & (found < dims)):
                return found
    at = next(at for at, place in enumerate(places) if not _is_within(place, dims))
    raise ValueError(f"sparse.coordinates[{at}] is no position in dims {list(dims)}")


def _is_within(place: list[Any], dims: tuple[int, ...]) -> bool:
    return len(place) == len(dims) and all(
        type(at) is int and 0 <= at < extent for at, extent in zip(place, dims, strict=True)
    )
