"""The commands and their arguments: one table of each, and the parser that is made of them."""

import argparse
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, NoReturn, get_args, get_origin

from pydantic.fields import FieldInfo

from neat_onnx.cli import commands
from neat_onnx.codegen.generate import NAME, SUFFIXES, CodeLanguage
from neat_onnx.errors import DocumentError, OptionError
from neat_onnx.files import parse_json
from neat_onnx.libraries.library import BEST
from neat_onnx.libraries.registry import libraries
from neat_onnx.model.model import Encoding
from neat_onnx.model.spelling import Spelling
from neat_onnx.model.validate import Profile
from neat_onnx.options import ExportOptions
from neat_onnx.runtimes import RUNTIMES
from neat_onnx.schemas import SCHEMAS
from neat_onnx.version import __version__

_STYLE: dict[str, Any] = {
    "formatter_class": argparse.RawDescriptionHelpFormatter,
    "allow_abbrev": False,
}
Settings = Mapping[str, Any]
"""Keyword arguments of `add_argument`."""


def _genome(text: str) -> int | str:
    return text if text == BEST else int(text)


def _shape(text: str) -> tuple[str, list[int | str]]:
    """The name of an input, and its sizes: numbers, or names of axes that stay open."""
    name, equals, sizes = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=SIZES, as audio=N,1,256, got {text}")
    each = [size.strip() for size in sizes.split(",")]
    return name, [int(size) if size.isdecimal() else size for size in each]


def _pair(text: str) -> tuple[str, str]:
    first, equals, second = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected two names, as hx=hx_next, got {text}")
    return first, second


def _json_list(text: str) -> Any:
    try:
        return parse_json(text)
    except DocumentError as error:
        raise argparse.ArgumentTypeError(f"is not JSON: {error}") from error


def _true_false_none_or_text(text: str) -> bool | str | None:
    return {"true": True, "false": False, "none": None}.get(text, text)


def _flag(text: str, **settings: Any) -> Settings:
    return {"action": "store_true", "help": text, **settings}


def _value(metavar: str, text: str, kind: Callable[[str], Any] = str, **settings: Any) -> Settings:
    return {"metavar": metavar, "help": text, "type": kind, **settings}


def _choice(choices: Any, text: str, **settings: Any) -> Settings:
    return {"choices": choices, "help": text, **settings}


_DESTINATIONS = {"IN": "file", "A": "file", "B": "other"}  # of positional arguments
_WRITERS = ", ".join(library.name for library in libraries() if library.writes)
_FLAGS: dict[str, Settings] = {
    "--plugin": _value(
        "MODULE", "a Python module or .py file to import first, which registers activations, "
        "aggregations, operators or libraries; may be given several times",
        action="append", default=argparse.SUPPRESS),
    "--json": _flag("print the result as JSON"),
    "--verify": _flag("compare on sampled inputs, and write OUT only if they are equal"),
    "--spelling": _choice(
        get_args(Spelling), "the names in JSON: neat_onnx has those that NeatapticTS reads, "
        "protobuf is ONNX's own JSON, which onnx.load_model and Netron read. Default: neat_onnx.",
        default="neat_onnx"),
    "--encoding": _choice(get_args(Encoding), "how JSON holds tensors. Default: numbers."),
    "--language": _choice(get_args(CodeLanguage), "instead of the one of OUT's ending"),
    "--dtype": _choice(("float64", "float32"), "float32: in C only", default="float64"),
    "--name": _value("NAME", "the beginning of C's names, or the name of C#'s class", default=NAME),
    "--samples": _value("N", "default: 256", int, default=256),
    "--seed": _value("N", "default: 0", int, default=0),
    "--runtime": _choice(
        RUNTIMES,
        "what runs the model: a runtime, or code generated from it (c, javascript, python)",
        default="reference"),
    "--runtime of several": _choice(
        RUNTIMES, "a runtime that runs the model, once for each. Default: reference.",
        action="append"),
    "--profile": _choice(
        get_args(Profile), "the level to check: schema (it reads as a model), onnx (the official "
        "checker) or sonnx (how the graph hangs together); default: all three"),
    "--batch-axis": _choice(
        ("auto", "none"), "auto: the axis of no fixed size is the batch, else the first; none: "
        "every axis is features", default="auto"),
    "--memory": _value(
        "INPUT=OUTPUT", "an output that feeds an input in the next step, as hx=hx_next, where "
        "their names do not tell; once for each such input", _pair, action="append"),
    "--outputs of a model": _value(
        "NAMES", "names of the outputs to import, or of tensors inside the graph, with commas "
        "between them; else all outputs that are neither constant nor random (where a network is "
        "read, --outputs is a number)"),
    "--shape": _value(
        "NAME=SIZES", "the shape of an input that leaves more axes open than the batch, as "
        "audio=N,1,256; once for each such input", _shape, action="append"),
    "--no-check": _flag("do not compare the network with the model on a few samples"),
    "--to": _value(
        "LIBRARY", f"the library whose file to write: {_WRITERS}. Default: by OUT's ending, "
        "neat-python for .pkl, sharpneat for .net, neat-onnx for .json."),
    "--no-source": _flag(
        "leave out of neat-onnx network JSON the model that the network was imported from, by "
        "which an export is this model again, or its graph with other weights",
        dest="source", action="store_false"),
    "--config of a .pkl": _value(
        "FILE", "of a .pkl for neat-python: your configuration, whose rates and options are kept"),
    "--time-step of a .pkl": _value(
        "T", "of the integration of a ctrnn in a .pkl. Default: 1.", float),
}  # fmt: skip
"""Flags by name, with words behind it where commands have several of one name."""
_READ, _MANY = "reading a network", "many networks: IN is a checkpoint or a folder, OUT a folder"
_OPTIONS = "export options"
_GROUPS: dict[str, dict[str, Settings]] = {
    _READ: {
        "--library-version": _value(
            "V", "the neat-python of a genome or a pickled ctrnn that does not tell it, such as "
            "1.0.0", dest="version"),
        "--config": _value(
            "FILE", "the configuration of a genome of neat-python; of a .pkl too that is written "
            "for it"),
        "--genome": _value("ID", "which network of a population; best: the fittest", _genome),
        "--initial-gain": _value(
            "G", "of gated connections before the first step: 1 for a network of NeatapticTS "
            "restored without clear(). Default: 0.", float),
        "--inputs": _value(
            "N", "inputs of a genome of neat-python without --config, of a matrix of WANN, in "
            "TensorNEAT", int),
        "--outputs": _value(
            "N", "the same of outputs (of `import`, their names)", int),
        "--cycles": _value(
            "N", "updates in a step of a cyclic genome of SharpNEAT 2, goNEAT or TensorNEAT", int),
        "--max-opcodes": _value(
            "N", "how many opcodes a pickle may have. Default: by its size.", int),
        "--time-step": _value("T", "of the integration of a ctrnn or iznn network; needed", float),
        "--advance-time": _value(
            "T", "what one step of such a network advances it by. Default: the time step.", float),
    },
    _MANY: {
        "--jobs": _value("N", "how many processes. Default: one for each core.", int),
        "--again": _flag("write files that are there already once more"),
    },
}  # fmt: skip
_NETWORK = "a network; or a checkpoint or a folder of many, with a folder OUT"
_NETWORK_OUT = (
    "the network to write, replaced if it exists; beside a .pkl stands its configuration, an .ini "
    "of the same name, which never replaces another one"
)
_MODEL = "a model: .onnx (external data in its own folder is read) or JSON ONNX"
_MODEL_OUT = "what to write: .onnx or .json"

_EPILOG = """\
examples:
  neat-onnx export winner.json winner.onnx --verify
  neat-onnx export winner.json winner.onnx.json --dtype float64
  neat-onnx import winner.onnx back.json
  neat-onnx convert old.onnx.json new.onnx
  neat-onnx inspect winner.onnx
  neat-onnx validate winner.onnx other.onnx.json --profile onnx
  neat-onnx verify winner.json winner.onnx --runtime onnxruntime
  neat-onnx code winner.json winner.c
  neat-onnx certify winner.json winner.onnx certificate.json
  neat-onnx schema network > network.schema.json

- in place of a file is standard input, or JSON on standard output.

exit codes:
  0  done, or the check passed
  1  the check said no
  2  bad input or usage: one line on standard error says what, where, and what to do
  130, 143, 129  ended by SIGINT, SIGTERM or SIGHUP: no half-written file is left
"""
_EPILOGS = {
    "export": """\
A network is a file of a library (`neat_onnx.libraries()` lists them), a genome pickled by
neat-python (with --config), a checkpoint (with --genome), or neat-onnx network JSON.

examples:
  neat-onnx export winner.json winner.onnx --opset 17 --no-include-metadata
  neat-onnx export winner.pkl winner.onnx --config config-feedforward
  neat-onnx export neat-checkpoint-49 best.onnx --genome 1234
  neat-onnx export neat-checkpoint-49 models/ --verify
  neat-onnx export ctrnn.json ctrnn.onnx --time-step 0.01 --advance-time 0.1

A folder OUT gets a file for every genome of a checkpoint, named by its id, or for every network of
a folder. Files that are there stay, so that a run that was interrupted goes on.
""",
    "translate": """\
Both networks compute the same; what the other library cannot compute is refused, with the neurons
named. neat_onnx.libraries() lists the libraries.

examples:
  neat-onnx translate winner.pkl winner.json --config config-feedforward
  neat-onnx translate neat-checkpoint-49 genomes/ --to neataptic-ts
""",
    "code": """\
The head of the file shows how to call it. A network with memory has a state: reset it before a
sequence, then step.

examples:
  neat-onnx code winner.json winner.c --dtype float32 --name pilot && cc -c -O2 winner.c
  neat-onnx code winner.json - --language python
""",
}
"""The ends of the help: of all, and of the commands that have one."""


class Command(NamedTuple):
    """A command of the command line.

    Attributes:
        run: takes the parsed arguments, prints, and returns the exit code; its name is that of the
            command, its docstring the line of help.
        positional: the arguments by their names in the help, each with its help or its settings.
        flags: keys of the table of flags.
        groups: keys of the table of groups of flags.
    """

    run: Callable[[argparse.Namespace], int]
    positional: Mapping[str, str | Settings]
    flags: Sequence[str] = ()
    groups: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The word that is typed."""
        return self.run.__name__.rstrip("_")

    def add_to(self, subparsers: Any, *, whole: bool) -> None:
        """Add the command's parser to the parsers of commands, with its arguments if `whole`."""
        text = self.run.__doc__ or self.name
        parser: argparse.ArgumentParser = subparsers.add_parser(
            self.name,
            help=text[0].lower() + text[1:].rstrip("."),
            description=text,
            epilog=_EPILOGS.get(self.name),
            **_STYLE,
        )
        parser.set_defaults(run=self.run)
        if not whole:
            return
        for name, given in self.positional.items():
            settings = {"help": given} if isinstance(given, str) else given
            parser.add_argument(_DESTINATIONS.get(name, name.lower()), metavar=name, **settings)
        _add(parser, {flag: _FLAGS[flag] for flag in (*self.flags, "--json", "--plugin")})
        for title in self.groups:
            flags = _of_options() if title == _OPTIONS else _GROUPS[title]
            _add(parser.add_argument_group(title), flags)
        if _OPTIONS in self.groups:  # argparse's own takes a page
            shown = " ".join(f"[{flag}]" for flag in self.flags)
            parser.usage = f"{parser.prog} [-h] {shown} [flags below] {' '.join(self.positional)}"


def _add(to: Any, flags: Mapping[str, Settings]) -> None:
    for flag, settings in flags.items():
        to.add_argument(flag.partition(" ")[0], **settings)


def _of_options() -> dict[str, Settings]:
    """The flags of the export options, which are absent from the parsed arguments unless given."""
    flags = {"--options": _value("FILE", "a JSON file of export options; flags win over it")}
    for name, field in ExportOptions.model_fields.items():
        text = f"{field.description} Default: {_shown(field.default)}.".replace("%", "%%")
        plain = {"dest": name, "default": argparse.SUPPRESS, "help": text}
        flags["--" + name.replace("_", "-")] = plain | _settings_of(field)
    return flags


def _settings_of(field: FieldInfo) -> dict[str, Any]:
    kinds = get_args(field.annotation) or (field.annotation,)
    if field.annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(field.annotation) is Literal:
        return {"choices": kinds}
    if get_origin(field.annotation) is list:
        return {"type": _json_list, "metavar": "JSON"}
    if get_origin(field.annotation) is dict:
        return {"type": _pair, "metavar": "OLD=NEW", "action": "append"}
    if int in kinds:
        return {"type": int, "metavar": "N"}
    return {"type": _true_false_none_or_text if bool in kinds else str, "metavar": "TEXT"}


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "none" if default in (None, "", [], {}) else str(default)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours, and name the command whose help to read."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:  # by the command's own parser, which the whole one would not name
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is not None:  # argparse's own says nothing of a full output
            file.write(message)
            file.flush()

    def error(self, message: str) -> NoReturn:
        found = re.fullmatch(r"argument (\S+): (.*)", message, re.DOTALL)
        where, what = (found[1], found[2]) if found else (None, message)
        wrong = re.match("invalid choice: '(.*?)' ", what)
        known = re.findall(r"[\w-]+", what.partition("(choose from")[2])
        close = difflib.get_close_matches(wrong[1], known, 1) if wrong else []
        meant = [f"Did you mean {close[0]}?"] if close else []
        raise OptionError(what, where=where, hint=[*meant, f"See {self.prog} --help"])


def parser(argv: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line; its errors are OptionErrors.

    Args:
        argv: the arguments that it is for: only commands that stand among them get their own
            arguments, which takes as long as reading a network. None: all commands.
    """
    whole = _Parser(
        prog="neat-onnx",
        description="Evolved neural networks to ONNX and back, proven equal.",
        epilog=_EPILOG,
        **_STYLE,
    )
    whole.add_argument("--version", action="version", version=f"neat-onnx {__version__}")
    _add(whole, {"--plugin": _FLAGS["--plugin"]})
    subparsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_to(subparsers, whole=argv is None or command.name in argv)
    return whole


def plugins_in(argv: Sequence[str] | None) -> list[str]:
    """Return the plugins that arguments name, before or behind the command."""
    first = _Parser(prog="neat-onnx", add_help=False, allow_abbrev=False)
    _add(first, {"--plugin": _FLAGS["--plugin"]})
    known, _ = argparse.ArgumentParser.parse_known_args(first, argv)
    return getattr(known, "plugin", [])


_COMMANDS = (
    Command(commands.export, {"IN": _NETWORK, "OUT": _MODEL_OUT},
            ["--verify", "--spelling"], [_READ, _MANY, _OPTIONS]),
    Command(commands.import_, {"IN": _MODEL, "OUT": _NETWORK_OUT},
            ["--to", "--no-source", "--batch-axis", "--outputs of a model", "--shape", "--memory",
             "--no-check", "--config of a .pkl", "--time-step of a .pkl"]),
    Command(commands.translate, {"IN": _NETWORK, "OUT": _NETWORK_OUT},
            ["--to", "--no-source"], [_READ, _MANY]),
    Command(commands.code,
            {"IN": "a network", "OUT": f"what to write: {', '.join(SUFFIXES)}"},
            ["--language", "--dtype", "--name"], [_READ]),
    Command(commands.draw,
            {"IN": "a network, or a population: its 60 best", "OUT": "what to write: .svg"},
            [], [_READ]),
    Command(commands.convert,
            {"IN": "a model: .onnx or JSON ONNX, NeatapticTS's too", "OUT": _MODEL_OUT},
            ["--verify", "--encoding", "--spelling"]),
    Command(commands.canonicalize, {"IN": _MODEL, "OUT": _MODEL_OUT},
            ["--encoding", "--spelling"]),
    Command(commands.inspect, {"FILE": "a network or a model"}, [], [_READ]),
    Command(commands.validate,
            {"FILE": {"nargs": "+", "help": "models: .onnx or JSON ONNX"}}, ["--profile"]),
    Command(commands.verify,
            {"NETWORK": "a network, or many", "MODEL": "its model, or the folder of theirs"},
            ["--samples", "--seed", "--runtime", "--batch-axis", "--memory"], [_READ, _MANY]),
    Command(commands.diff, {"A": "a network, or a model", "B": "the same"},
            ["--samples", "--seed"], [_READ]),
    Command(commands.certify,
            {"NETWORK": "a network", "MODEL": "its model",
             "OUT": "the certificate to write: .json"},
            ["--samples", "--seed", "--runtime of several"], [_READ]),
    Command(commands.replay,
            {"CERTIFICATE": "a certificate", "NETWORK": "a network", "MODEL": "its model"},
            [], [_READ]),
    Command(commands.schema, {"NAME": {"choices": [*SCHEMAS], "help": ", ".join(SCHEMAS)}}),
)  # fmt: skip
