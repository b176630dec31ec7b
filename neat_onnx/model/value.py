"""ValueInfo: the name, element type and shape of a graph's input or output."""

from collections.abc import Sequence
from typing import Annotated, Any, Self, TypeGuard

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from neat_onnx.model.data_type import Count, DataType, supported
from neat_onnx.parsing import Plain

Extent = int | str | None
"""One entry of a shape: a size, the name of a size that varies (as "N"), or unknown."""


def is_fixed(shape: tuple[Extent, ...] | None) -> TypeGuard[tuple[int, ...]]:
    """Whether every entry of a shape is a size; False where not even the rank is known."""
    return shape is not None and all(isinstance(size, int) for size in shape)


KINDS = {
    "sequence_type": "a sequence", "map_type": "a map", "optional_type": "optional",
    "sparse_tensor_type": "sparse",
}  # fmt: skip
"""By ONNX's names, the types of values that are no tensors."""

_ADVICE = ": exported by PyTorch with dynamo=False, the model may have none"

MAX_AXES = 64
"""The most axes of a tensor: as many as an array of numpy may have."""


class _Record(BaseModel, metaclass=Plain):
    """A frozen JSON object without the fields that are None."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    @model_serializer(mode="wrap")
    def _without_none(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Dim(_Record):
    """One dimension: a size, a symbol, or neither if it is unknown."""

    dim_value: Count | None = None
    dim_param: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.dim_value is not None and self.dim_param is not None:
            raise ValueError("has both dim_value and dim_param")
        return self


class Shape(_Record):
    """The dimensions of a tensor, outermost first."""

    dim: list[Dim] = []


class TensorType(_Record):
    """The element type and the shape; without a shape not even the rank is known."""

    elem_type: Annotated[
        DataType,
        BeforeValidator(supported),
        WithJsonSchema({"enum": [int(kind) for kind in DataType]}),
    ]
    shape: Shape | None = None


class ValueType(_Record):
    """The type of a value: a tensor."""

    tensor_type: TensorType

    @model_validator(mode="before")
    @classmethod
    def _without_others(cls, document: Any) -> Any:
        for key in document if isinstance(document, dict) else ():
            if key in KINDS:
                advice = _ADVICE if key == "sequence_type" else ""
                raise ValueError(f"is {KINDS[key]}, and only tensors of numbers are read{advice}")
        return document


class ValueInfo(_Record):
    """A graph's input or output: its name and its type."""

    name: str = Field(min_length=1)
    type: ValueType

    @classmethod
    def of(
        cls, name: str, elem_type: DataType = DataType.FLOAT, shape: Sequence[Extent] | None = None
    ) -> "ValueInfo":
        """The value `name` of `shape`: sizes, symbols such as "N", or None where unknown."""
        tensor: dict[str, Any] = {"elem_type": elem_type}
        if shape is not None:
            keys = ("dim_param" if isinstance(size, str) else "dim_value" for size in shape)
            tensor["shape"] = {"dim": [{key: size} for key, size in zip(keys, shape, strict=True)]}
        return cls.model_validate({"name": name, "type": {"tensor_type": tensor}})

    @property
    def elem_type(self) -> DataType:
        """The type of its numbers."""
        return self.type.tensor_type.elem_type

    @property
    def shape(self) -> tuple[Extent, ...] | None:
        """Sizes, symbols and unknowns; None if not even the rank is known."""
        shape = self.type.tensor_type.shape
        if shape is None:
            return None
        return tuple(
            size.dim_param if size.dim_value is None else size.dim_value for size in shape.dim
        )
