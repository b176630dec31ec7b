"""Settings of all tests; its place puts this directory on the import path, for `cases`."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings
from sweep import count

settings.register_profile("neat_onnx", max_examples=count(30, 100), deadline=None, derandomize=True)
settings.load_profile("neat_onnx")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and keep it from all that collecting has made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()
