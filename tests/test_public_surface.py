"""The public surface as a person meets it: signatures, docstrings, representations, warnings."""

import inspect
import pydoc
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

import neat_onnx
from neat_onnx.options.keywords import ExportKeywords

FUNCTIONS = [
    pytest.param(value, id=name)
    for name, value in sorted(vars(neat_onnx).items())
    if name in neat_onnx.__all__ and inspect.isfunction(value)
]


@pytest.fixture
def net() -> neat_onnx.Network:
    return neat_onnx.Network.mlp([2, 3, 1], seed=0)


def test_every_export_option_is_a_typed_keyword():
    options = neat_onnx.ExportOptions.model_fields
    keywords = ExportKeywords.__annotations__
    assert list(keywords) == list(options)
    shown = inspect.signature(neat_onnx.export).parameters
    for name, field in options.items():
        assert shown[name].default == field.default
        assert f"    {name}: {field.description}" in neat_onnx.export.__doc__.splitlines()
        if not name.endswith("_mappings"):
            assert keywords[name] == field.annotation, name


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_args_returns_and_raises(function: types.FunctionType):
    text = inspect.getdoc(function) or ""
    takes = [name for name in inspect.signature(function).parameters if name not in _options()]
    if takes:
        assert "Args:" in text
        for name in takes:
            assert f"    {name}" in text, name
    if inspect.signature(function).return_annotation not in (None, "None"):
        assert "Returns:" in text
    assert "Raises:" in text


def _options() -> set[str]:
    return set(ExportKeywords.__annotations__)


@pytest.mark.parametrize("name", neat_onnx.__all__)
def test_every_public_method_is_documented(name: str):
    value = getattr(neat_onnx, name)
    if not inspect.isclass(value):
        return
    for each, member in vars(value).items():
        if not each.startswith(("_", "model_")) and _is_callable(member):
            assert inspect.getdoc(getattr(value, each)), f"{name}.{each}"


def _is_callable(member: Any) -> bool:
    return isinstance(member, types.FunctionType | classmethod | staticmethod | property)


def test_a_representation_is_one_line(net: neat_onnx.Network):
    for value in (net, neat_onnx.export(net)):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 120


def test_a_summary_prints_for_people(net: neat_onnx.Network):
    text = str(neat_onnx.summary(net))
    assert "2 inputs, 3 hidden neurons, 1 outputs" in text
    assert "9 connections" in text
    assert "tanh 4" in text


def test_a_warning_points_at_the_line_of_the_caller(net: neat_onnx.Network):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        neat_onnx.export(net, legacy_node_ordering=True)
    (warning,) = caught
    assert warning.filename == __file__


def test_the_package_is_typed():
    assert (Path(neat_onnx.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("kind", [neat_onnx.Model, neat_onnx.Report, neat_onnx.Certificate])
def test_help_tells_nothing_of_pydantic(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    lines = [
        line.strip(" |") for line in text.splitlines() if f" {kind.__name__}(*" not in line
    ]  # pydantic's own signature
    told = [line for line in lines if "pydantic" in line or line.startswith("model_")]
    assert all("BaseModel" in line for line in told), told
    for name in vars(kind):
        if inspect.isfunction(vars(kind)[name]) and not name.startswith("_"):
            assert f"{name}(" in text or name.startswith("model_")
