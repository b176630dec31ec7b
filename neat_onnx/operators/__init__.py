"""The operators: importing a family registers its functions.

A newcomer who asks "where is Flatten?" looks for the family here; each file is one.
"""

from neat_onnx.operators import (  # noqa: F401
    arithmetic,
    constants,
    control,
    elementwise,
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
