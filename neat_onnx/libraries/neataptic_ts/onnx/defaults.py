"""NeatapticTS's defaults for the export options, and the options that mean nothing to it."""

from typing import Any

from neat_onnx.errors import OptionError
from neat_onnx.options import ExportOptions

DEFAULTS: dict[str, Any] = {
    "include_metadata": False,
    "batch_dimension": False,
    "producer_name": "neataptic-ts",
    "allow_partial_connectivity": False,
    "allow_mixed_activations": False,
    "allow_recurrent": False,
    "recurrent_single_step": False,
}
"""The value of each of these options that is not given."""
IF_EMPTY = {
    "producer_version": "0.1.14",
    "doc_string": "Exported from NeatapticTS ONNX exporter (phases 1-2 baseline)",
}
"""The same, also for those that are given as an empty text or null."""
ONLY: dict[str, Any] = {
    "dtype": "float32",
    "mixed_activations": "per_neuron",
    "encoding": "numbers",
    "fold": False,
    "sequence": False,
    "state": "separate",
    "fused_recurrent": False,
    "infer_conv": False,
    "functions": False,
    "embed_network": False,
    "profile": "onnx",
}
"""The one value that each of these options may be given."""
_PLAIN = {"groups": 1, "dilation_height": 1, "dilation_width": 1}
_PLAIN_POOL = {"ceil_mode": False, "count_include_pad": False}


def with_defaults(options: ExportOptions) -> ExportOptions:
    """Return the options with NeatapticTS's defaults for those that were not given.

    Raises:
        OptionError: an option was given that means nothing to NeatapticTS.
    """
    for name, only in ONLY.items():
        if name in options.model_fields_set and getattr(options, name) != only:
            raise _meaningless(name, getattr(options, name))
    if options.batch_dimension not in (True, False, "N"):
        raise _meaningless("batch_dimension", options.batch_dimension)
    _check_mappings(options)
    update = {
        name: default for name, default in DEFAULTS.items() if name not in options.model_fields_set
    }
    update |= {name: text for name, text in IF_EMPTY.items() if not getattr(options, name)}
    return options.model_copy(update=update)


def _check_mappings(options: ExportOptions) -> None:
    plain = {"conv2d_mappings": _PLAIN, "pool2d_mappings": _PLAIN | _PLAIN_POOL}
    for option, expected in plain.items():
        for position, mapping in enumerate(getattr(options, option)):
            for name, value in expected.items():
                found = getattr(mapping, name, value)
                if found != value:
                    raise _meaningless(f"{option}[{position}].{name}", found)


def _meaningless(name: str, value: Any) -> OptionError:
    return OptionError(
        f"{name} cannot be {value!r} in the neataptic dialect",
        where=name,
        hint="Leave it out, or export in the standard dialect",
    )
