"""The command line: arguments in, exit code out. The commands themselves are in `commands`."""

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, get_args

from neat_onnx.cli import commands
from neat_onnx.cli.arguments import (
    add_import_flags,
    add_library_flag,
    add_network_flags,
    add_option_flags,
)
from neat_onnx.cli.paths import output_error
from neat_onnx.codegen.generate import CodeLanguage
from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, OptionError, printable
from neat_onnx.model.model import Encoding
from neat_onnx.model.spelling import Spelling
from neat_onnx.model.validate import Profile
from neat_onnx.verification.runtimes import RUNTIMES
from neat_onnx.version import __version__

_INTERRUPTED, _BROKEN_PIPE = 130, 141  # what a shell says of the signals
_EPILOG = """\
examples:
  neat-onnx export winner.json winner.onnx --verify
  neat-onnx export winner.json winner.onnx.json --dtype float64
  neat-onnx export winner.json netron.json --spelling protobuf
  neat-onnx import winner.onnx back.json
  neat-onnx convert old.onnx.json new.onnx
  neat-onnx canonicalize old.onnx simple.onnx
  neat-onnx inspect winner.onnx
  neat-onnx validate winner.onnx other.onnx.json --profile onnx
  neat-onnx verify winner.json winner.onnx --runtime onnxruntime
  neat-onnx code winner.json winner.c
  neat-onnx certify winner.json winner.onnx certificate.json
  neat-onnx replay certificate.json winner.json winner.onnx
  neat-onnx schema network > network.schema.json

- in place of a file is standard input, or JSON on standard output.

exit codes:
  0  done, or the check passed
  1  the check said no
  2  bad input or usage: one line on standard error says what, where, and what to do
"""
_EXPORT_EPILOG = """\
A network is a file of a library: JSON of NeatapticTS, neataptic or neat-python, a genome pickled by
neat-python (with --config) or a checkpoint (with --genome), or neat-onnx network JSON.
OUT ends in .onnx for binary ONNX or in .json for JSON ONNX.

examples:
  neat-onnx export winner.json winner.onnx --verify
  neat-onnx export winner.json winner.onnx --opset 17 --no-include-metadata
  neat-onnx export winner.json winner.onnx.json --options options.json
  neat-onnx export winner.pkl winner.onnx --config config-feedforward
  neat-onnx export neat-checkpoint-49 best.onnx --genome 1234
  neat-onnx export ctrnn.json ctrnn.onnx --time-step 0.01 --advance-time 0.1
"""
_TRANSLATE_EPILOG = """\
Both networks compute the same; what the other library cannot compute is refused, with the neurons
named. neat_onnx.libraries() lists the libraries.

examples:
  neat-onnx translate winner.json back.json --to neat-onnx
  neat-onnx translate winner.pkl winner.json --config config-feedforward
"""
_CONVERT_EPILOG = """\
NeatapticTS writes JSON ONNX that no runtime loads: outputs that no node produces, no batch axis,
nodes out of order, flat tensors into convolutions. Each repair is told on standard error. A model
that is valid already only changes its form: .onnx is binary, with float32 numbers rounded, .json
is JSON ONNX.

examples:
  neat-onnx convert old.onnx.json new.onnx
  neat-onnx convert old.onnx.json new.onnx.json --verify
  neat-onnx convert winner.onnx winner.onnx.json
"""
_CODE_EPILOG = """\
The head of the file shows how to call it. A network with memory has a state: reset it before a
sequence, then step.

examples:
  neat-onnx code winner.json winner.c && cc -c -O2 winner.c
  neat-onnx code winner.json winner.c --dtype float32 --name pilot
  neat-onnx code winner.json winner.js
  neat-onnx code winner.json - --language python
"""
_CANONICALIZE_EPILOG = """\
Constants become initializers, what depends on constants alone is computed, operators of older
opsets take the form of opset 18, constant branches and loops are unfolded, and nodes that do
nothing go. The result computes the same, and its inputs and outputs keep their names.

examples:
  neat-onnx canonicalize old.onnx simple.onnx
  neat-onnx canonicalize old.onnx simple.onnx.json --encoding sparse
"""
_STYLE: dict[str, Any] = {
    "formatter_class": argparse.RawDescriptionHelpFormatter,
    "allow_abbrev": False,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments after the program's name; None takes the arguments of the process.

    Returns:
        The exit code: 0 done, 1 the check said no, 2 bad input or usage.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may not fit the terminal
    try:
        with _warnings_as_lines():
            arguments = _parser().parse_args(argv)
            code: int = arguments.run(arguments)
            sys.stdout.flush()
            return code
    except NeatOnnxError as error:
        commands.complain(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:  # those of files are NeatOnnxErrors
        _discard_output()
        commands.complain(output_error(error))
    except MemoryError:
        commands.complain(NeatOnnxError("it is too large for the memory of this machine"))
    except Exception as error:
        if sys.flags.dev_mode:  # python -X dev -m neat_onnx shows where
            raise
        hint = "This is a mistake in neat_onnx: please report it, with the file if you can share it"
        commands.complain(NeatOnnxError(f"{type(error).__name__}: {error}", hint=hint))
    return commands.BAD_INPUT


def _discard_output() -> None:
    """Discard buffered output, whose flushing would fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        found = re.fullmatch(r"argument (\S+): (.*)", message, re.DOTALL)
        where, what = (found[1], found[2]) if found else (None, message)
        raise OptionError(what, where=where, hint=f"See {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="neat-onnx",
        description="Evolved neural networks to ONNX and back, proven equal.",
        epilog=_EPILOG,
        **_STYLE,
    )
    parser.add_argument("--version", action="version", version=f"neat-onnx {__version__}")
    commands_ = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_conversions(commands_)
    _add_questions(commands_)
    _add_helpers(commands_)
    return parser


def _add_conversions(to: Any) -> None:
    _add_export(to)
    _add_import(to)
    _add_network_conversions(to)
    _add_model_conversions(to)


def _add_export(to: Any) -> None:
    one = _command(to, "export", commands.export, "turn a network into ONNX", _EXPORT_EPILOG)
    flags = (
        "[-h] [--verify] [--certify] [--spelling NAME] [--json] [reading options] [export options]"
    )
    one.usage = f"{one.prog} {flags} IN OUT"
    one.add_argument("file", metavar="IN", help="a network")
    one.add_argument("out", metavar="OUT", help="what to write: .onnx or .json")
    _add_verify(one, "compare both on sampled inputs, and write OUT only if they are equal")
    text = "verify, and keep the certificate in OUT's metadata"
    one.add_argument("--certify", action="store_true", help=text)
    _add_spelling(one)
    _add_json(one)
    add_network_flags(one)
    add_option_flags(one)


def _add_import(to: Any) -> None:
    one = _command(to, "import", commands.import_, "turn ONNX into a network that can evolve on")
    one.add_argument("file", metavar="IN", help="a model: .onnx or JSON ONNX")
    one.add_argument("out", metavar="OUT", help="the network to write")
    add_library_flag(one)
    add_import_flags(one)
    _add_json(one)


def _add_network_conversions(to: Any) -> None:
    text = "turn a network of one library into a file of another"
    one = _command(to, "translate", commands.translate, text, _TRANSLATE_EPILOG)
    one.add_argument("file", metavar="IN", help="a network")
    one.add_argument("out", metavar="OUT", help="the network to write")
    add_library_flag(one)
    _add_json(one)
    add_network_flags(one)

    text = "print a network as C, JavaScript or Python that needs no runtime"
    one = _command(to, "code", commands.code, text, _CODE_EPILOG)
    one.add_argument("file", metavar="IN", help="a network")
    one.add_argument("out", metavar="OUT", help="what to write: .c, .js, .mjs or .py")
    one.add_argument(
        "--language", choices=get_args(CodeLanguage), help="instead of the one of OUT's ending"
    )
    one.add_argument(
        "--dtype", choices=("float64", "float32"), default="float64", help="float32: in C only"
    )
    one.add_argument("--name", default="network", help="what the names of C's functions begin with")
    _add_json(one)
    add_network_flags(one)


def _add_model_conversions(to: Any) -> None:
    text = "make a model valid ONNX, or write it in the other form"
    one = _command(to, "convert", commands.convert, text, _CONVERT_EPILOG)
    one.add_argument("file", metavar="IN", help="a model: .onnx or JSON ONNX, NeatapticTS's too")
    one.add_argument("out", metavar="OUT", help="what to write: .onnx or .json")
    text = "import the result, compare on sampled inputs, and write OUT only if they are equal"
    _add_verify(one, text)
    _add_encoding(one)
    _add_spelling(one)
    _add_json(one)

    text = "bring a model to one simple form, whatever its age and the tool that wrote it"
    one = _command(to, "canonicalize", commands.canonicalize, text, _CANONICALIZE_EPILOG)
    one.add_argument("file", metavar="IN", help="a model: .onnx or JSON ONNX")
    one.add_argument("out", metavar="OUT", help="what to write: .onnx or .json")
    _add_encoding(one)
    _add_spelling(one)
    _add_json(one)


def _add_encoding(parser: argparse.ArgumentParser) -> None:
    text = "how JSON holds tensors. Default: numbers."
    parser.add_argument("--encoding", choices=get_args(Encoding), help=text)


def _add_questions(to: Any) -> None:
    one = _command(to, "inspect", commands.inspect, "say what a file is: a network or a model")
    one.add_argument("file", metavar="FILE")
    _add_json(one)
    add_network_flags(one)

    one = _command(to, "validate", commands.validate, "say what is wrong with models")
    one.add_argument("files", metavar="FILE", nargs="+", help="models: .onnx or JSON ONNX")
    one.add_argument(
        "--profile",
        choices=get_args(Profile),
        help="the level to check: schema (it reads as a model), onnx (the official checker) or "
        "sonnx (how the graph hangs together); default: all three",
    )
    _add_json(one)

    one = _command(to, "verify", commands.verify, "compare a network with its model on samples")
    one.add_argument("network", metavar="NETWORK")
    one.add_argument("model", metavar="MODEL")
    _add_sampling(one)
    text = "what runs the model: a runtime, or code generated from it (c, javascript, python)"
    one.add_argument("--runtime", choices=RUNTIMES, default="reference", help=text)
    _add_json(one)
    add_network_flags(one)

    text = "compare a network with its model, and write that down so that others can repeat it"
    one = _command(to, "certify", commands.certify, text)
    one.add_argument("network", metavar="NETWORK")
    one.add_argument("model", metavar="MODEL")
    one.add_argument("out", metavar="OUT", help="the certificate to write: .json")
    _add_sampling(one)
    text = "a runtime that runs the model, once for each. Default: reference."
    one.add_argument("--runtime", choices=RUNTIMES, action="append", help=text)
    _add_json(one)
    add_network_flags(one)

    text = "repeat the comparison of a certificate, and say what is not as it says"
    one = _command(to, "replay", commands.replay, text)
    text = "a certificate, or a model that `export --certify` wrote"
    one.add_argument("certificate", metavar="CERTIFICATE", help=text)
    one.add_argument("network", metavar="NETWORK")
    one.add_argument("model", metavar="MODEL")
    _add_json(one)
    add_network_flags(one)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=256, metavar="N", help="default: 256")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")


def _add_helpers(to: Any) -> None:
    one = _command(to, "schema", commands.schema, "print one of the JSON Schemas")
    names = ("model", "network", "options", "certificate")
    one.add_argument("name", metavar="NAME", choices=names, help=", ".join(names))


def _command(to: Any, name: str, run: Any, text: str, epilog: str | None = None) -> _Parser:
    description = text[0].upper() + text[1:] + "."
    parser: _Parser = to.add_parser(
        name, help=text, description=description, epilog=epilog, **_STYLE
    )
    parser.set_defaults(run=run)
    return parser


def _add_verify(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--verify", action="store_true", help=text)


def _add_spelling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spelling",
        choices=get_args(Spelling),
        default="neat_onnx",
        help="the names in JSON: neat_onnx has those that NeatapticTS reads, protobuf is ONNX's "
        "own JSON, which onnx.load_model and Netron read. Default: neat_onnx.",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Each NeatOnnxWarning is a line on standard error, once; other warnings are not the user's."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        line = f"warning: {printable(str(message))}"
        if line not in told:
            told.add(line)
            print(line, file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", NeatOnnxWarning)
        warnings.showwarning = show  # catch_warnings puts the old one back
        yield
