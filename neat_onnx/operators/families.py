"""All families: importing this module registers the functions of every operator."""

from neat_onnx.operators import (  # noqa: F401
    arithmetic,
    constants,
    control,
    elementwise,
    fused,
    layout,
    logic,
    matrices,
    ml,
    normalization,
    ordering,
    places,
    quantization,
    recurrent,
    reductions,
    resize,
    trees,
    windows,
)
