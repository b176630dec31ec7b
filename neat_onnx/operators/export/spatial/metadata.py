"""The metadata of spatial layers, under the keys that NeatapticTS has for it."""

import json
from collections.abc import Sequence
from typing import Any

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.registry import Claim
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.export.spatial.layers import pooled_level


def spatial_metadata(
    ctx: LoweringContext,
    claims: Sequence[Claim],
    found: Sequence[SpatialBlock],
    mismatched: Sequence[int],
) -> dict[str, str]:
    """The entries: the layers and their specifications where they have two axes.

    Args:
        claims: of all windows.
        found: the blocks that were found in the weights.
        mismatched: the layers that a mapping calls a convolution, and whose weights are none.
    """
    pairs = [(claim.block.level, claim.one_level) for claim in claims if claim.one_level]
    layers = sorted(pairs, key=lambda pair: pair[0])
    convolutions = [(level, block) for level, block in layers if block.kind == "Conv"]
    pools = [(pooled_level(ctx, block), block) for _, block in layers if block.is_pool]
    inferred = [(level, block) for level, block in convolutions if block in found]
    entries: dict[str, list[Any]] = {
        "conv2d_layers": [level for level, _ in convolutions],
        "conv2d_specs": [_conv_spec(*pair) for pair in convolutions if _is_plane(pair[1])],
        "conv2d_sharing_verified": [level for level, _ in convolutions],
        "conv2d_sharing_mismatch": sorted(mismatched),
        "conv2d_inferred_layers": [level for level, _ in inferred],
        "conv2d_inferred_specs": [_conv_spec(*pair) for pair in inferred],
        "pool2d_layers": [level for level, _ in pools],
        "pool2d_specs": [_pool_spec(*pair) for pair in pools if _is_plane(pair[1])],
        "flatten_layers": [level for level, block in pools if _is_flattened(ctx, block)],
    }
    return {key: json.dumps(value) for key, value in entries.items() if value}


def _is_plane(block: SpatialBlock) -> bool:
    return len(block.window.kernel) == 2


def _is_flattened(ctx: LoweringContext, block: SpatialBlock) -> bool:
    columns = ctx.places.columns[ctx.places.position[block.neurons.flat[0]]]
    return columns.shape is None or (columns.tensor, None) in ctx.places.shaped


def _conv_spec(level: int, block: SpatialBlock) -> dict[str, Any]:
    spec = {"layerIndex": level} | _sizes("in", block.sources.shape) | _window(block)
    spec |= _sizes("out", block.neurons.shape)
    if block.groups != 1:
        spec["groups"] = block.groups
    return spec


def _pool_spec(level: int, block: SpatialBlock) -> dict[str, Any]:
    kind = block.kind.removeprefix("Global")
    spec: dict[str, Any] = {"afterLayerIndex": level, "type": kind} | _window(block)
    if block.window.ceil:
        spec["ceilMode"] = True
    if block.count_padding:
        spec["countIncludePad"] = True
    return spec


def _sizes(side: str, shape: tuple[int, ...]) -> dict[str, int]:
    channels, height, width = shape
    return {f"{side}Height": height, f"{side}Width": width, f"{side}Channels": channels}


def _window(block: SpatialBlock) -> dict[str, int]:
    window = block.window
    keys = ("kernelHeight", "kernelWidth", "strideHeight", "strideWidth")
    spec = dict(zip(keys, (*window.kernel, *window.strides), strict=True))
    if any(window.pads):
        sides = ("padTop", "padLeft", "padBottom", "padRight")
        spec |= dict(zip(sides, window.pads, strict=True))
    if window.dilations != (1, 1):
        spec |= {"dilationHeight": window.dilations[0], "dilationWidth": window.dilations[1]}
    return spec
