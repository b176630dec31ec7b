"""Generating code: the choice of a language."""

from importlib import import_module
from typing import Literal, get_args

from neat_onnx.codegen.language import identifier
from neat_onnx.errors import OptionError
from neat_onnx.network.network import Network
from neat_onnx.network.whole_numbers import beyond_float32

CodeLanguage = Literal["c", "header", "csharp", "gdscript", "javascript", "python"]
NAME = "network"
"""The beginning of the names of C's functions, where the caller chooses none."""
SUFFIXES: dict[str, CodeLanguage] = {
    ".c": "c",
    ".cpp": "c",
    ".ino": "c",
    ".h": "header",
    ".cs": "csharp",
    ".gd": "gdscript",
    ".js": "javascript",
    ".mjs": "javascript",
    ".py": "python",
}

_CLASSES = {
    "csharp": "CSharp",
    "gdscript": "GDScript",
    "javascript": "JavaScript",
    "python": "Python",
}
_MEMBERS = (
    *("BIAS", "RESPONSE", "START", "SOURCE", "WEIGHT", "GAIN", "ORIGIN", "INITIAL"),
    *("Activate", "Reset", "Step", "System", "Math", "Array", "ArgumentException"),
)
"""Names that no class of C# may have."""


def generate(net: Network, language: str, dtype: str, name: str) -> str:
    """Print a network as source code. See `neat_onnx.generate_code`."""
    if language not in get_args(CodeLanguage):
        known = ", ".join(get_args(CodeLanguage))
        raise OptionError(f"no language '{language}'", where="language", hint=f"Known: {known}")
    is_c = language in ("c", "header")
    if dtype == "float32" and not is_c:
        raise OptionError(
            f"numbers of {language} are float64", where="dtype", hint="Generate C for float32"
        )
    if dtype == "float32" and (found := beyond_float32(net, ~net.is_input)):
        raise OptionError(found, where="dtype", hint="Generate float64")
    if name != NAME and not is_c and language != "csharp":
        hint = f"Leave it out: in {language} a file is a module, with a name of its own"
        raise OptionError(f"name is for C and C#; this is {language}", where="name", hint=hint)
    # one language at a time is imported, and the command line needs the names alone
    from neat_onnx.codegen.plan import plan_of  # noqa: PLC0415
    from neat_onnx.codegen.source import Program  # noqa: PLC0415

    module = import_module(f"neat_onnx.codegen.{'c' if is_c else language}")
    if is_c:
        spelling, called = module.C(dtype == "float32", language == "header"), name
    else:
        spelling, called = getattr(module, _CLASSES[language])(), name[:1].upper() + name[1:]
    called = identifier(called, {*(() if is_c else _MEMBERS)})
    return Program(plan_of(net), spelling, called).file()
