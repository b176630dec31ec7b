"""The tables of docs/python.md: the public names with their first sentences."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import neat_onnx


def functions() -> Iterator[list[str]]:
    """A row for each public function."""
    for name, value in _public():
        if inspect.isfunction(value):
            yield [f"`{name}`", _first_sentence(value)]


def classes() -> Iterator[list[str]]:
    """A row for each public class that is no error or warning."""
    for name, value in _public():
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield [f"`{name}`", _first_sentence(value)]


def errors() -> Iterator[list[str]]:
    """A row for each public error and warning, with the class that it is one of."""
    for name, value in _public():
        if inspect.isclass(value) and issubclass(value, Exception):
            yield [f"`{name}`", f"`{value.__base__.__name__}`", _first_sentence(value)]


def _public() -> Iterator[tuple[str, Any]]:
    for name in neat_onnx.__all__:
        if not name.startswith("__"):
            yield name, getattr(neat_onnx, name)


def _first_sentence(value: Any) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", paragraph)
    return (sentence[0] if sentence else paragraph).replace("|", "\\|")
