"""Plugins: Python modules and files of the user, which register functions, operators and libraries.

    neat-onnx --plugin my_activations.py export winner.json winner.onnx

They are imported before anything is read, so that their activations, aggregations, operators and
libraries are known to every command.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from neat_onnx.errors import NeatOnnxError, OptionError, printable

FLAG = "--plugin"


def load_plugins(names: Iterable[str]) -> None:
    """Import plugins; those that were imported before are left as they are.

    Args:
        names: of each a file that ends in .py, or the name of a module that Python finds.

    Raises:
        OptionError: one is missing, or raises an error.
    """
    for name in names:
        _load(name)


def _load(name: str) -> None:
    try:
        if name.endswith(".py"):
            _import_file(Path(name))
        else:
            import_module(name)
    except (Exception, SystemExit) as error:  # each plugin has exceptions of its own
        text, hint = " ".join(str(error).split()), None
        what = f"importing it raises {type(error).__name__}: {printable(text)}"
        if isinstance(error, FileNotFoundError) and not Path(name).exists():
            what = "there is no such file"
        elif isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]:
            what = "there is no such module"
            hint = f"Name its file, as in {FLAG} {printable(name)}.py, or install it"
        elif isinstance(error, NeatOnnxError):
            what, hint = error.message, error.hint
        raise OptionError(what, where=f"{FLAG} {printable(name)}", hint=hint) from error


def _import_file(path: Path) -> None:
    """Import a file under a name that no other module has.

    Raises:
        Exception: there is no such file, or any that its code raises.
    """
    known = f"plugin {path.resolve()}"
    spec = spec_from_file_location(known, path)
    if known in sys.modules or spec is None or spec.loader is None:
        return
    module = sys.modules[known] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[known]
        raise
