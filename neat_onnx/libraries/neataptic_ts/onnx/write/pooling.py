"""Pools: nodes that the options put after a layer, and the Flatten after them."""

from neat_onnx.libraries.neataptic_ts.onnx.write.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.write.window import mapping_document, window_attributes
from neat_onnx.options.mappings import Pool2DMapping


def write_pool(draft: Draft, k: int, mapping: Pool2DMapping) -> None:
    """The pool after layer k."""
    draft.tensor = draft.node(
        mapping.type,
        [draft.tensor],
        f"Pool_{k}",
        f"pool_after_l{k}",
        **window_attributes(mapping),
    )
    if draft.options.flatten_after_pooling:
        draft.tensor = draft.node(
            "Flatten", [draft.tensor], f"PoolFlat_{k}", f"flatten_after_l{k}", axis=1
        )
        draft.metadata.append("flatten_layers", k)
    draft.metadata.append("pool2d_layers", k)
    draft.metadata.append("pool2d_specs", mapping_document(mapping))
