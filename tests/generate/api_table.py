"""The tables of docs/python.md: the public names, their signatures and their first sentences."""

import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import neat_onnx
from neat_onnx.options.keywords import ExportKeywords

_OPTIONS = ExportKeywords.__annotations__
_PROPERTIES = (property, functools.cached_property)
_METHODS = (classmethod, staticmethod)


def functions() -> Iterator[list[str]]:
    """A row for each public function."""
    for name, value in _public():
        if inspect.isfunction(value):
            yield [_code(name + _parameters(value)), _first_sentence(value)]


def classes() -> Iterator[list[str]]:
    """A row for each public class that is no error or warning."""
    for name, value in _public():
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield [_code(name), _first_sentence(value)]


def errors() -> Iterator[list[str]]:
    """A row for each public error and warning, with the class that it is one of."""
    for name, value in _public():
        if inspect.isclass(value) and issubclass(value, Exception):
            yield [_code(name), _code(value.__base__.__name__), _first_sentence(value)]


def members(kind: type) -> Iterator[list[str]]:
    """A row for each public method and property that a class has from this package."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("neat_onnx.")]
    seen = set()
    for owner in ours:
        for name, member in vars(owner).items():
            if name.startswith(("_", "model_")) or name in seen or not _is_documented(member):
                continue
            seen.add(name)
            called = "" if isinstance(member, _PROPERTIES) else _parameters(getattr(kind, name))
            yield [_code(name + called), _first_sentence(member)]


def _public() -> Iterator[tuple[str, Any]]:
    for name in neat_onnx.__all__:
        if not name.startswith("__"):
            yield name, getattr(neat_onnx, name)


def _is_documented(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, _PROPERTIES + _METHODS)


def _parameters(function: Any) -> str:
    """The parameters with their defaults, without types; export options as `**keywords`."""
    signature = inspect.signature(function)
    given = [
        each.replace(annotation=each.empty)
        for name, each in signature.parameters.items()
        if name not in ("self", "cls") and not (function is neat_onnx.export and name in _OPTIONS)
    ]
    if function is neat_onnx.export:
        given.append(inspect.Parameter("keywords", inspect.Parameter.VAR_KEYWORD))
    return str(signature.replace(parameters=given, return_annotation=signature.empty))


def _first_sentence(value: Any) -> str:
    """The first sentence of a docstring, on one line."""
    text = inspect.getdoc(getattr(value, "__func__", value)) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", paragraph)
    return (sentence[0] if sentence else paragraph).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")
