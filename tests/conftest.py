"""Settings of all tests; its place puts this directory on the import path, for `support`."""

import gc
from collections.abc import Generator

import numpy as np
import pytest
from hypothesis import settings
from support.harness.sweep import count

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


@pytest.fixture(autouse=True)
def _numbers_of_its_own(request: pytest.FixtureRequest) -> None:
    """Begin the random numbers of a module anew for each test, whichever tests ran before it."""
    for each in vars(request.module).values():
        if isinstance(each, np.random.Generator):
            each.bit_generator.state = type(each.bit_generator)(0).state
