"""Metadata that is not the JSON it should be, left out."""

from neat_onnx.errors import DocumentError
from neat_onnx.files import parse_json
from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import some, tell
from neat_onnx.model import MetadataEntry, Model

SPECS, MISMATCH = "conv2d_specs", "conv2d_sharing_mismatch"
_JSON_KEYS = frozenset(
    (
        *("layer_sizes", "recurrent_single_step", "flatten_layers", "rnn_pattern_fallback"),
        *("conv2d_layers", SPECS, "conv2d_sharing_verified", MISMATCH),
        *("conv2d_inferred_layers", "conv2d_inferred_specs", "pool2d_layers", "pool2d_specs"),
        *("lstm_emitted_layers", "gru_emitted_layers", "lstm_groups_stub"),
    )
)


def with_json_metadata(model: Model) -> Model:
    """The model without those of NeatapticTS's entries that are not JSON, and each key once."""
    broken = [entry.key for entry in model.metadata_props if not _is_right(entry)]
    if broken:
        tell(f"metadata that is not JSON is left out: {some(broken)}")
    kept = {entry.key: entry for entry in reversed(model.metadata_props) if _is_right(entry)}
    if len(broken) + len(kept) < len(model.metadata_props):
        tell("metadata has keys that occur twice: the first entry of each is kept")
    entries = list(reversed(kept.values()))
    return model.model_copy(update={"metadata_props": entries})


def _is_right(entry: MetadataEntry) -> bool:
    if entry.key not in _JSON_KEYS:
        return True
    try:
        parse_json(entry.value)
    except DocumentError:
        return False
    return True
