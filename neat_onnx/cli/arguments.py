"""Flags of the command line: the times of a network, and the export options (from their fields)."""

import argparse
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from neat_onnx.cli.paths import STANDARD, of_file, source_of
from neat_onnx.errors import DocumentError, NeatOnnxError
from neat_onnx.files import parse_json, read_bytes
from neat_onnx.libraries.library import BEST
from neat_onnx.libraries.load import load_network, load_networks
from neat_onnx.libraries.registry import libraries
from neat_onnx.options import ExportOptions, export_options, options_in


def add_network_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags for facts about a network that its file does not hold."""
    group = parser.add_argument_group("reading a network")
    group.add_argument(
        "--library-version",
        dest="version",
        metavar="V",
        help="the neat-python of a genome or a pickled ctrnn that does not tell it, such as 1.0.0",
    )
    times = parser.add_argument_group("time, for ctrnn and iznn networks of neat-python")
    for flag, (kind, metavar, text) in _NETWORK_FLAGS.items():
        to = times if flag in _TIMES else group
        to.add_argument(flag, type=kind, metavar=metavar, help=text)


def _id(text: str) -> int | str:
    return text if text == BEST else int(text)


_TIMES = ("--time-step", "--advance-time")
_NETWORK_FLAGS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "--config": (
        str, "FILE",
        "the configuration of a genome of neat-python; of a .pkl too that is written for it",
    ),
    "--genome": (_id, "ID", "which network of a population; best: the fittest"),
    "--initial-gain": (
        float, "G",
        "of gated connections before the first step: 1 for a network of NeatapticTS restored "
        "without clear(). Default: 0.",
    ),
    "--inputs": (
        int, "N",
        "inputs of a genome of neat-python without --config, of a matrix of WANN, in TensorNEAT",
    ),
    "--outputs": (
        int, "N",
        "the same of outputs; and of a NeatapticTS network that states another number than it has "
        "output nodes (of `import`, their names)",
    ),
    "--cycles": (
        int, "N", "updates in a step of a cyclic genome of SharpNEAT 2, goNEAT or TensorNEAT",
    ),
    "--max-opcodes": (int, "N", "how many opcodes a pickle may have. Default: by its size."),
    "--time-step": (float, "T", "of the integration; needed"),
    "--advance-time": (
        float, "T", "what one step of the network advances it by. Default: the time step.",
    ),
}  # fmt: skip


def chosen_network(arguments: argparse.Namespace) -> dict[str, Any]:
    """The facts about a network that the command line gives, as `load_network` takes them.

    Raises:
        DocumentError: the configuration is on standard input, which is read already.
    """
    names = [flag.removeprefix("--").replace("-", "_") for flag in _NETWORK_FLAGS]
    chosen = {name: getattr(arguments, name) for name in (*names, "version")}
    if arguments.config == STANDARD:
        chosen["config"] = source_of(STANDARD)
    return chosen


def read(arguments: argparse.Namespace, load: Callable[..., Any] = load_network) -> Any:
    """Return what a function of `load_network`'s arguments makes of IN, or NETWORK.

    Raises:
        NeatOnnxError: as the function; errors about the content of the file name it.
    """
    path = arguments.file if "file" in arguments else arguments.network
    options = chosen_network(arguments)
    if load is load_networks:
        del options["genome"]
    with of_file(path, config=arguments.config):
        return load(source_of(path), **options)


def add_library_flag(parser: argparse.ArgumentParser) -> None:
    """Give `parser` the flag that says for which library a network is written."""
    names = [library.name for library in libraries() if library.writes]
    parser.add_argument(
        "--to",
        metavar="LIBRARY",
        help=f"the library whose file to write: {', '.join(names)}. Default: by OUT's ending, "
        "neat-python for .pkl, sharpneat for .net, goneat for .neat, neat-onnx for .json.",
    )
    parser.add_argument(
        "--no-source",
        dest="source",
        action="store_false",
        help="leave out of neat-onnx network JSON the model that the network was imported from, by "
        "which an export is this model again, or its graph with other weights",
    )


def add_option_flags(parser: argparse.ArgumentParser) -> None:
    """Give `parser` a flag for each export option, and --options for all of them in a file."""
    group = parser.add_argument_group("export options")
    group.add_argument(
        "--options", metavar="FILE", help="a JSON file of export options; flags win over it"
    )
    for name, field in ExportOptions.model_fields.items():
        _add_flag(group, name, field)


def chosen_options(arguments: argparse.Namespace) -> ExportOptions:
    """The options that the command line asks for.

    Raises:
        DocumentError: the options file cannot be read, or is not JSON.
        OptionError: an option is unknown or has a wrong value.
    """
    given = vars(arguments)
    flags = {name: given[name] for name in ExportOptions.model_fields if name in given}
    if "rename" in flags:
        flags["rename"] = dict(flags["rename"])
    if arguments.options is None:
        return export_options(**flags)
    with of_file(arguments.options, (NeatOnnxError,)):
        source = source_of(arguments.options)
        data = source if isinstance(source, bytes) else read_bytes(source)
        options = options_in(parse_json(data))
    return export_options(options, **flags)


def _add_flag(group: Any, name: str, field: FieldInfo) -> None:
    """A flag that is absent from the parsed arguments unless it is given."""
    kinds = get_args(field.annotation) or (field.annotation,)
    flag = "--" + name.replace("_", "-")
    text = f"{field.description} Default: {_shown(field.default)}.".replace("%", "%%")
    plain: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": text}
    if field.annotation is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, **plain)
    elif get_origin(field.annotation) is Literal:
        group.add_argument(flag, choices=kinds, **plain)
    elif get_origin(field.annotation) is list:
        group.add_argument(flag, type=_json_list, metavar="JSON", **plain)
    elif get_origin(field.annotation) is dict:
        group.add_argument(flag, type=_pair, metavar="OLD=NEW", action="append", **plain)
    elif int in kinds:
        group.add_argument(flag, type=int, metavar="N", **plain)
    else:
        kind = _true_false_none_or_text if bool in kinds else str
        group.add_argument(flag, type=kind, metavar="TEXT", **plain)


def _true_false_none_or_text(text: str) -> bool | str | None:
    return {"true": True, "false": False, "none": None}.get(text, text)


def _json_list(text: str) -> Any:
    try:
        return parse_json(text)
    except DocumentError as error:
        raise argparse.ArgumentTypeError(f"is not JSON: {error}") from error


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "none" if default in (None, "", [], {}) else str(default)


def add_import_flags(parser: argparse.ArgumentParser) -> None:
    """How a model is taken apart: --batch-axis, --outputs, --shape, --memory and --no-check."""
    add_batch_axis_flag(parser)
    parser.add_argument(
        "--outputs",
        metavar="NAMES",
        help="names of the outputs to import, or of tensors inside the graph, with commas between "
        "them; else all outputs that are neither constant nor random (where a network is read, "
        "--outputs is a number)",
    )
    parser.add_argument(
        "--shape",
        metavar="NAME=SIZES",
        action="append",
        type=_shape,
        help="the shape of an input that leaves more axes open than the batch, as audio=N,1,256; "
        "once for each such input",
    )
    add_memory_flag(parser)
    parser.add_argument(
        "--no-check",
        action="store_true",
        help="do not compare the network with the model on a few samples",
    )
    group = parser.add_argument_group("writing a .pkl for neat-python")
    group.add_argument(
        "--config", metavar="FILE", help="your own configuration, whose rates and options are kept"
    )
    group.add_argument(
        "--time-step", type=float, metavar="T", help="of the integration of a ctrnn. Default: 1."
    )


def _shape(text: str) -> tuple[str, list[int | str]]:
    """The name of an input, and its sizes: numbers, or names of axes that stay open."""
    name, equals, sizes = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=SIZES, as audio=N,1,256, got {text}")
    each = [size.strip() for size in sizes.split(",")]
    return name, [int(size) if size.isdecimal() else size for size in each]


def _pair(text: str) -> tuple[str, str]:
    """Two names."""
    first, equals, second = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected two names, as hx=hx_next, got {text}")
    return first, second


def add_memory_flag(parser: argparse.ArgumentParser) -> None:
    """Which output feeds which input: --memory."""
    parser.add_argument(
        "--memory",
        metavar="INPUT=OUTPUT",
        action="append",
        type=_pair,
        help="an output that feeds an input in the next step, as hx=hx_next, where their names do "
        "not tell; once for each such input",
    )


def chosen_memory(arguments: argparse.Namespace) -> dict[str, str] | None:
    """The value of `memory` that the flag gives."""
    return None if arguments.memory is None else dict(arguments.memory)


def add_batch_axis_flag(parser: argparse.ArgumentParser) -> None:
    """Which axis is the batch: --batch-axis."""
    parser.add_argument(
        "--batch-axis",
        choices=("auto", "none"),
        default="auto",
        help="auto: the axis of no fixed size is the batch, else the first; none: every axis is "
        "features",
    )


def chosen_batch_axis(arguments: argparse.Namespace) -> Literal["auto"] | None:
    """The value of `batch_axis` that the flag gives."""
    return None if arguments.batch_axis == "none" else "auto"


def chosen_import(arguments: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `import_model` that the flags give."""
    names = arguments.outputs
    return {
        "batch_axis": chosen_batch_axis(arguments),
        "outputs": None if names is None else [name.strip() for name in names.split(",")],
        "shapes": None if arguments.shape is None else dict(arguments.shape),
        "memory": chosen_memory(arguments),
        "check": not arguments.no_check,
    }
