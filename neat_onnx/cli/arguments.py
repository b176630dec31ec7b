"""What the parsed arguments say, as the functions of the package take it."""

import argparse
import dataclasses
import os
from collections.abc import Callable
from typing import Any

from neat_onnx.cli.paths import STANDARD, of_file, source_of
from neat_onnx.errors import NeatOnnxError
from neat_onnx.files import parse_json, read_bytes, sniff
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.load import load_network, load_networks, refuse_unused
from neat_onnx.model import Model, load_model
from neat_onnx.model.model import is_model
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions, export_options, options_in


def chosen_network(arguments: argparse.Namespace) -> dict[str, Any]:
    """The facts about a network that its file does not hold, as `load_network` takes them.

    Raises:
        DocumentError: the configuration is on standard input, which is read already.
    """
    names = [field.name for field in dataclasses.fields(ReadOptions)]
    chosen = {name: getattr(arguments, name) for name in names}
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


def load(arguments: argparse.Namespace, path: str) -> Network | Model:
    """Return the network or the model that a file holds, by its content.

    Raises:
        NeatOnnxError: it is neither, or an option of networks is given for a model.
    """
    options = chosen_network(arguments)
    with of_file(path, config=arguments.config):
        source = source_of(path)
        data = source if isinstance(source, bytes) else read_bytes(source)
        content = parse_json(data) if sniff(data) == "json" else data
        if not is_model(content, path):
            return load_network(content, **options)
        refuse_unused(ReadOptions(**options), frozenset())
        stands_in_a_folder = isinstance(source, str) and os.path.isfile(source)  # no pipe
        return load_model(source if content is data and stands_in_a_folder else content)


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


def chosen_ports(arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of `batch_axis` and `memory`."""
    return {
        "batch_axis": None if arguments.batch_axis == "none" else "auto",
        "memory": None if arguments.memory is None else dict(arguments.memory),
    }


def chosen_import(arguments: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `import_model`."""
    names = arguments.outputs
    return chosen_ports(arguments) | {
        "outputs": None if names is None else [name.strip() for name in names.split(",")],
        "shapes": None if arguments.shape is None else dict(arguments.shape),
        "check": not arguments.no_check,
    }
