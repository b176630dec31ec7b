"""The commands with their arguments, as a table; flags of libraries and options in `arguments`."""

import argparse
import difflib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, get_args

from neat_onnx.cli import commands, epilogs
from neat_onnx.cli.arguments import (
    add_batch_axis_flag,
    add_import_flags,
    add_library_flag,
    add_memory_flag,
    add_network_flags,
    add_option_flags,
)
from neat_onnx.cli.many import add_many_flags
from neat_onnx.cli.plugins import FLAG
from neat_onnx.codegen.generate import NAME, SUFFIXES, CodeLanguage
from neat_onnx.errors import OptionError
from neat_onnx.model.model import Encoding
from neat_onnx.model.spelling import Spelling
from neat_onnx.model.validate import Profile
from neat_onnx.runtimes import RUNTIMES
from neat_onnx.schemas import SCHEMAS
from neat_onnx.version import __version__

_STYLE: dict[str, Any] = {
    "formatter_class": argparse.RawDescriptionHelpFormatter,
    "allow_abbrev": False,
}

Part = Callable[[argparse.ArgumentParser], Any]


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    Attributes:
        run: takes the parsed arguments, prints, and returns the exit code; its name is that of the
            command, its docstring the line of help.
        parts: each adds arguments to its parser, in the order of the help.
        epilog: the end of its help.
        usage: the line of usage before the positional arguments; argparse's if it is empty.
    """

    run: Callable[[argparse.Namespace], int]
    parts: tuple[Part, ...]
    epilog: str | None = None
    usage: str = ""

    @property
    def name(self) -> str:
        """The word that is typed."""
        return self.run.__name__.rstrip("_")

    def add_to(self, subparsers: Any, *, whole: bool) -> None:
        """Add the command's parser to the parsers of commands, with its arguments if `whole`."""
        text = inspect.getdoc(self.run) or self.name
        parser: argparse.ArgumentParser = subparsers.add_parser(
            self.name,
            help=text[0].lower() + text[1:].rstrip("."),
            description=text,
            epilog=self.epilog,
            **_STYLE,
        )
        if self.usage:
            parser.usage = f"{parser.prog} {self.usage}"
        parser.set_defaults(run=self.run)
        for add in (*self.parts, _JSON, _PLUGIN) if whole else ():
            add(parser)


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
        epilog=epilogs.ALL,
        **_STYLE,
    )
    whole.add_argument("--version", action="version", version=f"neat-onnx {__version__}")
    _PLUGIN(whole)
    subparsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_to(subparsers, whole=argv is None or command.name in argv)
    return whole


def plugins_in(argv: Sequence[str] | None) -> list[str]:
    """Return the plugins that arguments name, before or behind the command."""
    first = _Parser(prog="neat-onnx", add_help=False, allow_abbrev=False)
    _PLUGIN(first)
    known, _ = argparse.ArgumentParser.parse_known_args(first, argv)
    return getattr(known, "plugin", [])


def _argument(*names: str, **settings: Any) -> Part:
    """An argument, as `add_argument` takes it."""
    return lambda parser: parser.add_argument(*names, **settings)


def _verify(text: str) -> Part:
    return _argument("--verify", action="store_true", help=text)


def _runtime(text: str, **settings: Any) -> Part:
    return _argument("--runtime", choices=RUNTIMES, help=text, **settings)


_PLUGIN = _argument(
    FLAG,
    action="append",
    default=argparse.SUPPRESS,
    metavar="MODULE",
    help="a Python module or .py file to import first, which registers activations, aggregations, "
    "operators or libraries; may be given several times",
)
_FILE = _argument("file", metavar="FILE")
_NETWORK_IN = _argument(
    "file", metavar="IN", help="a network; or a checkpoint or a folder of many, with a folder OUT"
)
_NETWORK_OUT = _argument(
    "out",
    metavar="OUT",
    help="the network to write, replaced if it exists; beside a .pkl stands its configuration, an "
    ".ini of the same name, which never replaces another one",
)
_MODEL_IN = _argument(
    "file",
    metavar="IN",
    help="a model: .onnx (external data in its own folder is read) or JSON ONNX",
)
_MODEL_OUT = _argument("out", metavar="OUT", help="what to write: .onnx or .json")
_NETWORK = _argument("network", metavar="NETWORK")
_MODEL = _argument("model", metavar="MODEL")
_SAMPLES = _argument("--samples", type=int, default=256, metavar="N", help="default: 256")
_SEED = _argument("--seed", type=int, default=0, metavar="N", help="default: 0")
_JSON = _argument("--json", action="store_true", help="print the result as JSON")
_ENCODING = _argument(
    "--encoding", choices=get_args(Encoding), help="how JSON holds tensors. Default: numbers."
)
_SPELLING = _argument(
    "--spelling",
    choices=get_args(Spelling),
    default="neat_onnx",
    help="the names in JSON: neat_onnx has those that NeatapticTS reads, protobuf is ONNX's "
    "own JSON, which onnx.load_model and Netron read. Default: neat_onnx.",
)
_COMMANDS = (
    Command(
        commands.export,
        (
            _NETWORK_IN,
            _MODEL_OUT,
            _verify("compare both on sampled inputs, and write OUT only if they are equal"),
            _argument(
                "--certify",
                action="store_true",
                help="verify, and keep the certificate in OUT's metadata",
            ),
            _SPELLING,
            add_network_flags,
            add_many_flags,
            add_option_flags,
        ),
        epilogs.EXPORT,
        "[-h] [--verify] [--certify] [--spelling NAME] [--json] [--jobs N] [--again] "
        "[reading options] [export options] IN OUT",
    ),
    Command(
        commands.import_,
        (_MODEL_IN, _NETWORK_OUT, add_library_flag, add_import_flags),
    ),
    Command(
        commands.translate,
        (_NETWORK_IN, _NETWORK_OUT, add_library_flag, add_network_flags, add_many_flags),
        epilogs.TRANSLATE,
    ),
    Command(
        commands.code,
        (
            _NETWORK_IN,
            _argument("out", metavar="OUT", help=f"what to write: {', '.join(SUFFIXES)}"),
            _argument(
                "--language",
                choices=get_args(CodeLanguage),
                help="instead of the one of OUT's ending",
            ),
            _argument(
                "--dtype",
                choices=("float64", "float32"),
                default="float64",
                help="float32: in C only",
            ),
            _argument(
                "--name", default=NAME, help="the beginning of C's names, or the name of C#'s class"
            ),
            add_network_flags,
        ),
        epilogs.CODE,
    ),
    Command(
        commands.draw,
        (
            _argument("file", metavar="IN", help="a network, or a population of them"),
            _argument("out", metavar="OUT", help="what to write: .svg or .html"),
            _argument(
                "--most",
                type=int,
                default=60,
                metavar="N",
                help="how many networks of a population, the best first. Default: 60.",
            ),
            add_network_flags,
        ),
    ),
    Command(
        commands.convert,
        (
            _argument("file", metavar="IN", help="a model: .onnx or JSON ONNX, NeatapticTS's too"),
            _MODEL_OUT,
            _verify(
                "import the result, compare on sampled inputs, and write OUT only if they are equal"
            ),
            _ENCODING,
            _SPELLING,
        ),
        epilogs.CONVERT,
    ),
    Command(
        commands.canonicalize,
        (_MODEL_IN, _MODEL_OUT, _ENCODING, _SPELLING),
        epilogs.CANONICALIZE,
    ),
    Command(
        commands.inspect,
        (_FILE, add_network_flags),
    ),
    Command(
        commands.validate,
        (
            _argument("files", metavar="FILE", nargs="+", help="models: .onnx or JSON ONNX"),
            _argument(
                "--profile",
                choices=get_args(Profile),
                help="the level to check: schema (it reads as a model), onnx (the official "
                "checker) or sonnx (how the graph hangs together); default: all three",
            ),
        ),
    ),
    Command(
        commands.verify,
        (
            _NETWORK,
            _MODEL,
            _SAMPLES,
            _SEED,
            _runtime(
                "what runs the model: a runtime, or code generated from it (c, javascript, python)",
                default="reference",
            ),
            add_batch_axis_flag,
            add_memory_flag,
            add_network_flags,
            add_many_flags,
        ),
    ),
    Command(
        commands.diff,
        (
            _argument("file", metavar="A", help="a network, or a model"),
            _argument("other", metavar="B", help="the same"),
            _SAMPLES,
            _SEED,
            add_network_flags,
        ),
    ),
    Command(
        commands.certify,
        (
            _NETWORK,
            _MODEL,
            _argument("out", metavar="OUT", help="the certificate to write: .json"),
            _SAMPLES,
            _SEED,
            _runtime(
                "a runtime that runs the model, once for each. Default: reference.",
                action="append",
            ),
            add_network_flags,
        ),
    ),
    Command(
        commands.replay,
        (
            _argument(
                "certificate",
                metavar="CERTIFICATE",
                help="a certificate, or a model that `export --certify` wrote",
            ),
            _NETWORK,
            _MODEL,
            add_network_flags,
        ),
    ),
    Command(
        commands.schema,
        (_argument("name", metavar="NAME", choices=[*SCHEMAS], help=", ".join(SCHEMAS)),),
    ),
)
